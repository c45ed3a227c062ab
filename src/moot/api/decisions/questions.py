"""Record questions with their seats under a new id, and read them back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from moot.agents.participant import Spec, read_spec, read_specs
from moot.agents.participant_kinds import RunSurroundings
from moot.api.rehearsal import require_allowed
from moot.api.runs.seats import (
    ELSEWHERE,
    describe_seats,
    name_specs,
    require_distinct_names,
    seat_participants,
)
from moot.core.errors import Malformed, NotFound, Refused
from moot.core.machine import KeyClass, VerifiedActor
from moot.core.names import SYSTEM
from moot.core.record import ArtifactRef
from moot.protocols.debate.model import ConsensusMode
from moot.protocols.decision import stream_of
from moot.protocols.decision.commands import AskQuestion
from moot.protocols.decision.machine import MACHINE, QUESTIONS
from moot.protocols.decision.model import ChamberKind, DecisionSeat, Stage, State
from moot.workspace.workspace import Workspace

TEXT_TYPE: Final = "text/markdown"
# Runs of traces and mail keep their costs in a decision too, but ask nothing.
_CHAMBERS: Final = (ChamberKind.DEBATE, ChamberKind.PARLIAMENT)


class Question(msgspec.Struct, frozen=True):
    """What is asked, of whom, and how it is settled.

    `participants` are texts such as "cmd:claude -p" or "amber-otter=rules:approve"; one without a
    name gets a new one. `options` are answers to choose from. `rule` is majority, weighted or
    unanimous, `chamber` debate or parliament. `motives` are what a name argues for in a parliament.
    `choose` is plurality, borda or condorcet: how the motion is picked from several answers, which
    everybody ranks; without it the most frequent answer is the motion. `quorum` is how many must
    take part in the last vote, 0 for more than half of those asked.
    """

    text: str
    participants: tuple[str, ...]
    context: str = ""
    options: tuple[str, ...] = ()
    rule: str = ""
    rounds: int = 2
    chamber: str = ChamberKind.DEBATE
    motives: Mapping[str, tuple[str, ...]] = {}
    choose: str = ""
    quorum: int = 0


def read_participants(texts: Iterable[str]) -> tuple[Spec, ...]:
    """Return the participants in these texts, each of which may list several."""
    return tuple(spec for text in texts for spec in read_specs(text))


def put_question(
    workspace: Workspace, question: Question, surroundings: RunSurroundings
) -> tuple[str, dict[str, Spec]]:
    """Seat the participants and record the question under the next free id.

    Names are used only once, so every error must be found before new names are made (AGT-073).
    """
    named_specs = read_participants(question.participants)
    require_distinct_names(named_specs)
    trial = {spec.name or f"some-body-{place}": spec for place, spec in enumerate(named_specs)}
    _require_participants(question.motives, trial)
    seats = tuple(DecisionSeat(name, ELSEWHERE, "") for name in trial)
    acting = VerifiedActor(SYSTEM, 1, "", KeyClass.SYSTEM)
    command = _make_command(question, seats, None)
    require_allowed(workspace, MACHINE, stream_of("q-0"), command, acting, state=State())
    seat_participants(trial, surroundings)
    specs = name_specs(workspace, named_specs)
    material = store_text(workspace, question.context) if question.context.strip() else None
    seats = describe_seats(workspace, tuple(specs), specs, seat_participants(specs, surroundings))
    # Sealed answers are opened under a checkpoint: its key must be here to make one.
    can_be_sealed = workspace.engine.makes_checkpoints
    command = replace(_make_command(question, seats, material), sealed=can_be_sealed)
    return record_question(workspace, command), specs


def _make_command(
    question: Question, seats: tuple[DecisionSeat, ...], material: ArtifactRef | None
) -> AskQuestion:
    motives = question.motives
    return AskQuestion(
        question=question.text,
        seats=tuple(replace(seat, motives=motives.get(seat.agent, ())) for seat in seats),
        chamber=ChamberKind(_require_choice(question.chamber, "chamber", _CHAMBERS)),
        rule=_require_choice(question.rule or ConsensusMode.MAJORITY, "rule", tuple(ConsensusMode)),
        rounds=question.rounds,
        options=question.options,
        context=material,
        choose=question.choose,
        quorum=question.quorum,
    )


def _require_choice(value: str, what: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        known = ", ".join(choices)
        raise Malformed(
            f"{value!r} is not a {what}", code="bad_question", hint=f"use one of {known}"
        )
    return str(value)


def _require_participants(motives: Mapping[str, tuple[str, ...]], names: Iterable[str]) -> None:
    for name in motives:
        if name not in names:
            raise Refused(
                "not_a_participant",
                f"{name} is not a participant",
                hint='name it in --with, such as "amber-otter=cmd:claude -p"',
            )


def record_question(workspace: Workspace, command: AskQuestion, asker: str = SYSTEM) -> str:
    """Record the question as `q-1`, `q-2`, ..., skipping ids that other processes took."""
    with workspace.store.read() as view:
        keys = [row.key for row in view.rows(QUESTIONS, limit=100_000)]
    number = 1 + sum(key.startswith(stream_of("q-")) for key in keys)
    while True:
        decision = f"q-{number}"
        try:
            workspace.engine.execute(stream_of(decision), command, asker)
        except Refused as refused:
            if refused.code != "id_taken":
                raise
            number += 1
        else:
            return decision


def store_text(workspace: Workspace, text: str) -> ArtifactRef:
    return workspace.artifacts.put(text.encode(), TEXT_TYPE)


def read_text(workspace: Workspace, sha256: str | None) -> str:
    return "" if sha256 is None else b"".join(workspace.artifacts.chunks(sha256)).decode()


def decision_id(reference: str) -> str:
    """Return `q-7` for `q-7` or for `decision/q-7`, which an agenda shows."""
    return reference.removeprefix(stream_of(""))


def state_of(workspace: Workspace, decision: str) -> State:
    """Return the recorded decision; NotFound if there is none with this id."""
    state = workspace.engine.state(MACHINE, stream_of(decision))
    if state.stage is Stage.NEW:
        raise NotFound(
            "decision_not_found",
            f"there is no decision {decision}",
            hint="`moot agenda` shows what waits; `moot ask` begins one",
        )
    return state


def require_question(workspace: Workspace, decision: str) -> State:
    """Return a decision that has a question; Refused if it only keeps the costs of a run."""
    state = state_of(workspace, decision)
    if state.chamber not in _CHAMBERS:
        raise Refused(
            "not_a_decision",
            f"{decision} only keeps the costs of a run and has no question",
            hint=f"`moot ledger log {stream_of(decision)}` shows it",
        )
    return state


def find_specs(state: State, texts: Iterable[str]) -> dict[str, Spec]:
    """Return the participants for a resumed question: as recorded, or as named again.

    Those named again are matched by name, those without a name in the order of the seats.
    """
    specs = read_participants(texts)
    if not specs:
        return _recorded_specs(state)
    require_distinct_names(specs)
    names = [seat.agent for seat in state.seats]
    unnamed = iter([name for name in names if name not in {spec.name for spec in specs}])
    matched = {spec.name or next(unnamed, ""): spec for spec in specs}
    if len(specs) > len(names) or not set(matched) <= set(names):
        raise Refused(
            "not_a_participant",
            "one of the named participants has no seat here",
            hint=f"the participants are {', '.join(names)}",
        )
    return matched


def _recorded_specs(state: State) -> dict[str, Spec]:
    """Return the recorded participants; Refused if a recorded spec was shortened (AGT-002)."""
    specs = {seat.agent: read_spec(seat.spec) for seat in state.seats if seat.spec}
    shortened = [seat.agent for seat in state.seats if "…" in seat.spec]
    if shortened:
        raise Refused(
            "spec_incomplete",
            f"the record does not contain the whole command of {', '.join(shortened)}",
            hint="name the participants again: --with NAME=SPEC,...",
        )
    return specs
