"""Do they agree, and how surely? Section 7, in exact arithmetic.

A tally has the latest vote of each agent (A-09) and gives the outcome at any moment. BNC-132:
confidence and threshold stay the decimals that were written, so three times 0.7 averages 0.7, not
a little less (A-13). Divisions are only for display, never for a decision. BNC-129: mode and
threshold come only from the session's rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Context, Decimal, Inexact
from enum import StrEnum
from fractions import Fraction
from typing import Final, NamedTuple

import msgspec

from moot.protocols.debate.model import ConsensusMode, DebateEntry, OutputFormat, Rules, Stance

# Sums and products of at most 60 digits each, for any number of agents a file can name. If that
# were ever wrong, it would be noticed: an inexact result raises.
_EXACT: Final = Context(prec=200, traps=[Inexact])


class ConsensusOutcome(StrEnum):
    REACHED = "reached"
    NOT_REACHED = "not-reached"
    DEADLOCK = "deadlock"
    DISABLED = "disabled"
    INDETERMINATE = "indeterminate"
    BLOCKED = "blocked"


class DebateVote(msgspec.Struct, frozen=True, gc=False):
    stance: Stance
    confidence: Decimal


class ConsensusVerdict(msgspec.Struct, frozen=True):
    """The result of the votes of one round; names are in the order of the agents' list.

    BNC-137, BNC-144: `score` leaves deferring agents out (7.4), unless the session counts them;
    `score_all` counts them in the denominator. The same holds for `reached` and `reached_all`
    (A-05). BNC-133: without approvals there is no mean, and the score is None.
    """

    mode: ConsensusMode
    threshold: Decimal
    outcome: ConsensusOutcome
    reached: bool
    reached_all: bool
    score: Fraction | None
    score_all: Fraction | None
    approvers: tuple[str, ...]
    rejecters: tuple[str, ...]
    neutral: tuple[str, ...]
    deferred: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def is_thin_quorum(self) -> bool:
        """Fewer than half of the listed agents took a position (A-05)."""
        positions = len(self.approvers) + len(self.rejecters) + len(self.neutral)
        return 2 * positions < positions + len(self.deferred) + len(self.missing)


def find_vote(entry: DebateEntry) -> DebateVote | None:
    """Return the vote in an entry: both its parts sound, or none (A-51)."""
    stance, sure = entry.stance, entry.confidence
    return None if stance is None or sure is None else DebateVote(stance, sure)


def compute_consensus(rules: Rules, votes: Mapping[str, DebateVote]) -> ConsensusVerdict:
    """Compute the consensus: what these votes come to under these rules."""
    tally = RunningTally(rules)
    for agent, vote in votes.items():
        tally.set_vote(agent, vote)
    return tally.judge()


class RunningTally:
    """The votes of one round so far; `set_vote` and `outcome` take the same time for any number."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.votes: dict[str, DebateVote] = {}
        self.counts = dict.fromkeys(Stance, 0)
        self.sums = {Stance.APPROVE: Decimal(0), Stance.REJECT: Decimal(0)}
        self.sure_approvers = 0  # approvers whose own confidence meets the threshold

    def set_vote(self, agent: str, vote: DebateVote) -> None:
        """Set the vote of this agent, in place of an earlier one."""
        earlier = self.votes.get(agent)
        if earlier is not None:
            self._count(earlier, -1)
        self.votes[agent] = vote
        self._count(vote, 1)

    def _count(self, vote: DebateVote, sign: int) -> None:
        """BNC-081: approval and rejection weigh by their confidence, the other two by heads only.

        `sign` is 1 to count the vote, and -1 to take it back.
        """
        self.counts[vote.stance] += sign
        if vote.stance in self.sums:
            change = vote.confidence if sign > 0 else -vote.confidence
            self.sums[vote.stance] = _EXACT.add(self.sums[vote.stance], change)
        if vote.stance is Stance.APPROVE and vote.confidence >= self.rules.consensus_threshold:
            self.sure_approvers += sign

    @property
    def outcome(self) -> ConsensusOutcome:
        listed = len(self.rules.agents)
        if self.counts[Stance.DEFER] == listed:  # BNC-138
            return ConsensusOutcome.DEADLOCK
        if self.rules.consensus_threshold == 0:  # BNC-046
            return ConsensusOutcome.DISABLED
        if not self.votes and self.rules.output_format is OutputFormat.FREE_TEXT:
            return ConsensusOutcome.INDETERMINATE
        agreed = self._agreed(self._counted())
        return ConsensusOutcome.REACHED if agreed else ConsensusOutcome.NOT_REACHED

    def _counted(self) -> int:
        """BNC-137: count the listed agents, without deferring ones unless the session does."""
        listed = len(self.rules.agents)
        return listed if self.rules.defer_in_denominator else listed - self.counts[Stance.DEFER]

    def _agreed(self, total: int) -> bool:
        """True if the votes suffice when `total` agents count.

        BNC-048: the threshold is a minimum, so a score equal to it is enough (A-04). To stay exact,
        no mean is computed: the sum is compared with the threshold times the number.
        """
        threshold = self.rules.consensus_threshold
        approvers = self.counts[Stance.APPROVE]
        # BNC-133; BNC-047: a threshold of 1.0 asks for everyone, in every mode.
        if threshold == 0 or not approvers or (threshold == 1 and approvers < total):
            return False
        if self.rules.consensus_mode is ConsensusMode.MAJORITY:
            # BNC-130; BNC-131: half of the heads is not more than half.
            enough = _EXACT.multiply(threshold, Decimal(approvers))
            return 2 * approvers > total and self.sums[Stance.APPROVE] >= enough
        if self.rules.consensus_mode is ConsensusMode.WEIGHTED:
            return self._balance() >= _EXACT.multiply(threshold, Decimal(total))  # BNC-142
        return approvers == total == self.sure_approvers  # BNC-136

    def _balance(self) -> Decimal:
        """BNC-134: the confidence of those who approve, less that of those who reject."""
        return _EXACT.subtract(self.sums[Stance.APPROVE], self.sums[Stance.REJECT])

    def _score(self, total: int) -> Fraction | None:
        """Return the number that people are shown for this mode.

        BNC-135: nobody weighs more than 1, so a weighted score cannot leave -1 to 1.
        """
        approvers = self.counts[Stance.APPROVE]
        if self.rules.consensus_mode is ConsensusMode.WEIGHTED:
            return Fraction(self._balance()) / total if total else Fraction(0)
        if self.rules.consensus_mode is ConsensusMode.MAJORITY:
            return Fraction(self.sums[Stance.APPROVE]) / approvers if approvers else None
        if not approvers or approvers < total:
            return Fraction(0)
        return Fraction(min(vote.confidence for vote in self._approving()))

    def _approving(self) -> Iterable[DebateVote]:
        return (vote for vote in self.votes.values() if vote.stance is Stance.APPROVE)

    def judge(self) -> ConsensusVerdict:
        listed = len(self.rules.agents)
        outcome = self.outcome
        return ConsensusVerdict(
            mode=self.rules.consensus_mode,
            threshold=self.rules.consensus_threshold,
            outcome=outcome,
            reached=outcome is ConsensusOutcome.REACHED,
            reached_all=outcome is ConsensusOutcome.REACHED and self._agreed(listed),
            score=self._score(self._counted()),
            score_all=self._score(listed),
            approvers=self._who(Stance.APPROVE),
            rejecters=self._who(Stance.REJECT),
            neutral=self._who(Stance.NEUTRAL),
            deferred=self._who(Stance.DEFER),
            missing=tuple(agent for agent in self.rules.agents if agent not in self.votes),
        )

    def _who(self, stance: Stance) -> tuple[str, ...]:
        votes = self.votes
        return tuple(
            agent for agent in self.rules.agents if agent in votes and votes[agent].stance is stance
        )


# A weakness of rules that use confidence: more approval can stop a motion.
#
# The code tries a few votes, the smallest example first, with the rule itself.

# The strongest example first: a rejection that turns into an approval.
_BEFORE: Final = (Stance.REJECT, Stance.NEUTRAL, Stance.DEFER)
_VERBS: Final = {Stance.REJECT: "rejects", Stance.NEUTRAL: "is neutral", Stance.DEFER: "defers"}
_APPROVE: Final = {1: "one approves", 2: "two approve"}
_UNSURE: Final = (Decimal("0.2"), Decimal("0.1"), Decimal(0))
_MARGIN: Final = Decimal("0.1")


class StoppedByApproval(NamedTuple):
    """`approving` agents approve and another one does not: it carries. That one approves too, and
    it fails."""

    approving: int
    sure: Decimal
    before: Stance
    unsure: Decimal

    @property
    def sentence(self) -> str:
        return (
            f"More approval can stop a motion: {_APPROVE[self.approving]} at {self.sure:f} and one "
            f"{_VERBS[self.before]}, and it carries; that one turns to approve at "
            f"{self.unsure:f}, and it fails."
        )


def find_stopping_approval(mode: ConsensusMode, threshold: Decimal) -> StoppedByApproval | None:
    """Return the smallest example for a rule; None if it has none, such as a count of heads."""
    for example in _examples(threshold):
        certain = [DebateVote(Stance.APPROVE, example.sure)] * example.approving
        before = DebateVote(example.before, example.sure)
        after = DebateVote(Stance.APPROVE, example.unsure)
        carried = _carries(mode, threshold, [*certain, before])
        if carried and not _carries(mode, threshold, [*certain, after]):
            return example
    return None


def _examples(threshold: Decimal) -> Iterator[StoppedByApproval]:
    sure = min(Decimal(1), threshold + _MARGIN)
    for before in _BEFORE:
        for approving in _APPROVE:
            for unsure in _UNSURE:
                yield StoppedByApproval(approving, sure, before, unsure)


def _carries(mode: ConsensusMode, threshold: Decimal, votes: list[DebateVote]) -> bool:
    cast = {f"agent-{number}": vote for number, vote in enumerate(votes)}
    rules = Rules(tuple(cast), consensus_threshold=threshold, consensus_mode=mode, max_rounds=1)
    return bool(compute_consensus(rules, cast).reached)
