"""Who drafts the bill (C-20): whom the prime minister's guidance names, else the seat whose
motives cover most issues; of several the first in the list.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from moot.protocols.parliament import motives
from moot.protocols.parliament.model import Seat, State


class Choice(NamedTuple):
    seat: str
    why: str


def choose(state: State) -> Choice | None:
    """The choice that follows from guidance and issues; None if nobody can draft."""
    able = [seat for seat in state.in_order() if not seat.expelled]
    if not able:
        return None
    named = _named(state.guidance, able)
    if named is not None:
        return Choice(named.id, "named by the prime minister")
    issues = state.constituent_issues
    best = max(able, key=lambda seat: motives.covered(issues, seat.motives))  # the first of equals
    count = motives.covered(issues, best.motives)
    return Choice(best.id, f"speaks for {count} of {len(issues)} issues")


def _named(guidance: str, able: list[Seat]) -> Seat | None:
    """The one seat that the guidance names, by id or by name; two names decide nothing."""
    found = [
        seat for seat in able if _stands_in(seat.id, guidance) or _stands_in(seat.name, guidance)
    ]
    return found[0] if len(found) == 1 else None


def _stands_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
