"""A decision as a story tells it: the question, who stood where in each round, vote and ruling.

The words are the chamber's own, in one line each; everything in full is in `moot report ID`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

import msgspec

from moot import pages as page
from moot.core.clock import to_text
from moot.core.quoted import Quoted
from moot.flows.bridges.moments import shortened
from moot.flows.decisions.argument import ArguedVote
from moot.flows.decisions.questions import read_text
from moot.flows.decisions.receipt_content import describe_outcome, summarize_argument
from moot.flows.decisions.receipt_tables import TONES
from moot.protocols.decision import PROTOCOL
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import ChamberKind, Stage, State
from moot.protocols.decision.views import list_answers
from moot.workspace.workspace import Workspace

ARGUED: Final = frozenset({ChamberKind.DEBATE, ChamberKind.PARLIAMENT})
BADGES: Final[dict[str, tuple[str, page.Tone]]] = {
    Stage.APPROVED: ("APPROVED", "good"),
    Stage.VETOED: ("VETOED", "bad"),
    Stage.AMENDED: ("AMENDED", "good"),
    Stage.WAITING: ("WAITING FOR A PERSON", "caution"),
}


class DecisionInStory(msgspec.Struct, frozen=True):
    """One decision. `session` is the stream in which it was argued last, empty before that, and
    `sessions` are all of them; `result` and `outcome` are empty before the vote; `word` is what a
    person ruled, if one did."""

    id: str
    question: Quoted
    stage: str
    chamber: str
    session: str
    motion: str
    answers: tuple[dict[str, Any], ...]
    votes: tuple[ArguedVote, ...]
    result: str
    outcome: str
    dissent: tuple[str, ...]
    word: dict[str, Any] | None
    supersedes: str | None
    superseded_by: str | None
    sessions: tuple[str, ...] = ()

    def in_lines(self) -> Iterator[str]:
        """The decision in short, a line for each who spoke."""
        yield f"{self.id}: {badge(self)[0].lower()}, argued in a {self.chamber}"
        for first in self.answers:
            yield f"first answer of {first['agent']}: {_describe_answer(first)}"
        if self.motion:
            yield f"motion: {shortened(self.motion)}"
        for number, votes in groupby(self.votes, key=lambda vote: vote.round):
            yield f"round {number}"
            yield from (f"  {_stance(vote)}: {shortened(vote.summary)}" for vote in votes)
        yield from (f"{name}: {text}" for name, text in _ending(self))


def list_decisions(workspace: Workspace, streams: Iterable[str]) -> list[DecisionInStory]:
    """Those of these streams that are decisions; the books of a run are none."""
    names = [one for one in streams if one.startswith(f"{PROTOCOL}/")]
    states = [(name, workspace.engine.state(DECISION, name)) for name in names]
    return [
        _describe(workspace, name.partition("/")[2], state)
        for name, state in states
        if state.chamber in ARGUED and state.stage is not Stage.NEW
    ]


def _describe(workspace: Workspace, name: str, state: State) -> DecisionInStory:
    argument, verdict = summarize_argument(workspace, name, state), state.verdict
    return DecisionInStory(
        id=name,
        question=Quoted(state.question),
        stage=state.stage.value,
        chamber=state.chamber.value,
        session=state.session.id if state.session else "",
        sessions=tuple(session.id for session in state.sessions),
        motion=state.motion.text if state.motion else "",
        answers=tuple(msgspec.to_builtins(one) for one in list_answers(state)),
        votes=argument.votes,
        result=verdict.result.value if verdict else "",
        outcome=describe_outcome(state, argument),
        dissent=verdict.dissent if verdict else (),
        word=_ruling(workspace, state),
        supersedes=state.supersedes,
        superseded_by=state.superseded_by,
    )


def _ruling(workspace: Workspace, state: State) -> dict[str, Any] | None:
    """`text` is what stands instead of the motion; empty if that is the motion, or was erased."""
    ruling = state.word
    if ruling is None:
        return None
    stored = ruling.text is not None and workspace.artifacts.has(ruling.text)
    return {
        "word": ruling.word.value,
        "by": ruling.by,
        "reason": ruling.reason,
        "at": to_text(ruling.at),
        "text": read_text(workspace, ruling.text) if stored else "",
    }


# For people ---------------------------------------------------------------------------------------


def badge(decision: DecisionInStory) -> tuple[str, page.Tone]:
    return BADGES.get(decision.stage, ("NOT DECIDED", "neutral"))


def _describe_answer(first: dict[str, Any]) -> str:
    return shortened(first["answer"] if first["answer"] is not None else f"none ({first['why']})")


def _stance(vote: ArguedVote) -> str:
    return " ".join(filter(None, (vote.agent, vote.stance, vote.sure)))


def _ending(decision: DecisionInStory) -> Iterator[tuple[str, str]]:
    """The vote, who was against it, the person's ruling, and what came of that."""
    if decision.result:
        yield "the vote", f"{decision.result}: {decision.outcome}"
    if decision.dissent:
        yield "dissent", ", ".join(decision.dissent)
    ruling = decision.word
    if ruling is not None:
        yield f"{ruling['by']} said", f"{ruling['word']}: {shortened(ruling['reason'])}"
        if ruling["text"]:
            yield "decided instead", shortened(ruling["text"])
    if decision.supersedes:
        yield "supersedes", decision.supersedes
    if decision.superseded_by:
        yield "superseded by", decision.superseded_by


def list_facts(decision: DecisionInStory) -> tuple[page.Fact, ...]:
    return tuple(page.Fact(name, text) for name, text in _ending(decision))


def build_blocks(decision: DecisionInStory) -> Iterator[page.Block]:
    """What each answered alone, then where each stood in every round."""
    yield page.Table(
        ("Who", "First answer"),
        tuple((first["agent"], _describe_answer(first)) for first in decision.answers),
        title=f"{decision.id}: first answers, before anyone heard the others",
    )
    yield page.Table(
        ("Round", "Who", "Stance", "In short"),
        tuple(
            (
                str(vote.round),
                vote.agent,
                page.Cell(vote.stance, TONES.get(vote.stance, "plain"), vote.sure),
                shortened(vote.summary),
            )
            for vote in decision.votes
        ),
        title=f"{decision.id}: what was said in the {decision.chamber}",
    )
