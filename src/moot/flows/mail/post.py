"""The post: who is meant by a name, where a long text goes, which thread a message belongs to.

Sending itself is decided by the mail machine; here is what it cannot know. Whoever has gone is
named at once, for nobody may ever answer.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.core.clock import to_text
from moot.core.errors import Malformed, NotFound, Refused
from moot.core.findings import Finding
from moot.core.ledger import View
from moot.core.machine import KeyClass, Recorded, remark
from moot.core.record import ArtifactRef
from moot.engine.job import Job, Outcome
from moot.engine.replay import read_record
from moot.protocols.mail import events as did
from moot.protocols.mail.body_writer import Ack, read_ack, write_question_body
from moot.protocols.mail.body_writer import write_body as body_of_type
from moot.protocols.mail.case import encode_text, fits_in_event
from moot.protocols.mail.commands import Send
from moot.protocols.mail.keys import ANSWERS, MESSAGES, WORK_ITEMS
from moot.protocols.mail.machine import MACHINE
from moot.protocols.mail.model import Party, State, stream_of, thread_of_id
from moot.protocols.mail.subject import parse_subject
from moot.protocols.mail.threads import normalize_id, require_thread_id
from moot.protocols.mail.types import MessageType

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

MEDIA_TYPE: Final = "text/markdown"


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """What a sender says; everything left away has a default."""

    to: tuple[str, ...]
    subject: str
    body: str
    cc: tuple[str, ...] = ()
    thread: str | None = None
    ack_required: bool | None = None
    importance: str = "normal"
    ack_minutes: int | None = None
    re: str | None = None
    key: str | None = None
    cause: str | None = None
    corr: str | None = None


class Posted(msgspec.Struct, frozen=True):
    """A message that stands in the record now, or stood there before (`replayed`).

    `moved` are the scopes that its sender holds from now on: it accepts a HANDOFF.
    """

    message: Recorded[Any]
    findings: tuple[Finding, ...]
    replayed: bool
    moved: tuple[str, ...] = ()


def post(space: Workspace, sender: str, letter: Letter) -> Posted:
    """Send; what is wrong with the text or the receivers is refused, and nothing is sent."""
    return posted(space, letter, run(space, job_of(space, sender, letter)))


def run(space: Workspace, job: Job) -> Outcome:
    return space.engine.execute(
        job.stream, job.command, job.actor, key=job.key, cause=job.cause, corr=job.corr
    )


def posted(space: Workspace, letter: Letter, outcome: Outcome) -> Posted:
    found = (*outcome.findings, *gone(space, (*letter.to, *letter.cc)))
    return Posted(first_message(outcome), found, outcome.replayed)


def job_of(space: Workspace, sender: str, letter: Letter) -> Job:
    """The job that sends `letter`; a long body is stored already."""
    command = Send(
        subject=letter.subject,
        body=letter.body,
        to=parties(space, letter.to),
        cc=parties(space, letter.cc),
        ack_required=letter.ack_required,
        importance=letter.importance,
        ack_minutes=letter.ack_minutes,
        re=letter.re,
        artifact=stored(space, letter.body),
    )
    thread = thread_for(space, sender, letter)
    stream = stream_of(thread)
    return Job(stream, command, sender, letter.key, cause=letter.cause, corr=letter.corr)


def first_message(outcome: Outcome) -> Recorded[Any]:
    return next(one for one in outcome.recorded if isinstance(one.event, did.MessageKept))


def stored(space: Workspace, body: str) -> ArtifactRef | None:
    """A text that an event cannot hold is durable before the event cites it."""
    data = encode_text(body)
    return None if fits_in_event(body, data) else space.artifacts.put(data, MEDIA_TYPE)


def parties(space: Workspace, names: Iterable[str]) -> tuple[Party, ...]:
    """The present holder of each name; Refused if it has ended, for it will never read anything."""
    registry = space.engine.registry()
    found = []
    for name in dict.fromkeys(names):
        agent = registry.agents.get(name)
        ending = registry.keys[agent.kid].ending if agent is not None else None
        if ending is not None:
            raise Refused(
                "agent_retired",
                f"{name} has ended ({ending}): nobody would read this",
                hint="`moot status` shows who is here",
            )
        found.append(Party(name, 0 if agent is None else agent.epoch))
    return tuple(found)


def gone(space: Workspace, names: Iterable[str]) -> Iterator[Finding]:
    """A remark for each receiver who has left or was not seen for long."""
    from moot.protocols.presence import STREAM, sorted_index, views
    from moot.protocols.presence.model import Liveness
    from moot.protocols.presence.model import State as Presence

    agents = space.engine.registry().agents
    known = [n for n in dict.fromkeys(names) if n in agents and agents[n].kind is KeyClass.AGENT]
    state: Presence = space.engine.state(STREAM)
    since = {name: agents[name].since for name in known}
    signs = space.engine.signs(known)
    moment = views.Observation(space.engine.clock(), signs, registered=since)
    for name in known:
        member, verdict = (
            sorted_index.find_member(state, name),
            views.observe_liveness(state, name, moment),
        )
        if member is not None and member.left:
            yield _gone(name, f"{name} has left; it may come back")
        elif verdict.liveness is Liveness.EVICTED:
            yield _gone(name, f"{name} seems gone: {verdict.because}")


def _gone(name: str, said: str) -> Finding:
    return remark(
        "MBX-224", "receiver_gone", said, f"`moot agent show {name}`; or write to another"
    )


def thread_for(space: Workspace, sender: str, letter: Letter) -> str:
    """As named; else that of the message it answers; else a new one, the same for the same key."""
    if letter.thread is not None:
        return require_thread_id(letter.thread)
    said = ack_in(letter)
    answered = letter.re or (said.message_id if said is not None else None)
    if answered:
        return thread_of(space, answered)
    if letter.key is not None:
        return f"m-{hashlib.sha256(f'{sender}/{letter.key}'.encode()).hexdigest()[:10]}"
    return f"m-{secrets.token_hex(5)}"


def ack_in(letter: Letter) -> Ack | None:
    """What an ACK says that was written by hand."""
    subject = parse_subject(letter.subject)
    if subject is None or subject.type is not MessageType.ACK:
        return None
    return read_ack(letter.body)


def thread_of(space: Workspace, id: str) -> str:  # noqa: A002 - the word of every message
    """The thread of a message that exists."""
    with space.store.read() as view:
        if view.row(MESSAGES, id) is None:
            raise not_found(id)
    return thread_of_id(id)


def known_id(space: Workspace, id: str) -> str:  # noqa: A002
    """A message's id as it is on record, however its letters were typed; else as given."""
    with space.store.read() as view:
        known = (one for one in (id, normalize_id(id)) if view.row(MESSAGES, one) is not None)
        return next(known, id)


def not_found(id: str) -> NotFound:  # noqa: A002
    return NotFound(
        "message_not_found",
        f"there is no message {id[:80]!r}",
        hint="`moot inbox --all` shows what was sent to you, `moot mail search WORDS` the rest",
    )


def message_at(view: View, id: str) -> Recorded[Any]:  # noqa: A002
    """One message, from its record."""
    row = view.row(MESSAGES, id)
    record = next(view.records(row.stream, after=row.seq - 1), None) if row is not None else None
    if record is None:
        raise not_found(id)
    return read_record(MACHINE, record)


def answers_to(view: View, id: str) -> list[dict[str, Any]]:  # noqa: A002
    """The latest answer of each who gave one, with what it says."""
    found = []
    for row in view.rows(ANSWERS, f"{id}/"):
        said = msgspec.json.decode(row.value)
        answer = {"agent": row.key.split("/")[-2], "status": said["status"], "by": said["by"]}
        found.append({**answer, "at": to_text(said["at"]), "notes": _notes(view, said["by"])})
    return found


def _notes(view: View, id: str) -> str:  # noqa: A002
    """What an ACK adds; of an answer that is no ACK, its subject."""
    event: did.MessageKept = message_at(view, id).event
    if event.type is MessageType.ACK:
        said = read_ack(event.body)
        return said.notes if said is not None else ""
    subject = parse_subject(event.subject)
    return subject.description if subject is not None else event.subject


def owner_of(view: View, item: str) -> str | None:
    """Who has claimed this work, or taken it over."""
    row = view.row(WORK_ITEMS, item) if item else None
    return None if row is None else str(msgspec.json.decode(row.value)["owner"])


def body_of(space: Workspace, recorded: Recorded[Any]) -> str:
    """The whole text, from the event or from where it is stored."""
    event: did.MessageKept = recorded.event
    if event.sha256 is None:
        return event.body
    return b"".join(space.artifacts.chunks(event.sha256)).decode()


def text_of(space: Workspace, recorded: Recorded[Any]) -> str | None:
    """The whole text; None if it was erased from where it was stored."""
    try:
        return body_of(space, recorded)
    except NotFound:
        return None


def messages_of(space: Workspace, thread: str) -> list[Recorded[Any]]:
    """Every message of a thread, in order; NotFound if there is none."""
    stream = stream_of(require_thread_id(thread))
    with space.store.read() as view:
        found = [read_record(MACHINE, record) for record in view.records(stream)]
    if not found:
        raise NotFound(
            "thread_not_found", f"there is no thread {thread}", hint="`moot mail search`"
        )
    return [one for one in found if isinstance(one.event, did.MessageKept)]


def open_threads(space: Workspace) -> Iterator[tuple[str, State]]:
    """Threads in which somebody waits for an answer."""
    for stream in space.engine.open_streams():
        if stream.startswith(stream_of("")):
            yield stream, space.engine.state(stream)


def short_body(subject: str, sender: str, text: str) -> str:
    """A body for what one line can say: QUESTION, INFO, CLAIM; else the text as it is."""
    found = parse_subject(subject)
    said = text.strip() or (found.description.strip() if found is not None else "")
    write = _SHORT.get(found.type) if found is not None and said else None
    return write(said, sender) if write is not None else text


_SHORT: Final[dict[MessageType, Callable[[str, str], str]]] = {
    MessageType.QUESTION: lambda said, _: write_question_body(question=said, urgency="Soon"),
    MessageType.INFO: lambda said, _: f"# Information\n\n{said}\n",
    MessageType.CLAIM: lambda said, sender: body_of_type(
        MessageType.CLAIM, {"Item": said, "Agent": sender}
    ),
}


def minutes_for(setting: str, subject: str) -> int | None:
    """`MOOT_ACK_MINUTES`: `30`, or by type `QUESTION=10,BLOCKED=5,60`; None if nothing is said."""
    found = parse_subject(subject)
    chosen: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in setting.split(","))):
        kind, _, digits = part.rpartition("=")
        number = re.fullmatch(r"\s*([0-9]{1,9})\s*", digits)
        if number is None or (kind and kind.strip() not in set(MessageType)):
            raise Malformed(
                f"MOOT_ACK_MINUTES: {part[:40]!r} is no number of minutes",
                code="bad_setting",
                hint="such as 30, or QUESTION=10,BLOCKED=5,60",
            )
        chosen[kind.strip()] = int(number[1])
    return chosen.get(str(found.type), chosen.get("")) if found is not None else None
