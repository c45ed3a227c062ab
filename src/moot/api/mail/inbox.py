"""Inboxes: what was sent to an agent, what is new, and how far it has read.

Everything here comes from index rows and delivery cursors; no thread is read. How far an agent got
is kept for each thread by position, so a clock that goes back hides nothing. To find what is new
quickly, only rows from a day before the last complete look are read, and all of them once an hour:
what was dated further back is new then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.core.clock import DAY, HOUR, MINUTE, Millis
from moot.core.ledger import StoredRow, View
from moot.protocols.mail.index_keys import (
    ANSWERS,
    INBOX,
    answer_key,
    inbox_prefix,
    label_sender,
    time_key,
)

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

UNREAD, SEEN, ACKED = "unread", "seen", "acked"
LOOKED: Final = "mail"  # the cursor that says when all that was new had been shown
_SWEPT: Final = "mail all"  # and the one that says when it was looked for among all there is
_TOLD: Final = "told "  # before a thread's name: how far its messages were announced
_TOLD_AT: Final = "told"
_TOLD_MARGIN: Final = 10 * MINUTE
_PAGE: Final = 1_000


class Box(msgspec.Struct, frozen=True):
    """The inbox of one holder of a name."""

    name: str
    epoch: int

    @property
    def cursor(self) -> str:
        """Another holder of the name has cursors of its own."""
        return f"{self.name}@{self.epoch}"


class InboxEntry(msgspec.Struct, frozen=True):
    """One row of an inbox."""

    key: str
    thread: str
    position: int
    state: str
    status: str | None
    value: dict[str, Any]

    @property
    def sender(self) -> str:
        return label_sender(self.value["from"], not self.value["imported"])


def box_of(workspace: Workspace, name: str) -> Box | None:
    """Return the inbox of the agent that has this name now; None if no agent ever had it."""
    agent = workspace.engine.registry().agents.get(name)
    return None if agent is None else Box(name, agent.epoch)


def everything(view: View, box: Box) -> list[InboxEntry]:
    """Every message, oldest first."""
    return list(_read_entries(view, box, ""))


def threads_in(view: View, box: Box) -> set[str]:
    """The streams of every thread of which something is in the box."""
    return {row.stream for row in _rows(view, box, "")}


def unread(view: View, box: Box, now: Millis) -> list[InboxEntry]:
    """What has not been shown yet and not been answered either, oldest first."""
    since = "" if _sweep_due(view, box, now) else _before(view, box, LOOKED, now, DAY)
    return _unread_since(view, box, since)


def _sweep_due(view: View, box: Box, now: Millis) -> bool:
    swept = view.cursor(box.cursor, _SWEPT)
    return not swept <= now < swept + HOUR


def _unread_since(view: View, box: Box, since: str) -> list[InboxEntry]:
    return [
        entry for entry in _read_entries(view, box, since, new_only=True) if entry.state == UNREAD
    ]


def _before(view: View, box: Box, name: str, now: Millis, margin: Millis) -> str:
    """Where to begin: a margin before the last time, whichever way the clock went since."""
    last = view.cursor(box.cursor, name)
    return time_key(min(last, now) - margin) if last else ""


def announce_new(workspace: Workspace, box: Box) -> list[InboxEntry]:
    """What is new and was not announced before; from now on it was.

    Asked after every step of a coding tool, so it looks no further back than it must: what it
    misses because a clock went back is still new in the inbox.
    """
    engine = workspace.engine

    def not_announced(view: View) -> list[InboxEntry]:
        since = _before(view, box, _TOLD_AT, engine.clock(), _TOLD_MARGIN)
        return [
            entry
            for entry in _unread_since(view, box, since)
            if entry.position >= view.cursor(box.cursor, _TOLD + entry.thread)
        ]

    with engine.store.read() as view:
        if not not_announced(view):
            return []

    def pick(view: View) -> tuple[list[InboxEntry], Mapping[str, int]]:
        new = not_announced(view)
        positions = {_TOLD + thread: reach for thread, reach in _positions(new).items()}
        return new, {**positions, _TOLD_AT: max(engine.clock(), 1)}

    return engine.deliver(box.cursor, pick)


def take(workspace: Workspace, box: Box, limit: int) -> tuple[list[InboxEntry], int]:
    """What is new, at most about `limit`, now marked as seen; and how much more there is."""
    engine = workspace.engine
    with engine.store.read() as view:
        now = engine.clock()
        if not _sweep_due(view, box, now) and not unread(view, box, now):
            return [], 0

    def pick(view: View) -> tuple[tuple[list[InboxEntry], int], Mapping[str, int]]:
        now = max(engine.clock(), 1)
        new = unread(view, box, now)
        # The first ones, and what of the same thread is before them: a cursor passes both.
        reach = _positions(new[:limit])
        shown = [entry for entry in new if entry.position < reach.get(entry.thread, 0)]
        positions = _positions(shown)
        if len(shown) == len(new):
            swept = {_SWEPT: now} if _sweep_due(view, box, now) else {}
            positions |= {LOOKED: now, **swept}
        return (shown, len(new) - len(shown)), positions

    return engine.deliver(box.cursor, pick)


def _positions(entries: list[InboxEntry]) -> dict[str, int]:
    reach: dict[str, int] = {}
    for entry in entries:
        reach[entry.thread] = max(reach.get(entry.thread, 0), entry.position + 1)
    return reach


def _read_entries(view: View, box: Box, since: str, new_only: bool = False) -> Iterator[InboxEntry]:
    reached = _reached(view, box)
    for row in _rows(view, box, since):
        shown = row.seq < reached(row.stream)
        if shown and new_only:
            continue
        value = msgspec.json.decode(row.value)
        answer = view.row(ANSWERS, answer_key(value["id"], box.name, box.epoch))
        status = None if answer is None else msgspec.json.decode(answer.value)["status"]
        state = ACKED if status else SEEN if shown else UNREAD
        yield InboxEntry(row.key, row.stream, row.seq, state, status, value)


def _reached(view: View, box: Box) -> Callable[[str], int]:
    """How far the box's agent has read in a thread; asked once a thread."""
    known: dict[str, int] = {}

    def of(stream: str) -> int:
        if stream not in known:
            known[stream] = view.cursor(box.cursor, stream)
        return known[stream]

    return of


def _rows(view: View, box: Box, since: str) -> Iterator[StoredRow]:
    prefix = inbox_prefix(box.name, box.epoch)
    after = f"{prefix}{since}"
    while page := view.rows(INBOX, prefix, after, _PAGE):
        yield from page
        after = page[-1].key
