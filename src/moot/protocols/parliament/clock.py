"""The debate clock: how many exchanges a round has, and how long a response may be.

Round 1 has two exchanges a seat, round 6 and later one; the numbers between fall evenly (C-05).
A response has six sentences in round 1 and three from round 4 on (C-06).
"""

from __future__ import annotations

from typing import Final

from moot.protocols.parliament.messages.words import RulingAction
from moot.protocols.parliament.model import State

# PAR-108: what is left to the speaker once the exchanges are used up.
AFTER_THE_CAP: Final = frozenset({RulingAction.CALL_VOTE, RulingAction.ROUND_END})
_LAST_STEP: Final = 6


def max_exchanges(seats: int, round_number: int) -> int:
    """PAR-100 to PAR-102. Round 0 shows what round 1 will have."""
    step = min(max(round_number, 1), _LAST_STEP)
    return 2 * seats - (seats * (step - 1)) // (_LAST_STEP - 1)


def response_budget(round_number: int) -> int:
    """PAR-103."""
    return max(3, 7 - max(round_number, 1))


def cap(state: State) -> int:
    """The exchanges of the current round."""
    return max_exchanges(len(state.order), state.round.number)


def budget(state: State) -> int:
    """The sentences of a response in the current round."""
    return response_budget(state.round.number)


def asked_out(state: State) -> bool:
    """C-07: an open question counts, or the last answer would break the cap."""
    return state.round.asked >= cap(state)


def ran_out(state: State) -> bool:
    """PAR-108: every exchange of the round has taken place."""
    return state.round.running and state.round.exchanges >= cap(state)


def last_round(state: State) -> bool:
    return state.round.number >= state.max_rounds


def forces_a_vote(state: State) -> bool:
    """C-14: the exchanges are used up, or no further round will come."""
    return state.round.exchanges >= cap(state) or last_round(state)
