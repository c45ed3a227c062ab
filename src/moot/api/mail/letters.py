"""Sending: who is meant by a name, where a long text goes, which thread a message belongs to.

What may be sent is decided by the mail machine; here is what it cannot know. Receivers who have
gone are named at once, for nobody may ever answer.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from moot.api.mail.messages import require_thread_of
from moot.core.clock import SECOND, Millis
from moot.core.errors import Refused
from moot.core.findings import Finding
from moot.core.machine import KeyClass, Recorded, make_remark
from moot.core.names import SYSTEM
from moot.core.record import ArtifactRef
from moot.core.sha256 import sha256
from moot.engine.job import Job, JobOutcome
from moot.protocols.mail import events as did
from moot.protocols.mail.body_writer import Ack, read_ack
from moot.protocols.mail.case import encode_text, fits_in_event
from moot.protocols.mail.commands import Send
from moot.protocols.mail.message import parse_subject
from moot.protocols.mail.model import Party, require_thread_id, stream_of
from moot.protocols.mail.types import MessageType
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


class PostedLetter(msgspec.Struct, frozen=True):
    """A message that stands in the record now, or stood there before (`replayed`).

    `moved` are the scopes that its sender holds from now on: it accepts a HANDOFF.
    """

    message: Recorded[did.MessageKept]
    findings: tuple[Finding, ...]
    replayed: bool
    moved: tuple[str, ...] = ()


def send_letter(workspace: Workspace, sender: str, letter: Letter) -> PostedLetter:
    """Send; what is wrong with the text or the receivers is refused, and nothing is sent."""
    outcome = run_job(workspace, make_job(workspace, sender, letter))
    return describe_posted(workspace, letter, outcome)


def run_job(workspace: Workspace, job: Job) -> JobOutcome:
    return workspace.engine.execute(
        job.stream, job.command, job.actor, key=job.key, cause=job.cause, corr=job.corr
    )


def describe_posted(workspace: Workspace, letter: Letter, outcome: JobOutcome) -> PostedLetter:
    """The message that was sent, with remarks also on receivers who will not read it soon."""
    findings = (*outcome.findings, *remark_absent_receivers(workspace, (*letter.to, *letter.cc)))
    return PostedLetter(outcome.newest(did.MessageKept), findings, outcome.replayed)


def make_job(workspace: Workspace, sender: str, letter: Letter) -> Job:
    """The job that sends `letter`; a long body is stored already."""
    command = Send(
        subject=_mark_subject(workspace, sender, letter.subject),
        body=letter.body,
        to=require_receivers(workspace, letter.to),
        cc=require_receivers(workspace, letter.cc),
        ack_required=letter.ack_required,
        importance=letter.importance,
        ack_minutes=letter.ack_minutes,
        re=letter.re,
        artifact=store_long_body(workspace, letter.body),
    )
    stream = stream_of(choose_thread(workspace, sender, letter))
    return Job(stream, command, sender, letter.key, cause=letter.cause, corr=letter.corr)


def _mark_subject(workspace: Workspace, sender: str, subject: str) -> str:
    """A letter from the ledger says on which machine it was written, if that does not keep it."""
    if sender != SYSTEM or workspace.joined is None:
        return subject
    from moot.hosts.members import mark_of_machine

    return subject + mark_of_machine(workspace.joined.machine)


def store_long_body(workspace: Workspace, body: str) -> ArtifactRef | None:
    """A text that an event cannot hold is durable before the event cites it."""
    data = encode_text(body)
    return None if fits_in_event(body, data) else workspace.artifacts.put(data, MEDIA_TYPE)


def require_receivers(workspace: Workspace, names: Iterable[str]) -> tuple[Party, ...]:
    """The present holder of each name; Refused if it has ended, for it will never read anything."""
    registry = workspace.engine.registry()
    receivers = []
    for name in dict.fromkeys(names):
        agent = registry.agents.get(name)
        ending = registry.keys[agent.kid].ending if agent is not None else None
        if ending is not None:
            raise Refused(
                "agent_retired",
                f"{name} has ended ({ending}): nobody would read this",
                hint="`moot status` shows who is here",
            )
        receivers.append(Party(name, 0 if agent is None else agent.epoch))
    return tuple(receivers)


def remark_absent_receivers(workspace: Workspace, names: Iterable[str]) -> Iterator[Finding]:
    """A remark for each receiver who has left or was not seen for long."""
    from moot.protocols.presence import STREAM, model, views
    from moot.protocols.presence.machine import MACHINE as PRESENCE
    from moot.protocols.presence.model import Liveness

    agents = workspace.engine.registry().agents
    known = [n for n in dict.fromkeys(names) if n in agents and agents[n].kind is KeyClass.AGENT]
    state = workspace.engine.state(PRESENCE, STREAM)
    since = {name: agents[name].since for name in known}
    signs = workspace.engine.signs(known)
    moment = views.Observation(workspace.engine.clock(), signs, registered=since)
    for name in known:
        member = model.find_member(state, name)
        verdict = views.observe_liveness(state, name, moment)
        if member is not None and member.left:
            yield _remark_absence(name, f"{name} has left; it may come back")
        elif verdict.liveness is Liveness.EVICTED:
            yield _remark_absence(name, f"{name} seems gone: {verdict.because}")


def _remark_absence(name: str, sentence: str) -> Finding:
    return make_remark(
        "MBX-224", "receiver_gone", sentence, f"`moot agent show {name}`; or write to another"
    )


def choose_thread(workspace: Workspace, sender: str, letter: Letter) -> str:
    """As named; else that of the message it answers; else a new one, the same for the same key."""
    if letter.thread is not None:
        return require_thread_id(letter.thread)
    ack = read_ack_in(letter)
    answered = letter.re or (ack.message_id if ack is not None else None)
    if answered:
        return require_thread_of(workspace, answered)
    if letter.key is not None:
        return f"m-{sha256(f'{sender}/{letter.key}'.encode()).hexdigest()[:10]}"
    return f"m-{secrets.token_hex(5)}"


def read_ack_in(letter: Letter) -> Ack | None:
    """What an ACK says that was written by hand."""
    subject = parse_subject(letter.subject)
    if subject is None or subject.type is not MessageType.ACK:
        return None
    return read_ack(letter.body)


# A model in a loop must not fill everybody's inbox. The times of an agent's last messages are in a
# small file of the workspace: a brake, not a proof: an agent that can write there can remove it.

MINUTE: Final[Millis] = 60 * SECOND
FOLDER: Final = "pace"
MARKS_KEPT: Final = 50  # of messages with a key, however long ago


class CountedMessage(msgspec.Struct, frozen=True, array_like=True):
    """When a message was counted; `mark` is the same for each repeat, and empty without a key."""

    at: Millis
    mark: str = ""


def require_pace(
    workspace: Workspace, name: str, most: int, key: str | None, words: tuple[object, ...]
) -> None:
    """Refused (too_many) if `name` has sent `most` messages in the last minute; else one more.

    A message with the same key and the same words is a repeat, and neither counted nor refused.
    """
    now, file = workspace.engine.clock(), workspace.path / FOLDER / f"{name}.json"
    counted = _read_counted(file)
    mark = "" if key is None else sha256(repr((key, words)).encode()).hexdigest()[:16]
    if mark and any(message.mark == mark for message in counted):
        return
    recent = [message for message in counted if now - MINUTE < message.at <= now]
    if len(recent) >= most:
        seconds = (recent[-most].at + MINUTE - now) // SECOND + 1
        raise Refused(
            "too_many",
            f"{name} has sent {most} messages and questions in the last minute",
            hint=f"wait {seconds} seconds, and say more in one message",
        )
    marked = [message for message in counted if message.mark and message not in recent]
    _write_counted(file, [*marked[-MARKS_KEPT:], *recent, CountedMessage(now, mark)])


def _read_counted(file: Path) -> list[CountedMessage]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[CountedMessage])
    except (OSError, msgspec.DecodeError):
        return []


def _write_counted(file: Path, messages: list[CountedMessage]) -> None:
    """Where it cannot be written nothing is held back: the record is what counts."""
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, exist_ok=True)
        fresh = file.with_name(f"{file.name}.{os.getpid()}")
        fresh.write_bytes(msgspec.json.encode(messages))
        os.replace(fresh, file)
