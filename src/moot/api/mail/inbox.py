"""Inboxes: what was sent to an agent, what is new, and how far it has read.

All of this comes from index rows and delivery cursors; no thread is read. A cursor for each thread
holds the position up to which the agent has read, so a clock that goes back hides no message. To be
fast, a look reads only rows dated from a day before the last complete look; once an hour it reads
all rows (a sweep), which finds messages with older dates.
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
# Names of delivery cursors, as they are stored:
_ALL_READ_AT: Final = "mail"  # when all new messages had been shown
_SWEPT_AT: Final = "mail all"  # when the last sweep was
_ANNOUNCED_PREFIX: Final = "told "  # + thread: up to which position messages were announced
_ANNOUNCED_AT: Final = "told"  # when messages were last announced
_ANNOUNCED_MARGIN: Final = 10 * MINUTE
_PAGE: Final = 1_000


class Box(msgspec.Struct, frozen=True):
    """The inbox of one holder of a name."""

    name: str
    epoch: int

    @property
    def cursor(self) -> str:
        """The owner of its delivery cursors; each holder of a name has separate ones."""
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


def list_all(view: View, box: Box) -> list[InboxEntry]:
    """Return every message, oldest first."""
    return list(_read_entries(view, box, ""))


def streams_with_mail(view: View, box: Box) -> set[str]:
    """Return the streams of all threads with a message in the box."""
    return {row.stream for row in _rows(view, box, "")}


def list_unread(view: View, box: Box, now: Millis) -> list[InboxEntry]:
    """Return messages that were neither shown nor answered yet, oldest first."""
    since = (
        "" if _is_sweep_due(view, box, now) else _start_time_key(view, box, _ALL_READ_AT, now, DAY)
    )
    return _unread_since(view, box, since)


def _is_sweep_due(view: View, box: Box, now: Millis) -> bool:
    swept = view.cursor(box.cursor, _SWEPT_AT)
    return not swept <= now < swept + HOUR


def _unread_since(view: View, box: Box, since: str) -> list[InboxEntry]:
    return [
        entry for entry in _read_entries(view, box, since, new_only=True) if entry.state == UNREAD
    ]


def _start_time_key(view: View, box: Box, name: str, now: Millis, margin: Millis) -> str:
    """Return the key from which to read: `margin` before the last time, or before now if the clock
    went back."""
    last = view.cursor(box.cursor, name)
    return time_key(min(last, now) - margin) if last else ""


def announce_new(workspace: Workspace, box: Box) -> list[InboxEntry]:
    """Return new messages that were not announced before, and mark them as announced.

    Hooks call this after every step of a coding tool, so it reads only the last minutes. What it
    misses because a clock went back is still new in the inbox.
    """
    engine = workspace.engine

    def not_announced(view: View) -> list[InboxEntry]:
        since = _start_time_key(view, box, _ANNOUNCED_AT, engine.clock(), _ANNOUNCED_MARGIN)
        return [
            entry
            for entry in _unread_since(view, box, since)
            if entry.position >= view.cursor(box.cursor, _ANNOUNCED_PREFIX + entry.thread)
        ]

    with engine.store.read() as view:
        if not not_announced(view):
            return []

    def pick(view: View) -> tuple[list[InboxEntry], Mapping[str, int]]:
        new = not_announced(view)
        positions = {
            _ANNOUNCED_PREFIX + thread: reach for thread, reach in _reached_positions(new).items()
        }
        return new, {**positions, _ANNOUNCED_AT: max(engine.clock(), 1)}

    return engine.deliver(box.cursor, pick)


def take_unread(workspace: Workspace, box: Box, limit: int) -> tuple[list[InboxEntry], int]:
    """Return about `limit` new messages and mark them as seen; also return how many remain."""
    engine = workspace.engine
    with engine.store.read() as view:
        now = engine.clock()
        if not _is_sweep_due(view, box, now) and not list_unread(view, box, now):
            return [], 0

    def pick(view: View) -> tuple[tuple[list[InboxEntry], int], Mapping[str, int]]:
        now = max(engine.clock(), 1)
        new = list_unread(view, box, now)
        # Also show earlier messages of the same threads: the cursor passes them too.
        reach = _reached_positions(new[:limit])
        shown = [entry for entry in new if entry.position < reach.get(entry.thread, 0)]
        positions = _reached_positions(shown)
        if len(shown) == len(new):
            swept = {_SWEPT_AT: now} if _is_sweep_due(view, box, now) else {}
            positions |= {_ALL_READ_AT: now, **swept}
        return (shown, len(new) - len(shown)), positions

    return engine.deliver(box.cursor, pick)


def _reached_positions(entries: list[InboxEntry]) -> dict[str, int]:
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
    """Return a function that tells how far the agent has read in a thread; it reads each once."""
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
