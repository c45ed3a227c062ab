"""What a rule of consensus lacks: where it asks for confidence, more approval can stop a motion.

The example is looked for among a few votes, the smallest first, and worked out by the rule itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final, NamedTuple

from moot.protocols.debate.consensus import DebateVote, compute_consensus
from moot.protocols.debate.model import ConsensusMode, Rules, Stance

# A vote against that turns is the strongest example; one who had no say the next.
_BEFORE: Final = (Stance.REJECT, Stance.NEUTRAL, Stance.DEFER)
_VERBS: Final = {Stance.REJECT: "rejects", Stance.NEUTRAL: "is neutral", Stance.DEFER: "defers"}
_APPROVE: Final = {1: "one approves", 2: "two approve"}
_UNSURE: Final = (Decimal("0.2"), Decimal("0.1"), Decimal(0))
_MARGIN: Final = Decimal("0.1")


class StoppedByApproval(NamedTuple):
    """So many approve, each so sure, and one does not: it carries. That one turns, and it fails."""

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
    """The smallest example for a rule; None if it has none, as where heads alone are counted."""
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
