"""The newest events between agents, read from their end: the same work however long the record is.

Their ids count up within a day, and the state of presence knows the last one. So today's are looked
up by number, backwards; of earlier days, whose last number nobody keeps, a bounded part is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from moot.core.clock import DAY, parse_time, to_text
from moot.protocols.presence.contract import Document
from moot.protocols.presence.numbering import EVENT_ID

if TYPE_CHECKING:
    from moot.core.ledger import StoredRow, View
    from moot.protocols.presence.model import State

EVENTS: Final = "presence.events"
_EARLIER_DAYS: Final = 14
_PAGE: Final = 1000


class StoredEvent(msgspec.Struct, frozen=True):
    """An event in its v1 form, and where the record of it stands."""

    document: Document
    seq: int


def read_newest_events(view: View, state: State, limit: int) -> list[StoredEvent]:
    """At most `limit` of them, the newest first."""
    rows: list[StoredRow] = []
    for number in range(state.day_count, 0, -1):
        row = view.row(EVENTS, f"proto_{state.day}_{number:03d}")
        if row is not None:
            rows.append(row)
        if len(rows) >= limit:
            break
    day = state.day
    for _ in range(_EARLIER_DAYS if day else 0):
        if len(rows) >= limit:
            break
        day = _day_before(day)
        rows += sorted(view.rows(EVENTS, f"proto_{day}_", limit=_PAGE), key=_number, reverse=True)
    return [read_event(row) for row in rows[:limit]]


def read_event(row: StoredRow) -> StoredEvent:
    return StoredEvent(msgspec.json.decode(row.value), row.seq)


def order_of_event(event_id: str) -> tuple[str, int]:
    """By day, then by number: the order in which events were recorded."""
    parts = EVENT_ID.match(event_id)
    return (parts[1], int(parts[2])) if parts is not None else ("", 0)


def _number(row: StoredRow) -> int:
    return order_of_event(row.key)[1]


def _day_before(day: str) -> str:
    noon = parse_time(f"{day[:4]}-{day[4:6]}-{day[6:]}T12:00:00.000Z")
    return to_text(noon - DAY)[:10].replace("-", "")
