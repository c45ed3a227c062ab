"""Whether a motion is argued once more, and which objection is then put to everybody.

No model judges which objection is the strongest: the surest one is, and among equals the one that
has stood longest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from moot.flows.decisions.debate_result import ArguedRound
from moot.flows.decisions.session_context import ContextSection
from moot.flows.runs.debate_verdict import DebateVerdict
from moot.protocols.debate.consensus import DebateVote
from moot.protocols.debate.model import DebateEntry, Stance
from moot.protocols.decision.model import DecisionResult

MOST_QUOTED: Final = 4_000
# What stands against a motion; where nobody rejects it, whoever could not say yes is heard.
_AGAINST: Final = (Stance.REJECT, Stance.NEUTRAL, Stance.DEFER)


class Objection(NamedTuple):
    """What somebody has against the motion, and since which round."""

    vote: DebateVote
    since: int
    entry: DebateEntry

    @property
    def as_section(self) -> ContextSection:
        sure = f"{self.vote.stance.value}, confidence {self.vote.confidence:f}"
        heading = f"The strongest objection in round {self.entry.round}, by {self.entry.author}"
        summary, body = self.entry.field_value("summary"), self.entry.body.strip()
        text = summary if not body else f"{summary}\n\n{body}"
        text = text if len(text) <= MOST_QUOTED else f"{text[: MOST_QUOTED - 1]}…"
        return ContextSection(f"{heading} ({sure})", text)


def needs_another_round(
    rounds: Sequence[ArguedRound], verdict: DebateVerdict, most_rounds: int
) -> bool:
    """Is there an objection, or did it not carry; and may, and could, another round change that?

    From the third round on one is held only if somebody moved in the last (G-20).
    """
    if verdict.result in (None, DecisionResult.CLOSED) or len(rounds) >= most_rounds:
        return False
    if verdict.result is DecisionResult.CARRIED and not verdict.objectors:
        return False
    return len(rounds) < 2 or _stances(rounds[-2]) != _stances(rounds[-1])


def _stances(argued: ArguedRound) -> dict[str, Stance]:
    return {agent: vote.stance for agent, vote in argued.votes.items()}


def find_strongest_objection(rounds: Sequence[ArguedRound]) -> Objection | None:
    """The surest reject of the last round, else the longest-standing doubt; None if all approve."""
    objections = list(_objections(rounds))
    rejects = [each for each in objections if each.vote.stance is Stance.REJECT]
    if rejects:
        return min(rejects, key=lambda each: (-each.vote.confidence, each.since))
    return min(objections, key=lambda each: each.since, default=None)


def _objections(rounds: Sequence[ArguedRound]) -> Iterator[Objection]:
    """Everybody who did not approve in the last round, as they spoke."""
    last = rounds[-1]
    for agent, entry in last.latest_entries.items():
        vote = last.votes.get(agent)
        if vote is not None and vote.stance in _AGAINST:
            yield Objection(vote, _stands_since(rounds, agent, vote.stance), entry)


def _stands_since(rounds: Sequence[ArguedRound], agent: str, stance: Stance) -> int:
    """The first round of the unbroken row in which this agent said the same."""
    since = rounds[-1].number
    for argued in reversed(rounds):
        vote = argued.votes.get(agent)
        if vote is None or vote.stance is not stance:
            break
        since = argued.number
    return since
