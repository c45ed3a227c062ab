"""Find the record that an id of any protocol, a file or a folder refers to."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from moot.api.bridges.damage import report_first_damage
from moot.api.bridges.steps import state_of
from moot.api.debates import session
from moot.api.debates.record import find_session_at, path_in_record
from moot.api.debates.record import stream_of as debate_stream
from moot.api.mail.messages import read_message
from moot.api.parliaments.session import ParliamentSession
from moot.api.traces import tracing
from moot.core.errors import NotFound, Refused
from moot.core.machine import Event, Recorded, is_kind
from moot.core.names import SYSTEM
from moot.engine.replay import read_record
from moot.protocols.debate.machine import MACHINE as DEBATE
from moot.protocols.mail.events import MessageKept
from moot.protocols.mail.index_keys import MESSAGES
from moot.protocols.mail.index_keys import MESSAGES_OF_EVENTS as MAIL_OF_EVENT
from moot.protocols.mail.message import parse_subject
from moot.protocols.mail.types import MessageType
from moot.protocols.parliament.messages.contents import PARLIAMENT_ID
from moot.protocols.path.machine import ITEMS
from moot.protocols.path.model import SourceRecord
from moot.protocols.presence import STREAM
from moot.protocols.presence import events as did
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.workspace.workspace import Workspace

E = TypeVar("E", bound=Event)
_EVENTS = "presence.events"
MAX_ID_LENGTH = 300


class FlowSource(NamedTuple):
    """The record that a flow starts from, its title, whose need it is, and its file if any."""

    source: SourceRecord
    title: str
    origin: str
    corr: str | None = None
    file: str = ""


class MessageSource(msgspec.Struct, frozen=True):
    """A message as a source: its place, the recorded event, and its type."""

    flow_source: FlowSource
    recorded: Recorded[MessageKept]
    type: MessageType | None


def _require_printable_id(reference: str) -> None:
    """Refuse a name that cannot be an id, before an index is searched for it."""
    if not reference.isprintable() or len(reference) > MAX_ID_LENGTH:
        raise NotFound("source_not_found", "this is not an id", hint="`moot inbox --all` shows ids")


def make_source(recorded: Recorded[E], native_id: str, title: str, file: str = "") -> FlowSource:
    """Return a recorded event as the source of a flow; its need is that of the event's signer."""
    record = SourceRecord(recorded.stream, recorded.seq, recorded.hash.hex(), native_id)
    return FlowSource(record, title, recorded.actor.id, recorded.corr, file)


@report_first_damage
def find_message(workspace: Workspace, reference: str, *kinds: MessageType) -> MessageSource:
    """Find a message by its id, or by the id of the presence event that it reports."""
    _require_printable_id(reference)
    with workspace.store.read() as view:
        pair = view.row(MAIL_OF_EVENT, reference)
        message_id = reference if pair is None else str(msgspec.json.decode(pair.value)["id"])
        if view.row(MESSAGES, message_id) is None:
            raise NotFound(
                "source_not_found",
                f"there is no message {reference[:80]!r}",
                hint="`moot inbox --all` and `moot event list` show ids",
            )
        recorded = read_message(view, message_id)
    event = recorded.event
    if kinds and event.type not in kinds:
        wanted = " or ".join(kind.value for kind in kinds)
        raise Refused(
            "wrong_source",
            f"{message_id} is {event.type or 'no typed message'}, not {wanted}",
            hint="`moot flow list` says what leads where",
        )
    origin = getattr(event, "sender", None) or _find_origin(workspace, recorded)
    subject = parse_subject(event.subject)
    title = subject.description if subject is not None else event.subject
    flow_source = make_source(recorded, event.id, title)._replace(origin=origin)
    return MessageSource(flow_source, recorded, event.type)


def _find_origin(workspace: Workspace, recorded: Recorded[MessageKept]) -> str:
    """Return the message's author; for one that Moot sent in a step, the author of its source."""
    if recorded.actor.id != SYSTEM or recorded.corr is None:
        return recorded.actor.id
    place = (recorded.stream, recorded.seq)
    for step in state_of(workspace, recorded.corr).steps_in_order():
        if place in [(made.stream, made.seq) for made in step.made]:
            with workspace.store.read() as view:
                record = next(view.records(step.source.stream, after=step.source.seq - 1))
            return record.body.actor.id
    return SYSTEM


@report_first_damage
def find_presence_event(workspace: Workspace, reference: str, *kinds: type[E]) -> Recorded[E]:
    """Find an event of presence by its id."""
    _require_printable_id(reference)
    with workspace.store.read() as view:
        row = view.row(_EVENTS, reference)
        record = next(view.records(STREAM, after=row.seq - 1), None) if row is not None else None
    if record is None:
        raise NotFound(
            "source_not_found",
            f"there is no event {reference[:80]!r}",
            hint="`moot event list` shows ids",
        )
    recorded = read_record(PRESENCE, record)
    if not is_kind(recorded, *kinds):
        raise Refused(
            "wrong_source",
            f"event {reference} is of another kind",
            hint="`moot flow list` says what leads where",
        )
    return recorded


INCURSION, RESUMED = did.IncursionNoted, did.AgentResumed


@report_first_damage
def find_debate(
    workspace: Workspace, reference: str, *kinds: type[Event]
) -> tuple[FlowSource, Path]:
    """Find a debate by its file or its id; the source is its latest event of these kinds."""
    _require_printable_id(reference)
    file, stream = _find_debate_file(workspace, reference)
    recorded = find_latest(workspace, stream, kinds)
    state = workspace.engine.state(DEBATE, stream)
    place = path_in_record(workspace.root, file)
    return make_source(recorded, state.session_id, state.title, place), file


def _find_debate_file(workspace: Workspace, reference: str) -> tuple[Path, str]:
    stream = debate_stream(reference) if "/" not in reference else ""
    with workspace.store.read() as view:
        known = bool(stream) and len(reference) < 100 and view.head(stream) is not None
    if known:
        return workspace.root / workspace.engine.state(DEBATE, stream).file, stream
    file = Path(reference)
    with workspace.store.read() as view:  # the recorded path takes precedence over the file's id
        recorded = find_session_at(view, path_in_record(workspace.root, file))
    return file, debate_stream(recorded or session.read(file).document.session_id)


@report_first_damage
def open_parliament(workspace: Workspace, reference: str) -> ParliamentSession:
    """Open a parliament by its folder, or by its id if a flow chose the folder."""
    _require_printable_id(reference)
    if PARLIAMENT_ID.fullmatch(reference):
        return ParliamentSession.open_by_id(workspace, _folder_of(workspace, reference), reference)
    return ParliamentSession.open(workspace, Path(reference))


def _folder_of(workspace: Workspace, parliament_id: str) -> Path:
    with workspace.store.read() as view:
        row = view.row(ITEMS, f"parliament/{parliament_id}")
    if row is not None:
        path = str(msgspec.json.decode(row.value)["path"])
        for step in state_of(workspace, path).steps_in_order():
            if step.target.id == parliament_id and step.target.file:
                return workspace.root / step.target.file
    raise NotFound(
        "source_not_found",
        f"Moot does not know the folder of {parliament_id}",
        hint="name the folder instead of the id",
    )


@report_first_damage
def find_trace(workspace: Workspace, reference: str, *kinds: type[Event]) -> tuple[FlowSource, str]:
    """Find a trace by its name; the source is its latest event of these kinds."""
    stream = tracing.require_trace(workspace, reference)
    recorded = find_latest(workspace, stream, kinds)
    state = workspace.engine.state(TRACE, stream)
    return make_source(recorded, tracing.short_name(stream), state.task), stream


@report_first_damage
def find_latest(
    workspace: Workspace, stream: str, kinds: tuple[type[Event], ...]
) -> Recorded[Event]:
    """Return the stream's latest event of these kinds; Refused (not_yet) if there is none."""
    loaded = workspace.engine.load(stream)
    names = {loaded.machine.type_of[kind] for kind in kinds}
    last = None
    with workspace.store.read() as view:
        for record in view.records(stream):
            if record.body.type in names:
                last = record
    if last is None:
        raise Refused(
            "not_yet",
            f"{stream} has not reached that stage yet",
            hint=f"`moot ledger log {stream}` shows what happened there",
        )
    return read_record(loaded.machine, last)
