"""What a debate came to, in one line: who stood where, and the share that decides it.

By heads a majority is more than half of those who count, however sure they are; their mean
confidence is a second condition. So both are shown, and what is needed beside what was missing.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from moot.protocols.debate.consensus import ConsensusOutcome
from moot.protocols.debate.model import ConsensusMode

if TYPE_CHECKING:
    from moot.protocols.debate.views import ConsensusView

_SIDES: Final = (
    ("approvers", "approve"),
    ("rejecters", "reject"),
    ("neutral", "neutral"),
    ("deferred", "defer"),
    ("missing", "silent"),
)


def describe_outcome(result: ConsensusView, absent: Collection[str] = ()) -> str:
    """`1 approve, 1 reject: not agreed (majority, 1 of 2 votes, more than half needed; ...)`.

    Whoever is `absent` did not say what the session's policy wrote in its place.
    """
    return f"{_counted(result, absent)} ({explain_tally(result)}{_silent(result, absent)})"


def _silent(result: ConsensusView, absent: Collection[str]) -> str:
    """Those who deferred or were silent: what the others agreed on is not everybody's."""
    listed = sum(len(getattr(result, name)) for name, _ in _SIDES)
    positions = (*result.approvers, *result.rejecters, *result.neutral)
    spoke = sum(name not in absent for name in positions)
    if not spoke:
        return "; nobody took a position"
    return f"; only {spoke} of {listed} took a position" if spoke < listed else ""


def _counted(result: ConsensusView, absent: Collection[str]) -> str:
    sides = [(getattr(result, name), word) for name, word in _SIDES]
    present = [([name for name in names if name not in absent], word) for names, word in sides]
    counts = [f"{len(names)} {word}" for names, word in (*present, (absent, "absent")) if names]
    verdict = "agreed" if result.reached else "not agreed"
    return f"{', '.join(counts) or 'nobody spoke'}: {verdict}"


def explain_tally(result: ConsensusView) -> str:
    """`majority, 2 of 3 votes, more than half needed; confidence 0.775`: what the rule looks at."""
    if result.outcome is ConsensusOutcome.DISABLED:
        return f"{result.mode}, switched off by a threshold of 0"
    if result.outcome is ConsensusOutcome.DEADLOCK:
        return f"{result.mode}, everyone deferred"
    if result.mode is ConsensusMode.WEIGHTED:
        return f"weighted, balance {result.score:.4g}, {result.threshold:g} needed"
    votes, counted = len(result.approvers), _those_who_count(result)
    every = result.mode is ConsensusMode.UNANIMOUS or result.threshold == 1
    needed = "all needed" if every else "more than half needed"
    sentence = f"{result.mode}, {votes} of {counted} votes, {needed}"
    return f"{sentence}{_sure(result)}" if votes and (votes == counted or not every) else sentence


def _those_who_count(result: ConsensusView) -> int:
    """Those who defer are left out, unless the session counts them."""
    listed = sum(len(getattr(result, name)) for name, _ in _SIDES)
    return listed if result.defer_in_denominator else listed - len(result.deferred)


def _sure(result: ConsensusView) -> str:
    """How sure the approvers are; what is needed only where that is missing."""
    score = result.score or 0.0
    least = "lowest confidence" if result.mode is ConsensusMode.UNANIMOUS else "confidence"
    needed = f", {result.threshold:g} needed" if score < result.threshold else ""
    return f"; {least} {score:.4g}{needed}"
