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

LOOK_SECONDS: Final = 0.1  # how often a waiting agenda asks whether anyone has written
AGAIN_SECONDS: Final = 5.0  # and how often it looks again although nobody has
_ARGUED: Final = ("debate/", "parliament/")
# The word that stands for the history itself in the hints of its protocol.
_WORD_FOR_ID: Final = {"trace": "TRACE", "decision": "ID"}
_IN_A_FOLDER: Final = "parliament"  # its commands name the folder of its files


class DueItem(msgspec.Struct, frozen=True):
    """Something that waits for `who`; `id` is the history in which it is done.

    With `by` it has a time limit, which takes effect by itself once somebody writes there. `hint`
    is what its protocol suggests, as a command to type ("": nothing); a way in may say it in its
    own words.
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
    """The usual `stop`: wait until the time is over."""
    return False


@operation("agenda")
def agenda(
    session: Session,
    agent: str | None = None,
    *,
    wait_seconds: float = 0.0,
    stop: Callable[[], bool] = never,
) -> Agenda:
    """What waits for `agent`, else for whoever acts; without either, for anyone.

    If nothing does, wait up to `wait_seconds` until something is due, or until `stop` says so
    (asked about ten times a second). A name that nobody has is `agent_not_found`: nothing would
    ever be due for it.
    """
    who, workspace = agent or session.acting, session.workspace
    end = time.monotonic() + wait_seconds
    view = _look(workspace, who)
    if not view.items:  # an unregistered name may have a turn all the same, in a session's file
        _require_somebody(workspace.engine, who)
    while not view.items and time.monotonic() < end and not stop():
        _pause(workspace.engine, view, end, stop)
        view = _look(workspace, who)
    return Agenda(view.items)


@operation("tick", writes=True, as_ledger=True)
def tick(session: Session, name: str | None = None) -> AppliedLimits:
    """Let every time limit that has passed take effect now, on `name` or on all that is open.

    Refused (`key_missing`) unless the root key is here: it signs what nobody did. A limit takes
    effect once, so a repeat needs no key.
    """
    from moot.api.mail.lapsed_duties import lapse_duties

    engine = session.workspace.engine
    engine.require_writable()
    if not engine.signs_as_ledger:
        raise Refused(
            "key_missing",
            "time limits are applied by the root key, which is not in this key folder",
            hint="whoever ran `moot init` can do this; until then it stays due",
        )
    if name is None:
        lapse_duties(session.workspace)
    outcomes = [engine.tick(stream) for stream in ([name] if name else engine.open_streams())]
    return AppliedLimits(
        tuple(limit for outcome in outcomes if outcome for limit in _applied(engine, outcome))
    )


def _applied(engine: Engine, outcome: JobOutcome) -> list[AppliedLimit]:
    types = engine.load(outcome.stream).machine.type_of
    return [
        AppliedLimit(event.stream, event.seq, to_text(event.at), types[type(event.event)])
        for event in outcome.recorded
    ]


def list_due(workspace: Workspace, who: str | None = None) -> tuple[DueItem, ...]:
    """What is due now for `who` (None: for anyone), the most urgent first."""
    return _look(workspace, who).items


class _View(NamedTuple):
    """One look: how often the store had changed before it, and which time limit passes next."""

    changes: int
    items: tuple[DueItem, ...]
    next_limit: Millis | None


def _look(workspace: Workspace, who: str | None) -> _View:
    engine = workspace.engine
    changes, now = engine.store.version(), engine.clock()
    dues = list(engine.agenda(_streams_awaited(engine)))
    items = [_item(workspace, *pair, now) for pair in dues if who in (None, pair[1].who)]
    items += _new_mail(workspace, who, now)
    limits = [due.by for _, due in dues if due.by is not None and due.by > now]
    return _View(changes, tuple(sorted(items, key=_urgency)), min(limits, default=None))


def _streams_awaited(engine: Engine) -> list[str]:
    """What is open, without the sessions whose question a person has decided already."""
    streams = engine.open_streams()
    if not any(stream.startswith(_ARGUED) for stream in streams):
        return streams
    from moot.api.parliaments.ruling import everyone_has_decided

    return [
        name
        for name in streams
        if not (name.startswith(_ARGUED) and everyone_has_decided(engine, name))
    ]


def _require_somebody(engine: Engine, who: str | None) -> None:
    """Nothing will ever be due for a name that was mistyped."""
    if who is not None and who not in RESERVED and who not in engine.registry().agents:
        raise NotFound(
            "agent_not_found", f"no agent is called {who}", hint="`moot agent list` shows all"
        )


def _pause(engine: Engine, view: _View, end: float, stop: Callable[[], bool]) -> None:
    """Until somebody writes, a time limit passes, or it is time to look again anyway."""
    again = min(end, time.monotonic() + AGAIN_SECONDS)
    while time.monotonic() < again and engine.store.version() == view.changes and not stop():
        if view.next_limit is not None and engine.clock() >= view.next_limit:
            return
        time.sleep(LOOK_SECONDS)


def _item(workspace: Workspace, stream: str, due: Due, now: Millis) -> DueItem:
    return DueItem(
        who=due.who,
        what=due.what,
        subject=Quoted(due.subject),
        since=None if due.since is None else to_text(due.since),
        by=None if due.by is None else to_text(due.by),
        overdue=due.is_overdue(now),
        id=stream,
        hint=fill_hint(due.hint, _known_words(workspace, stream, due.hint)),
    )


def _known_words(workspace: Workspace, stream: str, hint: str) -> dict[str, str]:
    """What stands for words in capitals: the id of the history, or a session's folder."""
    protocol, _, name = stream.partition("/")
    if protocol != _IN_A_FOLDER or " DIR " not in hint:
        return {_WORD_FOR_ID.get(protocol, ""): name}
    from moot.api.parliaments.session_files import find_folder

    folder = find_folder(workspace, name)
    return {} if folder is None else {"DIR": str(folder)}


def _new_mail(workspace: Workspace, who: str | None, now: Millis) -> list[DueItem]:
    """New mail of `who` that asks for nothing: it may be what `who` waits for."""
    if who is None:
        return []
    from moot.api.mail import inbox

    box = inbox.box_of(workspace, who)
    if box is None:
        return []
    with workspace.store.read() as view:
        unread = inbox.unread(view, box, now)
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
