"""How many exchanges a round has, how long a response may be, and how many votes pass a bill.

Plain numbers in, plain numbers out: a running session and a check of files alone both count
with these, so neither can come to a different answer.

Round 1 has two exchanges a seat, round 6 and later one; the numbers between fall evenly (C-05).
A response has six sentences in round 1 and three from round 4 on (C-06).
"""

from __future__ import annotations

from typing import Final

_LAST_STEP: Final = 6


def max_exchanges(seats: int, round_number: int) -> int:
    """PAR-100, PAR-101 and PAR-102. Round 0 shows what round 1 will have."""
    step = min(max(round_number, 1), _LAST_STEP)
    return 2 * seats - (seats * (step - 1)) // (_LAST_STEP - 1)


def response_budget(round_number: int) -> int:
    """PAR-103: the most sentences of a response."""
    return max(3, 7 - max(round_number, 1))


def is_majority(yes: int, seats: int) -> bool:
    """C-11: a strict majority of all seats, not of those who voted."""
    return 2 * yes > seats
