"""What a debate that is over means for its decision: the session's own result, and who was there.

Bounce counts whoever failed as deferring (7.4). A decision counts it as absent: neither a vote nor
dissent, and with half of those asked absent there is no quorum, whatever the others agreed on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from moot.core.failed_answer import find_failed_answer
from moot.flows.debate.outcome import describe_outcome
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.course import DebateRound, is_placeholder
from moot.protocols.debate.model import DebateEntry
from moot.protocols.debate.views import require_course, view_consensus
from moot.protocols.decision.model import DecisionResult

RESULTS: Final[Mapping[str, DecisionResult]] = {
    "ended:consensus": DecisionResult.CARRIED,
    "ended:deadlock": DecisionResult.DEADLOCK,
    "ended:max-rounds": DecisionResult.NOT_CARRIED,
    "ended:closed-by-operator": DecisionResult.CLOSED,
}
TIMED_OUT: Final = "Turn timed out."


class DebateVerdict(NamedTuple):
    """`result` is None while the session goes on; `objectors` are those who rejected it."""

    result: DecisionResult | None
    summary: str
    score: str
    approvers: tuple[str, ...]
    objectors: tuple[str, ...]
    absent: tuple[str, ...]


def judge_debate(checked: CheckedSession, quorum: int = 0) -> DebateVerdict:
    """The verdict of the round that ended the session; of the latest one, if it goes on.

    `quorum` is how many must have taken part; 0 means more than half of those asked.
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
    """As many took part as the decision wants, else more than half of those asked (DEC-033)."""
    return present >= quorum if quorum else 2 * present > asked


def find_absent(debate_round: DebateRound | None, agents: tuple[str, ...]) -> tuple[str, ...]:
    """Whoever has no entry of its own in the round; what the policy wrote is nobody's."""
    entries = debate_round.entries if debate_round is not None else ()
    present = {entry.author for entry in entries if not is_placeholder(entry)}
    return tuple(agent for agent in agents if agent not in present)


def why_absent(entry: DebateEntry) -> str:
    """The sentence by which an entry that the policy wrote tells what happened."""
    summary = entry.field_value("summary")
    failure = find_failed_answer(summary)
    if failure is not None:
        return failure.sentence
    return TIMED_OUT if summary.startswith(TIMED_OUT) else summary
