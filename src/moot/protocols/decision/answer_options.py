"""The distinct first answers: who gave each, who has yet to rank them, and in which order.

Nobody is told whose answer it ranks, and each sees them in an order of its own, so that neither a
name nor the first place draws votes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

import msgspec

from moot.protocols.decision.model import ChamberKind, FirstAnswer, State
from moot.protocols.decision.motion import group_answers

_DOMAIN: Final = "moot-order-of-answers-1"


class AnswerOption(msgspec.Struct, frozen=True):
    """An answer that was given, in the words of whoever gave it first, and everybody who did."""

    text: str
    by: tuple[str, ...]


def list_options(state: State) -> tuple[AnswerOption, ...]:
    """The distinct answers, in the order of the seats."""
    firsts = (state.answers[seat.agent] for seat in state.seats if seat.agent in state.answers)
    return tuple(_option(same) for same in group_answers(firsts))


def _option(same: list[FirstAnswer]) -> AnswerOption:
    return AnswerOption(same[0].answer or "", tuple(first.agent for first in same))


def find_own_option(options: Iterable[AnswerOption], agent: str) -> int | None:
    """The number of the answer that this agent gave."""
    return next((at for at, option in enumerate(options) if agent in option.by), None)


def list_unranked(state: State) -> tuple[str, ...]:
    """Whoever answered and has yet to rank; nobody where there is only one answer.

    A parliament writes its own bill, so answers are not ranked there.
    """
    if state.chamber is not ChamberKind.DEBATE or state.unanswered or len(list_options(state)) < 2:
        return ()
    return tuple(
        seat.agent
        for seat in state.seats
        if state.answers[seat.agent].answer is not None and seat.agent not in state.rankings
    )


def order_for(question: str, agent: str, options: Iterable[AnswerOption]) -> tuple[int, ...]:
    """The numbers of the answers in the order in which this agent sees them."""
    texts = [option.text for option in options]

    def place(number: int) -> bytes:
        parts = (_DOMAIN, question, agent, texts[number])
        framed = b"".join(len(raw).to_bytes(8, "big") + raw for raw in map(str.encode, parts))
        return hashlib.sha256(framed).digest()

    return tuple(sorted(range(len(texts)), key=place))
