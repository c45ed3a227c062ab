"""A decision as a story tells it: the question, who stood where in each round, the vote, the word.

The words are the chamber's own, in one line each; everything in full is in `moot report ID`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

import msgspec

from moot import pages as page
from moot.core.clock import to_text
from moot.flows.bridges.moments import shortened
from moot.flows.decisions.argument import CastVote
from moot.flows.decisions.questions import read_text
from moot.flows.decisions.receipt_content import describe_outcome, summarize_argument
from moot.flows.decisions.receipt_tables import TONES
from moot.protocols.decision import PROTOCOL
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


class Decided(msgspec.Struct, frozen=True):
    """One decision. `session` is the stream in which it was argued, empty before that; `result`
    and `outcome` are empty before the vote; `word` is what a person said, if one did."""

    id: str
    question: str
    stage: str
    chamber: str
    session: str
    motion: str
    answers: tuple[dict[str, Any], ...]
    votes: tuple[CastVote, ...]
    result: str
    outcome: str
    dissent: tuple[str, ...]
    word: dict[str, Any] | None
    supersedes: str | None
    superseded_by: str | None


def decisions_in(workspace: Workspace, streams: Iterable[str]) -> list[Decided]:
    """Those of these streams that are decisions; the books of a run are none."""
    names = [one for one in streams if one.startswith(f"{PROTOCOL}/")]
    states: list[tuple[str, State]] = [(name, workspace.engine.state(name)) for name in names]
    return [
        _decided(workspace, name.partition("/")[2], state)
        for name, state in states
        if state.chamber in ARGUED and state.stage is not Stage.NEW
    ]


def _decided(workspace: Workspace, name: str, state: State) -> Decided:
    argument, verdict = summarize_argument(workspace, name, state), state.verdict
    return Decided(
        id=name,
        question=state.question,
        stage=state.stage.value,
        chamber=state.chamber.value,
        session=state.session.id if state.session else "",
        motion=state.motion.text if state.motion else "",
        answers=tuple(msgspec.to_builtins(one) for one in list_answers(state)),
        votes=argument.votes,
        result=verdict.result.value if verdict else "",
        outcome=describe_outcome(state, argument),
        dissent=verdict.dissent if verdict else (),
        word=_word(workspace, state),
        supersedes=state.supersedes,
        superseded_by=state.superseded_by,
    )


def _word(workspace: Workspace, state: State) -> dict[str, Any] | None:
    """`text` is what stands instead of the motion; empty if that is the motion, or was erased."""
    word = state.word
    if word is None:
        return None
    there = word.text is not None and workspace.artifacts.has(word.text)
    said = {"word": word.word.value, "by": word.by, "reason": word.reason, "at": to_text(word.at)}
    return {**said, "text": read_text(workspace, word.text) if there else ""}


# For people ---------------------------------------------------------------------------------------


def lines(one: Decided) -> Iterator[str]:
    """The decision in short, a line a voice."""
    yield f"{one.id}: {badge(one)[0].lower()}, argued in a {one.chamber}"
    for given in one.answers:
        yield f"first answer of {given['agent']}: {_answer(given)}"
    if one.motion:
        yield f"motion: {shortened(one.motion)}"
    for number, votes in groupby(one.votes, key=lambda vote: vote.round):
        yield f"round {number}"
        yield from (f"  {_stance(vote)}: {shortened(vote.summary)}" for vote in votes)
    yield from (f"{name}: {said}" for name, said in _ending(one))


def badge(one: Decided) -> tuple[str, page.Tone]:
    return BADGES.get(one.stage, ("NOT DECIDED", "neutral"))


def _answer(given: dict[str, Any]) -> str:
    return shortened(given["answer"] if given["answer"] is not None else f"none ({given['why']})")


def _stance(vote: CastVote) -> str:
    return " ".join(filter(None, (vote.agent, vote.stance, vote.sure)))


def _ending(one: Decided) -> Iterator[tuple[str, str]]:
    """The vote, who was against it, the person's word, and what came of that."""
    if one.result:
        yield "the vote", f"{one.result}: {one.outcome}"
    if one.dissent:
        yield "dissent", ", ".join(one.dissent)
    if one.word is not None:
        yield f"{one.word['by']} said", f"{one.word['word']}: {shortened(one.word['reason'])}"
        if one.word["text"]:
            yield "decided instead", shortened(one.word["text"])
    if one.supersedes:
        yield "supersedes", one.supersedes
    if one.superseded_by:
        yield "superseded by", one.superseded_by


def facts(one: Decided) -> tuple[page.Fact, ...]:
    return tuple(page.Fact(name, said) for name, said in _ending(one))


def blocks(one: Decided) -> Iterator[page.Block]:
    """What each answered alone, then where each stood in every round."""
    yield page.Table(
        ("Who", "First answer"),
        tuple((given["agent"], _answer(given)) for given in one.answers),
        title=f"{one.id}: first answers, before anyone heard the others",
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
            for vote in one.votes
        ),
        title=f"{one.id}: what was said in the {one.chamber}",
    )
