"""What the runner needs from a protocol: what is due, the brief for it, and a way to execute.

A `Runnable` keeps no state: everything is read from the ledger or the file each time. So a run can
be killed and started again at any time. The protocol decides about each `submit`, and refuses a
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


class Budget(msgspec.Struct, frozen=True):
    """The limits of a run; None is no limit. `micros` are millionths of a US dollar.

    What earlier runs of the session spent counts too: a restarted run gets no second budget.
    """

    turns: int | None = None
    tokens: int | None = None
    micros: int | None = None
    seconds: float | None = None


class Spent(msgspec.Struct, frozen=True):
    """The number of recorded turns, and the cost of all calls, also failed ones."""

    turns: int = 0
    cost: Cost = NO_COST

    def plus(self, cost: Cost, turns: int = 0) -> Spent:
        return Spent(self.turns + turns, self.cost + cost)


def find_reached_limit(
    budget: Budget, spent: Spent, seconds: float
) -> tuple[StopReason, str] | None:
    """Return the first limit that allows no further turn, with a sentence about it (AGT-015)."""
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


# Detecting that participants only repeat themselves, from the record, so that a second run detects
# it too.

_WORD: Final = re.compile(r"\w+")
# The share of word triples that two similar texts have in common.
ALIKE: Final = 0.9
# How often in a row a participant must say the same; twice may be insisting.
TIMES: Final = 3


class Utterance(msgspec.Struct, frozen=True):
    """One statement of one participant."""

    who: str
    text: str


def are_alike(one: str, other: str) -> bool:
    """Return True if both say the same except for a few words."""
    first, second = _word_triples(one), _word_triples(other)
    return len(first & second) >= ALIKE * len(first | second)


@lru_cache(maxsize=256)  # every turn compares the same few texts
def _word_triples(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return frozenset(zip(words, words[1:], words[2:], strict=False)) or frozenset({tuple(words)})


def repeats_itself(history: Sequence[Utterance], who: str) -> bool:
    """Return True if `who` said the same thing three times in a row."""
    own = [utterance.text for utterance in history if utterance.who == who][-TIMES:]
    return len(own) == TIMES and all(are_alike(own[-1], text) for text in own[:-1])


def goes_in_circles(history: Sequence[Utterance]) -> bool:
    """Return True if every participant only repeats itself (AGT-016)."""
    speakers = {utterance.who for utterance in history}
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
        """Do what needs no answer, such as opening the next round."""
        ...

    def dues(self) -> Sequence[Due]:
        """Return what is due now, for whom. Two dues are equal if who, what and subject are."""
        ...

    def may_be_asked_together(self, due: Due) -> bool:
        """Return True if this may be answered at the same time as other dues."""
        ...

    def brief(self, due: Due) -> Brief:
        """Return all that the participant must know to answer."""
        ...

    def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
        """Execute the reply as that agent; raise Malformed or Refused if that is impossible."""
        ...

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        """Continue without an answer, as the protocol does after a failure or a timeout."""
        ...

    def history(self) -> Sequence[Utterance]:
        """Return what was said so far, in order."""
        ...

    def standing(self) -> dict[str, Any]:
        """Return how far the session has come, for a person who watches the run."""
        ...

    def spent(self) -> Spent:
        """Return what earlier runs of this session have spent, by the record."""
        ...

    def record_outcome(self, outcome: CallOutcome) -> None:
        """Record how a call ended and what it cost."""
        ...

    def record_end(self, ended: RunEnd) -> None:
        """Record how the run ended."""
        ...


# Returns the round, the score and what else the protocol shows; called only if somebody watches.
Standing = Callable[[], dict[str, Any]]


class RunWatcher(Protocol):
    """Is called at each step of a run. A surface implements it; no decision depends on it."""

    def on_asking(self, due: Due, nature: Nature, attempt: int) -> None:
        """A participant is being asked."""
        ...

    def on_call_ended(self, due: Due, seconds: float) -> None:
        """A call has ended, with or without an answer. The thread of the call says so, while other
        calls may be open; its result follows in `on_outcome`."""
        ...

    def on_outcome(self, outcome: CallOutcome) -> None:
        """The result of a call is known and recorded."""
        ...

    def on_progress(self, due: Due, standing: Standing) -> None:
        """What was due is done or passed over; `standing` returns the present state."""
        ...

    def on_waiting(self, due: Due, seconds: float) -> None:
        """The run waits until the time of this turn is up."""
        ...


class NoWatcher:
    """A watcher that does nothing."""

    def on_asking(self, due: Due, nature: Nature, attempt: int) -> None: ...

    def on_call_ended(self, due: Due, seconds: float) -> None: ...

    def on_outcome(self, outcome: CallOutcome) -> None: ...

    def on_progress(self, due: Due, standing: Standing) -> None: ...

    def on_waiting(self, due: Due, seconds: float) -> None: ...
