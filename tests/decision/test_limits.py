"""A decision at its edges: the longest text each command takes, motives, a quorum, the receipt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from moot.core.machine import Command, Recorded
from moot.core.names import SYSTEM
from moot.core.record import Actor, ArtifactRef
from moot.protocols.decision import commands as ask
from moot.protocols.decision import events as did
from moot.protocols.decision.machine import MACHINE, TRANSITIONS, evolve
from moot.protocols.decision.model import AnswerVote, ChamberKind, DecisionSeat, Stage, State
from moot.testing import Scenario, World, given

from .test_decision import (
    CRANE,
    FINCH,
    OTTER,
    PERSON,
    RESULT,
    SEATS,
    STREAM,
    argued,
    by,
    moved,
    settled,
)
from .test_decision import asked as asked
from .test_decision import world as world

RECEIPT = ArtifactRef("a" * 64, 1, "application/json")
Make = Callable[..., Command]


def answered(scene: Scenario[State]) -> Scenario[State]:
    by(scene, OTTER, ask.GiveAnswer(answer="Postgres"))
    by(scene, CRANE, ask.GiveAnswer(answer="Kafka"))
    return by(scene, FINCH, ask.GiveAnswer(answer="Redis"))


def rank(**more: Any) -> ask.RankAnswers:
    votes = (AnswerVote("approve", "0.8"),) * 3
    return ask.RankAnswers(**{"ranking": (0, 1, 2), "votes": votes, "summary": "So.", **more})


def note(**more: Any) -> ask.NoteCall:
    told = {"agent": OTTER, "what": "x", "subject": "x", "ending": "x"}
    return ask.NoteCall(**{**told, **more})


def judge(**more: Any) -> ask.JudgeOutcome:
    return ask.JudgeOutcome(**{"outcome": "right", "reason": "x", **more})


def approved(scene: Scenario[State]) -> Scenario[State]:
    return by(settled(scene), PERSON, ask.Approve(reason="x"))


def same(scene: Scenario[State]) -> Scenario[State]:
    return scene


TEXTS = [
    (same, OTTER, lambda **text: ask.GiveAnswer(**{"answer": "x", **text}), "answer", 2_000),
    (same, OTTER, lambda **text: ask.GiveAnswer(**{"answer": "x", **text}), "why", 8_000),
    (same, SYSTEM, lambda **text: ask.PassAnswer(agent=OTTER, **text), "why", 8_000),
    (answered, OTTER, rank, "summary", 2_000),
    (answered, OTTER, rank, "body", 8_000),
    (answered, SYSTEM, lambda **text: ask.PassRanking(agent=OTTER, **text), "why", 8_000),
    (moved, SYSTEM, ask.OpenSession, "session", 8_000),
    (same, SYSTEM, note, "ending", 8_000),
    (same, SYSTEM, note, "detail", 8_000),
    (same, SYSTEM, note, "subject", 8_000),
    (same, SYSTEM, note, "what", 8_000),
    (same, SYSTEM, ask.EndRun, "stop", 8_000),
    (argued, SYSTEM, lambda **text: ask.RecordResult(result=RESULT.result, **text), "summary",
     8_000),
    (settled, PERSON, ask.Approve, "reason", 8_000),
    (settled, PERSON, ask.Veto, "reason", 8_000),
    (approved, PERSON, judge, "reason", 8_000),
    (approved, PERSON, judge, "answer", 2_000),
]  # fmt: skip


@pytest.mark.requirement("DEC-002")
@pytest.mark.parametrize(("before", "actor", "make", "field", "most"), TEXTS)
def test_a_text_may_be_as_long_as_this_and_no_longer(
    asked: Scenario[State],
    before: Callable[[Scenario[State]], Scenario[State]],
    actor: str,
    make: Make,
    field: str,
    most: int,
) -> None:
    scene = before(asked)
    scene.actor = actor
    scene.refused("text_too_long", make(**{field: "x" * (most + 1)}))
    scene.when(make(**{field: "x" * most}))


def ask_with(**more: Any) -> ask.AskQuestion:
    return ask.AskQuestion(**{"question": "Postgres or Kafka?", "seats": SEATS, **more})


def seats_with(*motives: str) -> tuple[DecisionSeat, ...]:
    return (DecisionSeat(OTTER, "cmd", "x", motives=motives), *SEATS[1:])


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (ask_with(seats=seats_with("a", "b", "c")), None),
        (ask_with(seats=seats_with("a", "b", "c", "d")), "bad_motives"),
        (ask_with(seats=seats_with("x" * 60)), None),
        (ask_with(seats=seats_with("x" * 61)), "bad_motives"),
        (ask_with(seats=seats_with(" ")), "bad_motives"),
        (ask_with(seats=seats_with("two\nlines")), "bad_motives"),
        (ask_with(quorum=3), None),
        (ask_with(quorum=4), "bad_quorum"),
        (ask_with(quorum=-1), "bad_quorum"),
        (ask_with(quorum=1, chamber=ChamberKind.PARLIAMENT), "bad_quorum"),
        (ask_with(rounds=1), None),
        (ask_with(rounds=100), None),
        (ask_with(question="x" * 4_000), None),
        (ask_with(seats=tuple(DecisionSeat(f"seat-{n}", "cmd", "x") for n in range(100))), None),
        (ask_with(seats=tuple(DecisionSeat(f"seat-{n}", "cmd", "x") for n in range(101))),
         "bad_participants"),
    ],
)  # fmt: skip
def test_how_much_a_question_may_ask_for(
    world: World, command: ask.AskQuestion, code: str | None
) -> None:
    scene = given(world, MACHINE, STREAM)
    scene.actor = SYSTEM
    if code is None:
        scene.when(command)
        assert scene.state.stage is Stage.ANSWERING
    else:
        scene.refused(code, command)


def test_motives_of_an_answer_are_as_short(asked: Scenario[State]) -> None:
    asked.actor = OTTER
    asked.refused("bad_motives", ask.GiveAnswer(answer="x", motives=("a", "b", "c", "d")))
    asked.when(ask.GiveAnswer(answer="x", motives=("a", "b", "c")))


@pytest.mark.requirement("DEC-021")
@pytest.mark.parametrize("actor", [OTTER, PERSON])
def test_only_the_ledgers_own_key_signs_a_receipt(asked: Scenario[State], actor: str) -> None:
    settled(asked)
    asked.actor = actor
    asked.refused("not_allowed", ask.MakeReceipt(receipt=RECEIPT))


PATHS = [
    ((), did.QuestionAsked, Stage.ANSWERING),
    ((Stage.ANSWERING,), did.MotionSet, Stage.MOVED),
    ((Stage.ANSWERING, Stage.MOVED), did.SessionOpened, Stage.ARGUING),
    ((Stage.ARGUING,), did.ResultRecorded, Stage.WAITING),
    ((Stage.WAITING,), did.PersonSentBack, Stage.ARGUING),
    *(
        ((Stage.ANSWERING, Stage.MOVED, Stage.ARGUING, Stage.WAITING), word, stage)
        for word, stage in (
            (did.PersonApproved, Stage.APPROVED),
            (did.PersonVetoed, Stage.VETOED),
            (did.PersonAmended, Stage.AMENDED),
        )
    ),
]
EVENTS: dict[type[Any], Any] = {
    did.QuestionAsked: did.QuestionAsked(
        question="x", seats=SEATS, chamber=ChamberKind.DEBATE, rule="majority", rounds=2
    ),
    did.MotionSet: did.MotionSet(text="x", by=()),
    did.SessionOpened: did.SessionOpened(session="debate/1"),
    did.ResultRecorded: did.ResultRecorded(result=RESULT.result, summary="x"),
    did.PersonSentBack: did.PersonSentBack(reason="x", attended=True),
    did.PersonApproved: did.PersonApproved(reason="x", attended=True),
    did.PersonVetoed: did.PersonVetoed(reason="x", attended=True),
    did.PersonAmended: did.PersonAmended(reason="x", attended=True, text="y"),
}


@pytest.mark.requirement("DEC-020")
@pytest.mark.parametrize(
    ("stands", "kind", "leads_to"),
    [
        (stage, kind, leads_to)
        for stages, kind, leads_to in PATHS
        for stage in (stages or (Stage.NEW,))
    ],
)
def test_every_step_of_a_decision_leads_where_it_should(
    stands: Stage, kind: type[Any], leads_to: Stage
) -> None:
    recorded: Recorded[Any] = Recorded(EVENTS[kind], STREAM, 0, 1_000, Actor(PERSON, 1, "k"), b"")
    assert evolve(State(stage=stands), recorded).stage is leads_to
    for final in (Stage.APPROVED, Stage.VETOED, Stage.AMENDED):
        assert evolve(State(stage=final), recorded).stage is final
    assert TRANSITIONS[stands][kind] is leads_to


def test_the_version_of_the_machine_is_raised_on_purpose() -> None:
    """Snapshots of another version are not read: all states would be computed again."""
    assert MACHINE.version == 8
