"""Judge what a finished debate means for its decision: its result, and who took part.

Bounce counts a participant that failed as deferring (7.4). A decision counts it as absent: neither
as a vote nor as dissent. If half of those asked are absent there is no quorum, whatever the others
agreed on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.core.failed_answer import find_failed_answer
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.consensus import ConsensusOutcome
from moot.protocols.debate.course import DebateRound, is_placeholder
from moot.protocols.debate.model import ConsensusMode, DebateEntry
from moot.protocols.debate.views import require_course, view_consensus
from moot.protocols.decision.model import DecisionResult

if TYPE_CHECKING:
    from moot.protocols.debate.views import ConsensusView


# A majority is more than half of those who count; their mean confidence is a second condition.
# So the text shows both, and what was needed next to what was missing.
_SIDES: Final = (
    ("approvers", "approve"),
    ("rejecters", "reject"),
    ("neutral", "neutral"),
    ("deferred", "defer"),
    ("missing", "silent"),
)


def describe_outcome(result: ConsensusView, absent: Collection[str] = ()) -> str:
    """`1 approve, 1 reject: not agreed (majority, 1 of 2 votes, more than half needed; ...)`.

    The session's policy wrote an entry for each `absent` agent; it does not count as theirs.
    """
    reason = f"{explain_tally(result)}{_describe_silence(result, absent)}"
    return f"{_count_votes(result, absent)} ({reason})"


def _describe_silence(result: ConsensusView, absent: Collection[str]) -> str:
    """Say how many took no position, so that a result of few does not look like one of all."""
    listed = sum(len(getattr(result, name)) for name, _ in _SIDES)
    positions = (*result.approvers, *result.rejecters, *result.neutral)
    spoke = sum(name not in absent for name in positions)
    if not spoke:
        return "; nobody took a position"
    return f"; only {spoke} of {listed} took a position" if spoke < listed else ""


def _count_votes(result: ConsensusView, absent: Collection[str]) -> str:
    sides = [(getattr(result, name), word) for name, word in _SIDES]
    present = [([name for name in names if name not in absent], word) for names, word in sides]
    counts = [f"{len(names)} {word}" for names, word in (*present, (absent, "absent")) if names]
    verdict = "agreed" if result.reached else "not agreed"
    return f"{', '.join(counts) or 'nobody spoke'}: {verdict}"


def explain_tally(result: ConsensusView) -> str:
    """Explain the rule: `majority, 2 of 3 votes, more than half needed; confidence 0.775`."""
    if result.outcome is ConsensusOutcome.DISABLED:
        return f"{result.mode}, switched off by a threshold of 0"
    if result.outcome is ConsensusOutcome.DEADLOCK:
        return f"{result.mode}, everyone deferred"
    if result.mode is ConsensusMode.WEIGHTED:
        return f"weighted, balance {result.score:.4g}, {result.threshold:g} needed"
    votes, listed = len(result.approvers), sum(len(getattr(result, name)) for name, _ in _SIDES)
    counted = listed if result.defer_in_denominator else listed - len(result.deferred)
    every = result.mode is ConsensusMode.UNANIMOUS or result.threshold == 1
    needed = "all needed" if every else "more than half needed"
    sentence = f"{result.mode}, {votes} of {counted} votes, {needed}"
    return (
        f"{sentence}{_describe_confidence(result)}"
        if votes and (votes == counted or not every)
        else sentence
    )


def _describe_confidence(result: ConsensusView) -> str:
    """Say how sure the approvers are, and what was needed if that is not enough."""
    score = result.score or 0.0
    label = "lowest confidence" if result.mode is ConsensusMode.UNANIMOUS else "confidence"
    needed = f", {result.threshold:g} needed" if score < result.threshold else ""
    return f"; {label} {score:.4g}{needed}"


RESULTS: Final[Mapping[str, DecisionResult]] = {
    "ended:consensus": DecisionResult.CARRIED,
    "ended:deadlock": DecisionResult.DEADLOCK,
    "ended:max-rounds": DecisionResult.NOT_CARRIED,
    "ended:closed-by-operator": DecisionResult.CLOSED,
}
TIMED_OUT: Final = "Turn timed out."


class DebateVerdict(NamedTuple):
    """A debate's result; `result` is None until it ends, `objectors` are those who rejected."""

    result: DecisionResult | None
    summary: str
    score: str
    approvers: tuple[str, ...]
    objectors: tuple[str, ...]
    absent: tuple[str, ...]


def judge_debate(checked: CheckedSession, quorum: int = 0) -> DebateVerdict:
    """Judge the round that ended the session, or the latest one if it has not ended.

    `quorum` is how many must take part; 0 means more than half of those asked.
    """
    course = require_course(checked)
    consensus = view_consensus(checked, course.ended_at_round)
    decided = course.find_round(consensus.round) if consensus.round is not None else None
    absent = find_absent(decided, course.rules.agents)
    asked = len(course.rules.agents)
    result = RESULTS.get(course.phase.value)
    summary = describe_outcome(consensus, absent)
    if result not in (None, DecisionResult.CLOSED) and not is_quorum(
        asked - len(absent), asked, quorum
    ):
        result = DecisionResult.NO_QUORUM
        needed = f"{quorum} needed" if quorum else "more than half needed"
        summary += f"; no quorum: {asked - len(absent)} of {asked} took part, {needed}"
    return DebateVerdict(
        result,
        summary,
        "" if consensus.score is None else f"{consensus.score:.4f}",
        tuple(name for name in consensus.approvers if name not in absent),
        tuple(name for name in consensus.rejecters if name not in absent),
        absent,
    )


def is_quorum(present: int, asked: int, quorum: int = 0) -> bool:
    """Return whether enough took part: `quorum`, or more than half if it is 0 (DEC-033)."""
    return present >= quorum if quorum else 2 * present > asked


def find_absent(debate_round: DebateRound | None, agents: tuple[str, ...]) -> tuple[str, ...]:
    """Return who wrote no entry in the round; an entry that the policy wrote does not count."""
    entries = debate_round.entries if debate_round is not None else ()
    present = {entry.author for entry in entries if not is_placeholder(entry)}
    return tuple(agent for agent in agents if agent not in present)


def explain_absence(entry: DebateEntry) -> str:
    """Return the sentence of a policy's entry that says why its agent was absent."""
    summary = entry.field_value("summary")
    failure = find_failed_answer(summary)
    if failure is not None:
        return failure.sentence
    return TIMED_OUT if summary.startswith(TIMED_OUT) else summary
