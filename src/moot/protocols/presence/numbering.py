"""Numbers that are given once: v1 event ids (OPR-051) and the fencing numbers of leases.

A decision may record several events; it draws their numbers here, counting on from the state.
They are unique because decisions are made one after the other, under the write lock.
"""

from __future__ import annotations

import re
from typing import Final

from moot.core.clock import Millis, to_text
from moot.protocols.presence.model import State

EVENT_ID: Final = re.compile(r"proto_(\d{8})_(\d{3,})\Z", re.ASCII)


class NextNumbers:
    """The next numbers of one decision."""

    def __init__(self, state: State, now: Millis) -> None:
        today = to_text(now)[:10].replace("-", "")
        # A clock that went back over midnight keeps counting the later day: ids stay unique.
        self._day = max(today, state.day)
        self._count = state.day_count if self._day == state.day else 0
        self._fencing = state.fencing

    def next_event_id(self) -> str:
        self._count += 1
        return f"proto_{self._day}_{self._count:03d}"

    def next_fencing(self) -> int:
        self._fencing += 1
        return self._fencing


def count_event(state: State, event_id: str) -> tuple[str, int]:
    """The `day` and `day_count` of a state after `event_id` is on record; they never go back."""
    parts = EVENT_ID.match(event_id)
    if parts is None:
        return state.day, state.day_count
    return max((state.day, state.day_count), (parts[1], int(parts[2])))
