"""How many exchanges a round has, how long a response may be, and how many votes pass a bill.

Plain numbers in, plain numbers out: a running session and a check of files alone both count
with these, so neither can come to a different answer.

Round 1 has two exchanges a seat, round 6 and later one; ours fall evenly between (C-05).
A response has six sentences in round 1 and three from round 4 on (C-06). Files from elsewhere may
have other numbers between these ends: the document fixes the ends alone.
"""

from __future__ import annotations

from typing import Final

_LAST_STEP: Final = 6
_SHORTEST_FROM: Final = 4


def max_exchanges(seats: int, round_number: int) -> int:
    """PAR-100, PAR-101 and PAR-102. Round 0 shows what round 1 will have."""
    step = min(max(round_number, 1), _LAST_STEP)
    return 2 * seats - (seats * (step - 1)) // (_LAST_STEP - 1)


def possible_caps(seats: int, round_number: int) -> range:
    """C-05: the caps that the document allows a round; one number where it names one."""
    low = 2 * seats if round_number <= 1 else seats
    high = seats if round_number >= _LAST_STEP else 2 * seats
    return range(low, high + 1)


def possible_budgets(round_number: int) -> range:
    """C-06: the budgets that the document allows a round; one number where it names one."""
    low = response_budget(1) if round_number <= 1 else response_budget(_SHORTEST_FROM)
    high = low if round_number >= _SHORTEST_FROM else response_budget(1)
    return range(low, high + 1)


def response_budget(round_number: int) -> int:
    """PAR-103: the most sentences of a response."""
    return max(3, 7 - max(round_number, 1))


def is_majority(yes: int, seats: int) -> bool:
    """C-11: a strict majority of all seats, not of those who voted."""
    return 2 * yes > seats
