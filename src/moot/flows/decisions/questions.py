"""Questions on record: seated, put under an id, and read back.

A name is never given twice, so whatever is wrong is found before one is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from moot.agents.seats import Room
from moot.agents.spec import Spec, read_spec
from moot.core.errors import NotFound, Refused
from moot.core.machine import Acting, Context, KeyClass
from moot.core.names import SYSTEM
from moot.core.record import ArtifactRef
from moot.engine.job import as_refused
from moot.flows.runs.seats import ELSEWHERE, named, require_once, seated, seats_of
from moot.protocols.debate.model import ConsensusMode
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE, QUESTIONS
from moot.protocols.decision.model import ChamberKind, DecisionSeat, Stage, State
from moot.workspace.workspace import Workspace

TEXT: Final = "text/markdown"


class Question(NamedTuple):
    """What is asked, of whom, and how it is settled."""

    text: str
    specs: tuple[Spec, ...]
    context: str = ""
    options: tuple[str, ...] = ()
    rule: ConsensusMode = ConsensusMode.MAJORITY
    rounds: int = 2
    chamber: ChamberKind = ChamberKind.DEBATE
    motives: Mapping[str, tuple[str, ...]] = {}


def begin(workspace: Workspace, question: Question, room: Room) -> tuple[str, dict[str, Spec]]:
    """Seat everybody and put the question on record, under the next free id.

    A name is never given twice, so whatever is wrong must be found before one is.
    """
    require_once(question.specs)
    rehearsal = {
        spec.name or f"some-body-{place}": spec for place, spec in enumerate(question.specs)
    }
    _require_known(question.motives, rehearsal)
    seats = tuple(DecisionSeat(name, ELSEWHERE, "") for name in rehearsal)
    acting = Acting(SYSTEM, 1, "", KeyClass.SYSTEM)
    context = Context(workspace.engine.clock(), acting, stream_of("q-0"), workspace.trust.origin)
    rehearsed = MACHINE.decide(State(), _question(question, seats, None), context)
    if rehearsed.refused:
        raise as_refused(rehearsed)
    seated(rehearsal, room)
    specs = named(workspace, question.specs)
    about = stored(workspace, question.context) if question.context.strip() else None
    seats = seats_of(workspace, tuple(specs), specs, seated(specs, room))
    return put(workspace, _question(question, seats, about)), specs


def _question(
    question: Question, seats: tuple[DecisionSeat, ...], about: ArtifactRef | None
) -> ask.AskQuestion:
    told = question.motives
    return ask.AskQuestion(
        question=question.text,
        seats=tuple(replace(seat, motives=told.get(seat.agent, ())) for seat in seats),
        chamber=question.chamber,
        rule=question.rule.value,
        rounds=question.rounds,
        options=question.options,
        context=about,
    )


def _require_known(motives: Mapping[str, tuple[str, ...]], names: Iterable[str]) -> None:
    for name in motives:
        if name not in names:
            raise Refused(
                "not_a_participant",
                f"{name} takes no part in this",
                hint='name it in --with, such as "amber-otter=cmd:claude -p"',
            )


def put(workspace: Workspace, command: ask.AskQuestion) -> str:
    """`q-1`, `q-2`, ...; another process may take one between the look and the act."""
    number = 1 + sum(_is_number(key) for key in _questions(workspace))
    while True:
        decision = f"q-{number}"
        try:
            workspace.engine.execute(stream_of(decision), command, SYSTEM)
        except Refused as refused:
            if refused.code != "id_taken":
                raise
            number += 1
        else:
            return decision


def _questions(workspace: Workspace) -> list[str]:
    with workspace.store.read() as view:
        return [row.key for row in view.rows(QUESTIONS, limit=100_000)]


def _is_number(stream: str) -> bool:
    return stream.startswith(stream_of("q-"))


def stored(workspace: Workspace, text: str) -> ArtifactRef:
    return workspace.artifacts.put(text.encode(), TEXT)


def text_of(workspace: Workspace, sha256: str | None) -> str:
    return "" if sha256 is None else b"".join(workspace.artifacts.chunks(sha256)).decode()


def id_of(named: str) -> str:
    """`q-7`, also of `decision/q-7`, which is what an agenda shows."""
    return named.removeprefix(stream_of(""))


def state_of(workspace: Workspace, decision: str) -> State:
    """The decision as recorded; NotFound if nothing was asked under this id."""
    state: State = workspace.engine.state(stream_of(decision))
    if state.stage is Stage.NEW:
        raise NotFound(
            "decision_not_found",
            f"no decision is called {decision}",
            hint="`moot agenda` shows what waits; `moot ask` begins one",
        )
    return state


def question_of(workspace: Workspace, decision: str) -> State:
    """One that is argued and decided; Refused where only the costs of a run are kept."""
    state = state_of(workspace, decision)
    if state.chamber in (ChamberKind.TRACE, ChamberKind.MAIL):
        raise Refused(
            "not_a_decision",
            f"{decision} keeps the costs of a run: nothing is argued or decided there",
            hint=f"`moot ledger log {stream_of(decision)}` shows it",
        )
    return state


def recorded_specs(state: State) -> dict[str, Spec]:
    """The participants as they were named; Refused if the record does not hold all of a spec."""
    specs = {seat.agent: read_spec(seat.spec) for seat in state.seats if seat.spec}
    cut = [seat.agent for seat in state.seats if "…" in seat.spec]
    if cut:
        raise Refused(
            "spec_incomplete",
            f"the record does not hold the whole command of {', '.join(cut)}",
            hint="name the participants again: --with NAME=SPEC,...",
        )
    return specs
