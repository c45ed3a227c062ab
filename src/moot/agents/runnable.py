"""What the runner needs of a protocol: what is due, the brief for it, and a way to execute.

It holds no state of its own: everything comes from the ledger or the file at that moment. So a run
can be killed at any time and started again. The protocol decides about each `submit`, and refuses a
second answer to the same turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, Protocol

import msgspec

from moot.agents.brief import Brief
from moot.agents.cost import NO_COST, Cost, format_money
from moot.agents.outcome import CallFailure, CallOutcome, RunEnd, StopReason
from moot.agents.participant import Nature
from moot.core.machine import Due

# Limits of a run: turns, tokens, money, seconds. What earlier runs spent counts too: a run that was
# killed and started again gets no second budget.


class Budget(msgspec.Struct, frozen=True):
    """The limits of a run; None is no limit. `micros` are millionths of a US dollar."""

    turns: int | None = None
    tokens: int | None = None
    micros: int | None = None
    seconds: float | None = None


class Spent(msgspec.Struct, frozen=True):
    """Turns that were recorded, and what all calls cost, the useless ones too."""

    turns: int = 0
    cost: Cost = NO_COST

    def plus(self, cost: Cost, turns: int = 0) -> Spent:
        return Spent(self.turns + turns, self.cost + cost)


def find_reached_limit(
    budget: Budget, spent: Spent, seconds: float
) -> tuple[StopReason, str] | None:
    """The first limit that leaves no room for another turn, with a sentence about it (AGT-015)."""
    return next(_limits_reached(budget, spent, seconds), None)


def _limits_reached(
    budget: Budget, spent: Spent, seconds: float
) -> Iterator[tuple[StopReason, str]]:
    cost = spent.cost
    if budget.turns is not None and spent.turns >= budget.turns:
        yield StopReason.TURNS, f"{spent.turns} of {budget.turns} turns are taken"
    if budget.tokens is not None and cost.tokens >= budget.tokens:
        yield StopReason.TOKENS, f"{cost.tokens:,} of {budget.tokens:,} tokens are spent"
    if budget.micros is not None and cost.micros >= budget.micros:
        yield (
            StopReason.MONEY,
            f"{format_money(cost.micros)} of {format_money(budget.micros)} are spent",
        )
    if budget.micros is not None and cost.unpriced and cost.tokens:
        known = f"the price of {cost.unpriced} of {cost.calls} calls is unknown"
        yield (
            StopReason.MONEY,
            f"{known}, so {format_money(budget.micros)} cannot be kept; limit the tokens",
        )
    if budget.seconds is not None and seconds >= budget.seconds:
        yield StopReason.TIME, f"{budget.seconds:g} seconds are over"


def turns_left(budget: Budget, spent: Spent) -> int | None:
    return None if budget.turns is None else max(0, budget.turns - spent.turns)


def time_left(budget: Budget, seconds: float) -> float | None:
    return None if budget.seconds is None else max(0.0, budget.seconds - seconds)


# Are they going in circles? Found from what is on record, so that a second run finds it too.

_WORD: Final = re.compile(r"\w+")
# Which share of their runs of three words two texts must have in common.
ALIKE: Final = 0.9
# How often somebody must have said the same: twice is insisting, three times is a circle.
TIMES: Final = 3


class Utterance(msgspec.Struct, frozen=True):
    """One statement of one participant."""

    who: str
    text: str


def are_alike(one: str, other: str) -> bool:
    """Do both say the same, but for a few words?"""
    first, second = _runs(one), _runs(other)
    return len(first & second) >= ALIKE * len(first | second)


@lru_cache(maxsize=256)  # the same few texts are compared turn after turn
def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return frozenset(zip(words, words[1:], words[2:], strict=False)) or frozenset({tuple(words)})


def repeats_itself(history: Sequence[Utterance], who: str) -> bool:
    """Has `who` said the same thing three times running?"""
    own = [said.text for said in history if said.who == who][-TIMES:]
    return len(own) == TIMES and all(are_alike(own[-1], text) for text in own[:-1])


def goes_in_circles(history: Sequence[Utterance]) -> bool:
    """Does everybody who has spoken only repeat what they said before (AGT-016)?"""
    speakers = {said.who for said in history}
    return bool(speakers) and all(repeats_itself(history, who) for who in speakers)


class PassOverResult(StrEnum):
    """Whether a due could be passed over. `LATER`: once its time is up. `NEVER`: the protocol
    waits."""

    DONE = "done"
    LATER = "later"
    NEVER = "never"


class Runnable(Protocol):
    """One session of a protocol, as the runner sees it."""

    def advance(self) -> None:
        """Do what needs nobody's answer, such as opening the next round."""
        ...

    def dues(self) -> Sequence[Due]:
        """What is due now, for whom. Two dues are the same if who, what and subject are."""
        ...

    def may_be_asked_together(self, due: Due) -> bool:
        """May this be answered at the same time as others that are due?"""
        ...

    def brief(self, due: Due) -> Brief:
        """All that the participant must know to answer."""
        ...

    def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
        """Execute the reply as that agent; Malformed or Refused if it cannot be."""
        ...

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        """Go on without an answer, as the protocol does when somebody failed or time is up."""
        ...

    def history(self) -> Sequence[Utterance]:
        """What was said so far, in order."""
        ...

    def standing(self) -> dict[str, Any]:
        """Return how far the session has come, for a person who watches the run."""
        ...

    def spent(self) -> Spent:
        """What earlier runs of this session have spent, by the record."""
        ...

    def record_outcome(self, outcome: CallOutcome) -> None:
        """Put on record how a call ended and what it cost."""
        ...

    def record_end(self, ended: RunEnd) -> None:
        """Put on record how the run ended."""
        ...


# Watching a run: what is told while it goes on. A surface implements it; no decision depends on
# it.

# Round, score and whatever else the protocol shows; asked for only if someone looks on.
Standing = Callable[[], dict[str, Any]]


class RunWatcher(Protocol):
    """Told of each step of a run."""

    def on_asking(self, due: Due, nature: Nature, attempt: int) -> None:
        """A participant is being asked."""
        ...

    def on_heard(self, due: Due, seconds: float) -> None:
        """A participant has fallen silent after so long, well or not. Told by the thread that
        asked, while others may still be thinking; what came of it follows in `on_outcome`."""
        ...

    def on_outcome(self, outcome: CallOutcome) -> None:
        """A call has ended, well or not."""
        ...

    def on_progress(self, due: Due, standing: Standing) -> None:
        """What was due is done, or passed over; `standing` says where things are now."""
        ...

    def on_waiting(self, due: Due, seconds: float) -> None:
        """Nothing can be done until the time of this turn is up."""
        ...


class NoWatcher:
    """Nobody watches."""

    def on_asking(self, due: Due, nature: Nature, attempt: int) -> None: ...

    def on_heard(self, due: Due, seconds: float) -> None: ...

    def on_outcome(self, outcome: CallOutcome) -> None: ...

    def on_progress(self, due: Due, standing: Standing) -> None: ...

    def on_waiting(self, due: Due, seconds: float) -> None: ...
