"""The record that a native id, a file or a folder stands for."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from moot.api.bridges.damage import names_first_damage
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
MOST_ID = 300


class FlowSource(NamedTuple):
    """The record a flow starts from, what it is about, whose need it is, and its file if any."""

    source: SourceRecord
    title: str
    origin: str
    corr: str | None = None
    file: str = ""


class MessageSource(msgspec.Struct, frozen=True):
    """A message of mail as a source: where it stands, its type, and the event it tells of."""

    flow_source: FlowSource
    recorded: Recorded[MessageKept]
    type: MessageType | None


def _require_plain(named: str) -> None:
    """No id holds what cannot be printed; no index is asked for it."""
    if not named.isprintable() or len(named) > MOST_ID:
        raise NotFound(
            "source_not_found", "nothing has such an id", hint="`moot inbox --all` shows ids"
        )


def source_of(recorded: Recorded[E], native_id: str) -> SourceRecord:
    return SourceRecord(recorded.stream, recorded.seq, recorded.hash.hex(), native_id)


@names_first_damage
def message(workspace: Workspace, named: str, *kinds: MessageType) -> MessageSource:
    """A message by its id, or by the id of the event it tells of."""
    _require_plain(named)
    with workspace.store.read() as view:
        pair = view.row(MAIL_OF_EVENT, named)
        message_id = named if pair is None else str(msgspec.json.decode(pair.value)["id"])
        if view.row(MESSAGES, message_id) is None:
            raise NotFound(
                "source_not_found",
                f"there is no message {named[:80]!r}",
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
    origin = getattr(event, "sender", None) or _whose(workspace, recorded)
    subject = parse_subject(event.subject)
    title = subject.description if subject is not None else event.subject
    flow_source = FlowSource(source_of(recorded, event.id), title, origin, recorded.corr)
    return MessageSource(flow_source, recorded, event.type)


def _whose(workspace: Workspace, recorded: Recorded[MessageKept]) -> str:
    """Who said it; of what the machine told in a step, whose word led to that step."""
    if recorded.actor.id != SYSTEM or recorded.corr is None:
        return recorded.actor.id
    place = (recorded.stream, recorded.seq)
    for step in state_of(workspace, recorded.corr).steps_in_order():
        if place in [(made.stream, made.seq) for made in step.made]:
            with workspace.store.read() as view:
                record = next(view.records(step.source.stream, after=step.source.seq - 1))
            return record.body.actor.id
    return SYSTEM


@names_first_damage
def presence_event(workspace: Workspace, named: str, *kinds: type[E]) -> Recorded[E]:
    """An event of presence by its id."""
    _require_plain(named)
    with workspace.store.read() as view:
        row = view.row(_EVENTS, named)
        record = next(view.records(STREAM, after=row.seq - 1), None) if row is not None else None
    if record is None:
        raise NotFound(
            "source_not_found",
            f"there is no event {named[:80]!r}",
            hint="`moot event list` shows ids",
        )
    recorded = read_record(PRESENCE, record)
    if not is_kind(recorded, *kinds):
        raise Refused(
            "wrong_source",
            f"{named} is another kind of event",
            hint="`moot flow list` says what leads where",
        )
    return recorded


INCURSION, RESUMED = did.IncursionNoted, did.AgentResumed


@names_first_damage
def debate(workspace: Workspace, named: str, *kinds: type[Event]) -> tuple[FlowSource, Path]:
    """A debate by its file or its id; the source is its latest event of these kinds."""
    _require_plain(named)
    file, stream = _debate(workspace, named)
    recorded = latest(workspace, stream, kinds)
    state = workspace.engine.state(DEBATE, stream)
    place = path_in_record(workspace.root, file)
    source = source_of(recorded, state.session_id)
    return FlowSource(source, state.title, recorded.actor.id, recorded.corr, place), file


def _debate(workspace: Workspace, named: str) -> tuple[Path, str]:
    stream = debate_stream(named) if "/" not in named else ""
    with workspace.store.read() as view:
        known = bool(stream) and len(named) < 100 and view.head(stream) is not None
    if known:
        return workspace.root / workspace.engine.state(DEBATE, stream).file, stream
    file = Path(named)
    with workspace.store.read() as view:  # the place, which the record knows, goes before the id
        recorded = find_session_at(view, path_in_record(workspace.root, file))
    return file, debate_stream(recorded or session.read(file).document.session_id)


@names_first_damage
def parliament(workspace: Workspace, named: str) -> ParliamentSession:
    """A parliament by its folder; its id finds the folder that a flow gave it."""
    _require_plain(named)
    if PARLIAMENT_ID.fullmatch(named):
        return ParliamentSession.open_by_id(workspace, _folder_of(workspace, named), named)
    return ParliamentSession.open(workspace, Path(named))


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
        f"where the files of {parliament_id} are is not known",
        hint="name the folder instead of the id",
    )


@names_first_damage
def trace(workspace: Workspace, named: str, *kinds: type[Event]) -> tuple[FlowSource, str]:
    """A trace by its name; the source is its latest event of these kinds."""
    stream = tracing.require_trace(workspace, named)
    recorded = latest(workspace, stream, kinds)
    state = workspace.engine.state(TRACE, stream)
    source = source_of(recorded, tracing.short_name(stream))
    return FlowSource(source, state.task, recorded.actor.id, recorded.corr), stream


@names_first_damage
def latest(workspace: Workspace, stream: str, kinds: tuple[type[Event], ...]) -> Recorded[Event]:
    """The latest event of these kinds; NotFound if nothing of that happened."""
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
            f"{stream} has not come that far",
            hint=f"`moot ledger log {stream}` shows what happened there",
        )
    return read_record(loaded.machine, last)
