"""A message to send: its receivers, its thread, where a long text is stored, and the rate limit.

The mail machine decides what may be sent; this module adds what needs IO. It warns at once about
receivers who have left or were evicted: they may never answer.
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
from moot.protocols.mail.body_writer import Ack, read_ack
from moot.protocols.mail.case import encode_text, fits_in_event
from moot.protocols.mail.commands import Send
from moot.protocols.mail.events import MessageKept
from moot.protocols.mail.message import parse_subject
from moot.protocols.mail.model import Party, require_thread_id, stream_of
from moot.protocols.mail.types import MessageType
from moot.workspace.workspace import Workspace

MEDIA_TYPE: Final = "text/markdown"


class OutgoingMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message as its sender gives it."""

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


class PostedMessage(msgspec.Struct, frozen=True):
    """A message that was recorded, now or earlier under the same key (`replayed`).

    `moved` are the scopes that its sender holds now, because it accepts a HANDOFF.
    """

    message: Recorded[MessageKept]
    findings: tuple[Finding, ...]
    replayed: bool
    moved: tuple[str, ...] = ()


def post_message(workspace: Workspace, sender: str, outgoing: OutgoingMessage) -> PostedMessage:
    """Send a message; Refused if its text or receivers break a rule, and then nothing is sent."""
    outcome = run_job(workspace, make_send_job(workspace, sender, outgoing))
    return describe_posted(workspace, outgoing, outcome)


def run_job(workspace: Workspace, job: Job) -> JobOutcome:
    return workspace.engine.execute(
        job.stream, job.command, job.actor, key=job.key, cause=job.cause, corr=job.corr
    )


def describe_posted(
    workspace: Workspace, outgoing: OutgoingMessage, outcome: JobOutcome
) -> PostedMessage:
    """Return the message that was sent, with a warning for each receiver who is absent."""
    findings = (
        *outcome.findings,
        *remark_absent_receivers(workspace, (*outgoing.to, *outgoing.cc)),
    )
    return PostedMessage(outcome.newest(MessageKept), findings, outcome.replayed)


def make_send_job(workspace: Workspace, sender: str, outgoing: OutgoingMessage) -> Job:
    """Return the job that sends `outgoing`; a long body is stored before."""
    command = Send(
        subject=_mark_subject(workspace, sender, outgoing.subject),
        body=outgoing.body,
        to=require_receivers(workspace, outgoing.to),
        cc=require_receivers(workspace, outgoing.cc),
        ack_required=outgoing.ack_required,
        importance=outgoing.importance,
        ack_minutes=outgoing.ack_minutes,
        re=outgoing.re,
        artifact=store_long_body(workspace, outgoing.body),
    )
    stream = stream_of(choose_thread(workspace, sender, outgoing))
    return Job(stream, command, sender, outgoing.key, cause=outgoing.cause, corr=outgoing.corr)


def _mark_subject(workspace: Workspace, sender: str, subject: str) -> str:
    """Add the machine's name to what the ledger itself sends from a joined machine."""
    if sender != SYSTEM or workspace.joined is None:
        return subject
    from moot.hosts.members import machine_suffix

    return subject + machine_suffix(workspace.joined.machine)


def store_long_body(workspace: Workspace, body: str) -> ArtifactRef | None:
    """Store a text that is too long for an event, so that it is durable before the event."""
    data = encode_text(body)
    return None if fits_in_event(body, data) else workspace.artifacts.put(data, MEDIA_TYPE)


def require_receivers(workspace: Workspace, names: Iterable[str]) -> tuple[Party, ...]:
    """Return the present holder of each name; Refused if one has ended: it would never read it."""
    registry = workspace.engine.registry()
    receivers = []
    for name in dict.fromkeys(names):
        agent = registry.agents.get(name)
        ending = registry.keys[agent.kid].ending if agent is not None else None
        if ending is not None:
            raise Refused(
                "agent_retired",
                f"{name} has ended ({ending}) and would not read this",
                hint="`moot status` shows who is here",
            )
        receivers.append(Party(name, 0 if agent is None else agent.epoch))
    return tuple(receivers)


def remark_absent_receivers(workspace: Workspace, names: Iterable[str]) -> Iterator[Finding]:
    """Yield a remark for each receiver who has left or was evicted."""
    from moot.api.presence.observation import observe
    from moot.protocols.presence import STREAM, model, views
    from moot.protocols.presence.machine import MACHINE as PRESENCE
    from moot.protocols.presence.model import Liveness

    agents = workspace.engine.registry().agents
    known = [n for n in dict.fromkeys(names) if n in agents and agents[n].kind is KeyClass.AGENT]
    state = workspace.engine.state(PRESENCE, STREAM)
    observation = observe(workspace, known)
    for name in known:
        member = model.find_member(state, name)
        verdict = views.observe_liveness(state, name, observation)
        if member is not None and member.left:
            yield _remark_absence(name, f"{name} has left; it may come back")
        elif verdict.liveness is Liveness.EVICTED:
            yield _remark_absence(name, f"{name} was not seen for long: {verdict.because}")


def _remark_absence(name: str, sentence: str) -> Finding:
    return make_remark(
        "MBX-224", "receiver_gone", sentence, f"`moot agent show {name}`; or write to another agent"
    )


def choose_thread(workspace: Workspace, sender: str, outgoing: OutgoingMessage) -> str:
    """Return the named thread; else that of the message it answers; else a new one for its key."""
    if outgoing.thread is not None:
        return require_thread_id(outgoing.thread)
    ack = read_handwritten_ack(outgoing)
    answered = outgoing.re or (ack.message_id if ack is not None else None)
    if answered:
        return require_thread_of(workspace, answered)
    if outgoing.key is not None:
        return f"m-{sha256(f'{sender}/{outgoing.key}'.encode()).hexdigest()[:10]}"
    return f"m-{secrets.token_hex(5)}"


def read_handwritten_ack(outgoing: OutgoingMessage) -> Ack | None:
    """Return what the message acknowledges, if it is an ACK written by hand."""
    subject = parse_subject(outgoing.subject)
    if subject is None or subject.type is not MessageType.ACK:
        return None
    return read_ack(outgoing.body)


# The rate limit: a model in a loop must not fill every inbox. A small file of the workspace has the
# times of an agent's last messages. It is no security boundary: the agent can remove the file.

MINUTE: Final[Millis] = 60 * SECOND
FOLDER: Final = "pace"
MARKS_KEPT: Final = 50  # of messages with a key, however long ago


class CountedMessage(msgspec.Struct, frozen=True, array_like=True):
    """When a message was counted; `mark` is equal for each repeat, and empty without a key."""

    at: Millis
    mark: str = ""


def require_pace(
    workspace: Workspace, name: str, most: int, key: str | None, words: tuple[object, ...]
) -> None:
    """Count one more message of `name`; Refused (too_many) after `most` in the last minute.

    A message with the same key and the same words is a repeat: it is neither counted nor refused.
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
            hint=f"wait {seconds} seconds, and put more into one message",
        )
    marked = [message for message in counted if message.mark and message not in recent]
    _write_counted(file, [*marked[-MARKS_KEPT:], *recent, CountedMessage(now, mark)])


def _read_counted(file: Path) -> list[CountedMessage]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[CountedMessage])
    except (OSError, msgspec.DecodeError):
        return []


def _write_counted(file: Path, messages: list[CountedMessage]) -> None:
    """Write the file; if that fails, there is no rate limit, and no message is lost."""
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, exist_ok=True)
        fresh = file.with_name(f"{file.name}.{os.getpid()}")
        fresh.write_bytes(msgspec.json.encode(messages))
        os.replace(fresh, file)
