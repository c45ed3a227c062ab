"""Who drafts the bill (PAR-089, C-20): the seat that the prime minister's guidance names, else the
one whose motives cover most issues; of several the first in the list.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from moot.protocols.parliament import motives
from moot.protocols.parliament.model import Seat, State


class DrafterChoice(NamedTuple):
    seat: str
    why: str


def choose_drafter(state: State) -> DrafterChoice | None:
    """The choice that follows from guidance and issues; None if nobody can draft."""
    able = [seat for seat in state.seats_in_order() if not seat.expelled]
    if not able:
        return None
    named = _seat_named_in(state.guidance, able)
    if named is not None:
        return DrafterChoice(named.id, "named by the prime minister")
    issues = state.constituent_issues
    best = max(
        able, key=lambda seat: motives.count_covered_issues(issues, seat.motives)
    )  # the first of equals
    count = motives.count_covered_issues(issues, best.motives)
    return DrafterChoice(best.id, f"speaks for {count} of {len(issues)} issues")


def _seat_named_in(guidance: str, able: list[Seat]) -> Seat | None:
    """The one seat that the guidance names, by id or by name; two names decide nothing."""
    named_seats = [
        seat
        for seat in able
        if _is_named_in(seat.id, guidance) or _is_named_in(seat.name, guidance)
    ]
    return named_seats[0] if len(named_seats) == 1 else None


def _is_named_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
