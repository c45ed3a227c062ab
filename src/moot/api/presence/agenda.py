"""What is due, for whom, by when; and what happens when it is late.

Reading applies nothing: what is overdue is only shown, until the next writing operation on it, or
`tick`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.api.operation import operation
from moot.core.clock import to_text
from moot.core.errors import NotFound, Refused
from moot.core.findings import fill_hint
from moot.core.machine import Due
from moot.core.names import RESERVED
from moot.core.text import Quoted

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.clock import Millis
    from moot.engine.engine import Engine
    from moot.engine.job import JobOutcome
    from moot.workspace.workspace import Workspace

POLL_SECONDS: Final = 0.1  # how often a waiting agenda asks whether the store has changed
REFRESH_SECONDS: Final = 5.0  # how often it reads the agenda again although it has not
_SESSION_PREFIXES: Final = ("debate/", "parliament/")
# Protocol -> the placeholder in its hints that stands for the id of the stream.
_ID_PLACEHOLDERS: Final = {"trace": "TRACE", "decision": "ID"}
_NAMED_BY_FOLDER: Final = "parliament"  # its commands take the folder of its files, not an id


class DueItem(msgspec.Struct, frozen=True):
    """Something that waits for `who`; `id` is the stream in which it is done.

    `by` is its time limit: the next write to that stream applies it. `hint` is the command that the
    protocol suggests ("": none).
    """

    who: str
    what: str
    subject: Quoted
    since: str | None
    by: str | None
    overdue: bool
    id: str
    hint: str


class Agenda(msgspec.Struct, frozen=True):
    """What is due, the most urgent first."""

    due: tuple[DueItem, ...]


class AppliedLimit(msgspec.Struct, frozen=True):
    """An event that was recorded because a time limit had passed."""

    id: str
    seq: int
    at: str
    type: str


class AppliedLimits(msgspec.Struct, frozen=True):
    applied: tuple[AppliedLimit, ...]


def never() -> bool:
    """Return the default for `stop`: wait until the time is over."""
    return False


@operation("agenda")
def agenda(
    session: Session,
    agent: str | None = None,
    *,
    wait_seconds: float = 0.0,
    stop: Callable[[], bool] = never,
) -> Agenda:
    """Return what waits for `agent` (default: the acting agent; without one, for anyone).

    If nothing does, wait up to `wait_seconds` until something is due or `stop` returns True (it is
    called about ten times a second). An unregistered name is refused as `agent_not_found`: nothing
    would ever be due for it.
    """
    who, workspace = agent or session.acting, session.workspace
    end = time.monotonic() + wait_seconds
    view = _read_agenda(workspace, who)
    if not view.items:  # an unregistered name may still have a turn in a session's file
        _require_known(workspace.engine, who)
    while not view.items and time.monotonic() < end and not stop():
        _wait_for_change(workspace.engine, view, end, stop)
        view = _read_agenda(workspace, who)
    return Agenda(view.items)


@operation("tick", writes=True, as_ledger=True)
def tick(session: Session, name: str | None = None) -> AppliedLimits:
    """Apply every time limit that has passed, on the stream `name` or on all open streams.

    Refused as `key_missing` unless the root key is here: it signs these events. A limit applies
    once, so a repeat needs no idempotency key.
    """
    from moot.api.mail.lapsed_duties import lapse_duties

    engine = session.workspace.engine
    require_root_key(engine, "moot tick")
    if name is None:
        lapse_duties(session.workspace)
    outcomes = [engine.tick(stream) for stream in ([name] if name else engine.open_streams())]
    return AppliedLimits(
        tuple(limit for outcome in outcomes if outcome for limit in _applied(engine, outcome))
    )


def require_root_key(engine: Engine, command: str) -> None:
    """Raise Refused if the key that applies time limits is not here; `command` would apply them."""
    engine.require_writable()
    if not engine.signs_as_ledger:
        raise Refused(
            "key_missing",
            "the ledger's root key applies time limits, and it is not in this key folder",
            hint=f"ask the person who ran `moot init` to run `{command}`; until then it stays due",
        )


def _applied(engine: Engine, outcome: JobOutcome) -> list[AppliedLimit]:
    types = engine.load(outcome.stream).machine.type_of
    return [
        AppliedLimit(event.stream, event.seq, to_text(event.at), types[type(event.event)])
        for event in outcome.recorded
    ]


def list_due(workspace: Workspace, who: str | None = None) -> tuple[DueItem, ...]:
    """Return what is due now for `who` (None: for anyone), the most urgent first."""
    return _read_agenda(workspace, who).items


class _AgendaView(NamedTuple):
    """What is due, the store's version when it was read, and which time limit passes next."""

    version: int
    items: tuple[DueItem, ...]
    next_limit: Millis | None


def _read_agenda(workspace: Workspace, who: str | None) -> _AgendaView:
    engine = workspace.engine
    version, now = engine.store.version(), engine.clock()
    dues = list(engine.agenda(_streams_awaited(engine)))
    items = [_item(workspace, *pair, now) for pair in dues if who in (None, pair[1].who)]
    items += _new_mail(workspace, who, now)
    limits = [due.by for _, due in dues if due.by is not None and due.by > now]
    return _AgendaView(version, tuple(sorted(items, key=_urgency)), min(limits, default=None))


def _streams_awaited(engine: Engine) -> list[str]:
    """Return the open streams, without sessions whose question a person has already decided."""
    streams = engine.open_streams()
    if not any(stream.startswith(_SESSION_PREFIXES) for stream in streams):
        return streams
    from moot.api.parliaments.ruling import everyone_has_decided

    return [
        name
        for name in streams
        if not (name.startswith(_SESSION_PREFIXES) and everyone_has_decided(engine, name))
    ]


def _require_known(engine: Engine, who: str | None) -> None:
    """Refuse a mistyped name: nothing would ever be due for it."""
    if who is not None and who not in RESERVED and who not in engine.registry().agents:
        raise NotFound(
            "agent_not_found", f"no agent is called {who}", hint="`moot agent list` shows all"
        )


def _wait_for_change(
    engine: Engine, view: _AgendaView, end: float, stop: Callable[[], bool]
) -> None:
    """Wait until the store changes, a time limit passes, or REFRESH_SECONDS are over."""
    refresh_at = min(end, time.monotonic() + REFRESH_SECONDS)
    while time.monotonic() < refresh_at and engine.store.version() == view.version and not stop():
        if view.next_limit is not None and engine.clock() >= view.next_limit:
            return
        time.sleep(POLL_SECONDS)


def _item(workspace: Workspace, stream: str, due: Due, now: Millis) -> DueItem:
    return DueItem(
        who=due.who,
        what=due.what,
        subject=Quoted(due.subject),
        since=None if due.since is None else to_text(due.since),
        by=None if due.by is None else to_text(due.by),
        overdue=due.is_overdue(now),
        id=stream,
        hint=fill_hint(due.hint, _placeholder_values(workspace, stream, due.hint)),
    )


def _placeholder_values(workspace: Workspace, stream: str, hint: str) -> dict[str, str]:
    """Return values for the words in capitals: the id of the stream, or a session's folder."""
    protocol, _, name = stream.partition("/")
    if protocol != _NAMED_BY_FOLDER or " DIR " not in hint:
        return {_ID_PLACEHOLDERS.get(protocol, ""): name}
    from moot.api.parliaments.session_files import find_folder

    folder = find_folder(workspace, name)
    return {} if folder is None else {"DIR": str(folder)}


def _new_mail(workspace: Workspace, who: str | None, now: Millis) -> list[DueItem]:
    """Return an item for new mail that asks for nothing: it may be what `who` waits for."""
    if who is None:
        return []
    from moot.api.mail import inbox

    box = inbox.box_of(workspace, who)
    if box is None:
        return []
    with workspace.store.read() as view:
        unread = inbox.list_unread(view, box, now)
    new = [slip for slip in unread if not slip.value["ack_required"]]
    if not new:
        return []
    last = new[-1]
    due = Due(
        who=box.name,
        what="read mail",
        subject=f"{len(new)} new, the last from {last.sender}: {last.value['subject']}",
        since=new[0].value["at"],
        hint="moot inbox",
    )
    return [_item(workspace, "mail", due, now)]


def _urgency(item: DueItem) -> tuple[bool, str, str]:
    return item.by is None, item.by or "", item.since or ""
