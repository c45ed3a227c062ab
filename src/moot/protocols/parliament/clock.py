"""The debate clock of a running session: what its round has left, and when a vote is forced.

The numbers themselves are in `messages/limits.py`.
"""

from __future__ import annotations

from typing import Final

from moot.protocols.parliament.messages import limits
from moot.protocols.parliament.messages.words import RulingAction
from moot.protocols.parliament.model import State

# PAR-108: what is left to the speaker once the exchanges are used up.
RULINGS_AFTER_THE_CAP: Final = frozenset({RulingAction.CALL_VOTE, RulingAction.ROUND_END})


def exchange_cap(state: State) -> int:
    """The exchanges of the current round."""
    return limits.max_exchanges(len(state.order), state.round.number)


def sentence_budget(state: State) -> int:
    """The sentences of a response in the current round."""
    return limits.response_budget(state.round.number)


def all_questions_asked(state: State) -> bool:
    """C-07: an open question counts, or the last answer would break the cap."""
    return state.round.asked >= exchange_cap(state)


def exchanges_used_up(state: State) -> bool:
    """PAR-108: every exchange of the round has taken place."""
    return state.round.running and state.round.exchanges >= exchange_cap(state)


def is_last_round(state: State) -> bool:
    return state.round.number >= state.max_rounds


def forces_a_vote(state: State) -> bool:
    """C-14: the exchanges are used up, or no further round will come."""
    return state.round.exchanges >= exchange_cap(state) or is_last_round(state)
