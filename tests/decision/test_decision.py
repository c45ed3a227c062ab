"""One decision: what is asked of whom, first answers, a motion, a result, a person's word."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import pytest

from moot.core.errors import Tampered
from moot.core.machine import Command
from moot.core.names import SYSTEM
from moot.protocols.decision import commands as ask
from moot.protocols.decision import events as did
from moot.protocols.decision import stream_of
from moot.protocols.decision.first_answers import choose_motion
from moot.protocols.decision.machine import MACHINE, QUESTIONS, SESSIONS
from moot.protocols.decision.model import (
    CallCost,
    ChamberKind,
    DecisionMotion,
    DecisionResult,
    DecisionSeat,
    FirstAnswer,
    SeatForecast,
    Stage,
    State,
)
from moot.protocols.decision.views import describe_decision, find_shared_models
from moot.testing import Scenario, World, given
from tests.engine import tampering

OTTER, CRANE, FINCH = "amber-otter", "teal-crane", "coral-finch"
PERSON = "operator"
STREAM = stream_of("q-1")
SEATS = (
    DecisionSeat(OTTER, "cmd", "cmd:claude -p", "opus", "c1"),
    DecisionSeat(CRANE, "llm", "llm:openai/gpt", "opus", "c1"),
    DecisionSeat(FINCH, "rules", "rules:approve", None, "c1", scripted=True),
)
QUESTION = ask.AskQuestion(question="Postgres or Kafka?", seats=SEATS)


@pytest.fixture
def world() -> World:
    made = World()
    for name in (OTTER, CRANE, FINCH, "stray-wren"):
        made.agent(name)
    made.human(PERSON)
    return made


@pytest.fixture
def asked(world: World) -> Scenario[State]:
    scene = given(world, MACHINE, STREAM)
    scene.actor = SYSTEM
    return scene.when(QUESTION)


def by(scene: Scenario[State], actor: str, *commands: Command) -> Scenario[State]:
    scene.actor = actor
    return scene.when(*commands)


def moved(scene: Scenario[State]) -> Scenario[State]:
    by(scene, OTTER, ask.GiveAnswer(answer="Postgres", why="simple"))
    by(scene, CRANE, ask.GiveAnswer(answer="Kafka"))
    by(scene, SYSTEM, ask.PassAnswer(agent=FINCH, why="silent: it printed nothing"))
    return by(scene, SYSTEM, ask.SetMotion(text="Postgres", by=(OTTER,)))


def argued(scene: Scenario[State]) -> Scenario[State]:
    moved(scene)
    return by(scene, SYSTEM, ask.OpenSession(session="debate/1", file=".moot/decisions/q-1.md"))


RESULT = ask.RecordResult(
    result=DecisionResult.CARRIED,
    summary="2 approve",
    score="0.67",
    approvers=(OTTER,),
    dissent=(CRANE,),
)


def settled(scene: Scenario[State]) -> Scenario[State]:
    argued(scene)
    return by(scene, SYSTEM, RESULT)


@pytest.mark.requirement("DEC-001")
def test_a_question_begins_a_decision_once(asked: Scenario[State]) -> None:
    state: State = asked.state
    assert (state.stage, state.question, state.asked_by) == (
        Stage.ANSWERING,
        "Postgres or Kafka?",
        SYSTEM,
    )
    assert state.seats == SEATS
    asked.refused("id_taken", QUESTION)


@pytest.mark.requirement("DEC-001")
@pytest.mark.parametrize(
    "command",
    [
        ask.GiveAnswer(answer="x"),
        ask.PassAnswer(agent=OTTER, why="x"),
        ask.SetMotion(text="x", by=()),
        ask.OpenSession(session="x"),
        ask.NoteCall(agent=OTTER, what="x", subject="x", ending="x"),
        ask.EndRun(stop="x"),
        RESULT,
        ask.Approve(reason="x"),
        ask.Veto(reason="x"),
        ask.NameSuccessor(decision="q-2"),
    ],
    ids=lambda command: type(command).__name__,
)
def test_nothing_happens_before_the_question(world: World, command: Command) -> None:
    scene = given(world, MACHINE, STREAM)
    scene.actor = SYSTEM
    scene.refused("decision_not_found", command)


@pytest.mark.requirement("DEC-002")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"question": "  "}, "text_required"),
        ({"question": "x" * 4_001}, "text_too_long"),
        ({"seats": SEATS[:1]}, "bad_participants"),
        ({"seats": (*SEATS, SEATS[0])}, "bad_participants"),
        ({"seats": (SEATS[0], DecisionSeat("A B", "cmd", "x"))}, "bad_participants"),
        ({"rounds": 0}, "bad_rounds"),
        ({"rounds": 101}, "bad_rounds"),
    ],
)
def test_a_question_has_words_and_two_who_answer(
    world: World, change: dict[str, Any], code: str
) -> None:
    scene = given(world, MACHINE, STREAM)
    scene.actor = SYSTEM
    fields = {"question": QUESTION.question, "seats": QUESTION.seats, **change}
    scene.refused(code, ask.AskQuestion(**fields))


@pytest.mark.requirement("DEC-003")
@pytest.mark.requirement("DEC-004")
def test_each_who_takes_part_answers_once_under_its_own_key(asked: Scenario[State]) -> None:
    by(asked, OTTER, ask.GiveAnswer(answer=" Postgres ", why="simple"))
    asked.then(did.AnswerGiven(answer="Postgres", why="simple"))
    assert asked.state.answers[OTTER] == FirstAnswer(OTTER, "Postgres", "simple")
    assert asked.state.unanswered == (CRANE, FINCH)
    asked.refused("answered", ask.GiveAnswer(answer="Kafka"))
    asked.actor = "stray-wren"
    asked.refused("not_a_participant", ask.GiveAnswer(answer="Kafka"))
    asked.actor = CRANE
    asked.refused("text_required", ask.GiveAnswer(answer=" "))
    asked.refused("text_too_long", ask.GiveAnswer(answer="x" * 2_001))


@pytest.mark.requirement("DEC-005")
def test_first_answers_are_closed_once_there_is_a_motion(asked: Scenario[State]) -> None:
    moved(asked)
    asked.actor = FINCH
    asked.refused("answers_closed", ask.GiveAnswer(answer="late"))


@pytest.mark.requirement("DEC-006")
def test_a_missing_answer_is_noted_with_its_reason(asked: Scenario[State]) -> None:
    by(asked, SYSTEM, ask.PassAnswer(agent=FINCH, why="timed-out: 30 s"))
    assert asked.state.answers[FINCH] == FirstAnswer(FINCH, None, "timed-out: 30 s")
    asked.refused("answered", ask.PassAnswer(agent=FINCH, why="again"))
    asked.refused("not_a_participant", ask.PassAnswer(agent="stray-wren", why="x"))
    asked.actor = CRANE
    asked.refused("not_allowed", ask.PassAnswer(agent=OTTER, why="pushed out"))


@pytest.mark.requirement("DEC-007")
def test_a_motion_waits_for_every_answer_and_is_set_once(asked: Scenario[State]) -> None:
    asked.refused("answers_missing", ask.SetMotion(text="Postgres", by=(OTTER,)))
    moved(asked)
    assert asked.state.motion == DecisionMotion("Postgres", (OTTER,))
    assert asked.state.stage is Stage.MOVED
    asked.refused("motion_set", ask.SetMotion(text="Kafka", by=(CRANE,)))


@pytest.mark.requirement("DEC-008")
@pytest.mark.parametrize(
    ("answers", "motion"),
    [
        (["Kafka", "Postgres", "postgres."], ("Postgres", ("b2", "b3"))),
        (["Kafka", "Postgres"], ("Kafka", ("b1",))),
        ([None, "Postgres", "Kafka"], ("Postgres", ("b2",))),
        (["Use  Postgres!", "use postgres", "Kafka"], ("Use  Postgres!", ("b1", "b2"))),
        (["?", "!"], ("?", ("b1",))),
    ],
)
def test_the_most_frequent_answer_is_moved_else_the_first_listed(
    answers: list[str | None], motion: tuple[str, tuple[str, ...]]
) -> None:
    given_ = [FirstAnswer(f"b{i}", answer) for i, answer in enumerate(answers, 1)]
    assert choose_motion(given_) == DecisionMotion(*motion)


@pytest.mark.requirement("DEC-008")
def test_without_an_answer_there_is_no_motion() -> None:
    assert choose_motion([FirstAnswer("a-b", None, "crashed")]) is None


@pytest.mark.requirement("DEC-009")
def test_it_is_argued_in_one_session_for_each_round(asked: Scenario[State]) -> None:
    argued(asked)
    assert asked.state.session is not None
    assert asked.state.session.id == "debate/1"
    assert asked.state.stage is Stage.ARGUING
    assert asked.state.rounds == 2
    asked.refused("session_open", ask.OpenSession(session="debate/1"))
    asked.when(ask.OpenSession(session="debate/2"))
    asked.refused("session_open", ask.OpenSession(session="debate/3"))


@pytest.mark.requirement("DEC-010")
def test_what_each_call_cost_is_on_record_by_participant(asked: Scenario[State]) -> None:
    cost = CallCost(1, 10, 5, 300, 0, 1_200)
    note = partial(ask.NoteCall, agent=OTTER, what="entry", subject="round 1, entry 1")
    by(asked, SYSTEM, note(ending="answered", cost=cost))
    by(asked, SYSTEM, note(ending="malformed", detail="no such stance"))
    by(asked, SYSTEM, note(ending="answered", attempt=2, cost=cost))
    by(asked, SYSTEM, ask.NoteCall(agent=CRANE, what="entry", subject="x", ending="rate-limited"))
    state: State = asked.state
    assert state.purses[OTTER] == CallCost(2, 20, 10, 600, 0, 2_400)
    assert state.cost == CallCost(2, 20, 10, 600, 0, 2_400)
    assert state.turns == 1
    assert dict(state.endings) == {"answered": 2, "malformed": 1, "rate-limited": 1}
    asked.refused("bad_cost", note(ending="answered", cost=CallCost(calls=-1)))
    asked.refused("text_required", note(ending=""))
    asked.refused("text_too_long", note(ending="x", detail="x" * 8_001))
    asked.refused("not_a_participant", note(agent="stray-wren", ending="answered"))


def _model_of(scene: Scenario[State], agent: str) -> str | None:
    seat = scene.state.find_seat(agent)
    return None if seat is None else seat.model


@pytest.mark.requirement("DEC-010")
def test_a_program_tells_which_model_it_asks_when_it_answers(asked: Scenario[State]) -> None:
    note = partial(ask.NoteCall, agent=FINCH, what="entry", subject="x", ending="answered")
    by(asked, SYSTEM, note(model="opus"))
    assert _model_of(asked, FINCH) == "opus"
    by(asked, SYSTEM, note(model="other"))
    assert _model_of(asked, FINCH) == "opus"


@pytest.mark.requirement("DEC-011")
def test_every_run_ends_with_a_name(asked: Scenario[State]) -> None:
    by(asked, SYSTEM, ask.EndRun(stop="money-spent", turns=3, detail="$1.00 of $1.00"))
    assert (asked.state.runs, asked.state.stopped) == (1, "money-spent")
    asked.refused("text_required", ask.EndRun(stop=""))


@pytest.mark.requirement("DEC-012")
def test_a_result_is_recorded_once_and_then_waits_for_a_person(asked: Scenario[State]) -> None:
    asked.refused("result_known", RESULT)
    settled(asked)
    assert asked.state.verdict is not None
    assert asked.state.verdict.dissent == (CRANE,)
    assert asked.state.stage is Stage.WAITING
    asked.refused("result_known", RESULT)


@pytest.mark.requirement("DEC-013")
@pytest.mark.parametrize("actor", [SYSTEM, OTTER, "stray-wren"])
def test_only_a_persons_key_decides(asked: Scenario[State], actor: str) -> None:
    settled(asked)
    asked.actor = actor
    for command in (ask.Approve(reason="x"), ask.Veto(reason="x")):
        asked.refused("human_key_required", command)
    text = asked.world.artifacts.put(b"other", "text/markdown")
    asked.refused("human_key_required", ask.Amend(reason="x", text=text))


@pytest.mark.requirement("DEC-013")
@pytest.mark.parametrize("word", [ask.Approve, ask.Veto])
def test_a_person_decides_only_on_a_history_that_is_proved(
    asked: Scenario[State], word: type[Command]
) -> None:
    """Someone who can write the store chains another answer in: the signature is missing."""
    settled(asked)
    tampering.rewrite(asked.world, STREAM, 1, corr="forged")
    before = tampering.everything(asked.world)
    with pytest.raises(Tampered) as caught:
        asked.world.another_engine().execute(STREAM, word(reason="x"), PERSON)
    assert caught.value.code == "unproved_record"
    assert tampering.everything(asked.world) == before


@pytest.mark.requirement("DEC-014")
def test_a_persons_word_is_the_last_one(asked: Scenario[State]) -> None:
    settled(asked)
    asked.world.keys.attended.add(PERSON)
    by(asked, PERSON, ask.Approve(reason="the cheaper one"))
    asked.then(did.PersonApproved(reason="the cheaper one", attended=True))
    word = asked.state.word
    assert word is not None
    assert (word.word, word.by, word.attended) == (Stage.APPROVED, PERSON, True)
    for command in (ask.Approve(reason="x"), ask.Veto(reason="x")):
        asked.refused("decided", command)
    asked.actor = SYSTEM
    asked.refused("decided", ask.EndRun(stop="settled"))
    note = ask.NoteCall(agent=OTTER, what="x", subject="x", ending="answered")
    asked.refused("decided", note)


@pytest.mark.requirement("DEC-014")
def test_a_person_may_decide_early_and_the_record_says_so(asked: Scenario[State]) -> None:
    outcome = asked.world.engine.execute(STREAM, ask.Approve(reason="enough"), PERSON)
    assert [finding.code for finding in outcome.findings] == ["no_result_yet"]
    assert asked.state.stage is Stage.APPROVED


@pytest.mark.requirement("DEC-015")
def test_a_word_needs_a_reason_and_an_amendment_its_text(asked: Scenario[State]) -> None:
    settled(asked)
    asked.actor = PERSON
    asked.refused("text_required", ask.Approve(reason=" "))
    asked.refused("text_too_long", ask.Veto(reason="x" * 8_001))
    text = asked.world.artifacts.put(b"Postgres, for a year", "text/markdown")
    by(asked, PERSON, ask.Amend(reason="with a limit", text=text))
    assert asked.state.stage is Stage.AMENDED
    assert asked.state.word is not None
    assert asked.state.word.text == text.sha256
    with asked.world.store.read() as view:
        last = list(view.records(STREAM))[-1]
    assert last.body.artifacts == (text,)


@pytest.mark.requirement("DEC-028")
def test_what_a_parliament_brought_is_sent_back_and_argued_further(world: World) -> None:
    scene = given(world, MACHINE, STREAM)
    question = msgspec.structs.replace(QUESTION, chamber=ChamberKind.PARLIAMENT)
    settled(by(scene, SYSTEM, question))
    scene.refused("human_key_required", ask.SendBack(reason="cheaper"))
    by(scene, PERSON, ask.SendBack(reason="cheaper"))
    scene.then(did.PersonSentBack(reason="cheaper", attended=False))
    state: State = scene.state
    assert (state.stage, state.word, state.verdict) == (Stage.ARGUING, None, None)
    (veto,) = state.sent_back
    assert (veto.word, veto.by, veto.reason) == (Stage.VETOED, PERSON, "cheaper")
    assert list(MACHINE.agenda(state, 0)) == []
    by(scene, SYSTEM, RESULT)
    by(scene, PERSON, ask.Approve(reason="good"))
    assert scene.state.stage is Stage.APPROVED
    scene.refused("decided", ask.SendBack(reason="after all"))


@pytest.mark.requirement("DEC-028")
def test_a_debate_is_not_sent_back(asked: Scenario[State]) -> None:
    asked.actor = PERSON
    asked.refused("no_parliament", ask.SendBack(reason="cheaper"))
    settled(asked)
    asked.actor = PERSON
    asked.refused("no_parliament", ask.SendBack(reason="cheaper"))


@pytest.mark.requirement("DEC-028")
def test_the_decisions_of_a_session_are_found(asked: Scenario[State]) -> None:
    argued(asked)
    with asked.world.store.read() as view:
        assert [row.key for row in view.rows(SESSIONS, "debate/1 ")] == [f"debate/1 {STREAM}"]
        assert view.rows(SESSIONS, "debate/10 ") == []


@pytest.mark.requirement("DEC-016")
def test_a_vetoed_decision_names_what_supersedes_it(asked: Scenario[State]) -> None:
    settled(asked)
    asked.refused("not_vetoed", ask.NameSuccessor(decision="q-2"))
    by(asked, PERSON, ask.Veto(reason="no new servers"))
    asked.actor = "stray-wren"
    asked.refused("not_allowed", ask.NameSuccessor(decision="q-2"))
    by(asked, SYSTEM, ask.NameSuccessor(decision="q-2"))
    assert asked.state.superseded_by == "q-2"
    asked.refused("superseded", ask.NameSuccessor(decision="q-3"))


@pytest.mark.requirement("DEC-017")
def test_the_books_are_kept_by_the_machine_or_by_anyone_who_asked(world: World) -> None:
    scene = given(world, MACHINE, STREAM).as_(OTTER).when(QUESTION)
    by(scene, OTTER, ask.EndRun(stop="settled"))
    by(scene, SYSTEM, ask.EndRun(stop="settled"))
    scene.actor = CRANE
    for command in (ask.EndRun(stop="x"), ask.OpenSession(session="x"), RESULT):
        scene.refused("not_allowed", command)


@pytest.mark.requirement("DEC-018")
def test_the_agenda_names_who_is_waited_for(asked: Scenario[State]) -> None:
    def due() -> list[tuple[str, str]]:
        return [(one.who, one.what) for _, one in asked.world.engine.agenda([STREAM])]

    assert due() == [(OTTER, "answer"), (CRANE, "answer"), (FINCH, "answer")]
    assert asked.world.engine.open_streams() == [STREAM]
    moved(asked)
    assert due() == []
    by(asked, SYSTEM, ask.OpenSession(session="debate/1"), RESULT)
    assert due() == [(PERSON, "decide")]
    by(asked, PERSON, ask.Approve(reason="good"))
    assert due() == []
    assert asked.world.engine.open_streams() == []


@pytest.mark.requirement("DEC-018")
def test_a_question_is_found_by_its_words(asked: Scenario[State]) -> None:
    words = asked.state.question.split()[-2:]
    with asked.world.store.read() as view:
        rows = view.rows(QUESTIONS, limit=10)
        assert view.search(QUESTIONS, " ".join(words)) == [STREAM]
        assert view.search(QUESTIONS, "elsewhere") == []
    assert [row.key for row in rows] == [STREAM]


@pytest.mark.requirement("DEC-019")
def test_the_view_says_which_voices_are_the_same_model(asked: Scenario[State]) -> None:
    settled(asked)
    view = describe_decision("q-1", asked.state)
    assert view.shared_models == {"opus": [OTTER, CRANE]}
    assert view.custodians == 1
    assert [one.scripted for one in view.participants] == [False, False, True]
    assert view.result is not None
    assert view.result.dissent == (CRANE,)
    assert view.word is None
    by(asked, PERSON, ask.Approve(reason="good"))
    word = describe_decision("q-1", asked.state).word
    assert word is not None
    assert word.reason == "good"


@pytest.mark.requirement("AGT-081")
def test_one_program_in_two_seats_is_one_voice_unless_it_names_two_models() -> None:
    def seats(*given: tuple[str, str, str | None]) -> State:
        made = (
            DecisionSeat(f"a-{n}", kind, spec, model) for n, (kind, spec, model) in enumerate(given)
        )
        return State(seats=tuple(made))

    program = ("cmd", "cmd:claude -p", None)
    assert find_shared_models(seats(program, program)) == {"cmd:claude -p": ["a-0", "a-1"]}
    named = [("cmd", "cmd:claude -p", model) for model in ("opus", "haiku")]
    assert find_shared_models(seats(*named)) == {}
    assert find_shared_models(seats(("human", "human", None), ("human", "human", None))) == {}


@pytest.mark.requirement("DEC-030")
def test_a_person_judges_the_outcome_and_may_correct_it(asked: Scenario[State]) -> None:
    moved(asked)
    forecasts = (SeatForecast(OTTER, "opus", "approve", "0.8", "approve", "0.9"),)
    word = ask.JudgeOutcome(outcome="right", reason="It held.", forecasts=forecasts)
    by(asked, PERSON, word)
    asked.then(did.OutcomeJudged(
        outcome="right", reason="It held.", attended=False, forecasts=forecasts
    ))  # fmt: skip
    by(asked, PERSON, ask.JudgeOutcome(outcome="wrong", reason="Full.", answer=" Kafka "))
    state = asked.state
    assert state.first_outcome is not None
    assert state.outcome is not None
    assert (state.first_outcome.outcome, state.outcome.outcome) == ("right", "wrong")
    assert (state.outcome.answer, state.outcome.by) == ("Kafka", PERSON)


@pytest.mark.requirement("DEC-030")
@pytest.mark.parametrize(
    ("actor", "command", "code"),
    [
        (OTTER, ask.JudgeOutcome(outcome="right", reason="Yes."), "human_key_required"),
        (SYSTEM, ask.JudgeOutcome(outcome="right", reason="Yes."), "human_key_required"),
        (PERSON, ask.JudgeOutcome(outcome="great", reason="Yes."), "bad_outcome"),
        (PERSON, ask.JudgeOutcome(outcome="right", reason=" "), "text_required"),
        (PERSON, ask.JudgeOutcome(outcome="right", reason="x" * 9_000), "text_too_long"),
        (PERSON, ask.JudgeOutcome(outcome="right", reason="Yes.", answer="x" * 3_000),
         "text_too_long"),
    ],
)  # fmt: skip
def test_an_outcome_is_refused(
    asked: Scenario[State], actor: str, command: Command, code: str
) -> None:
    moved(asked)
    before = asked.state
    asked.actor = actor
    asked.refused(code, command)
    assert asked.state == before


@pytest.mark.requirement("DEC-030")
def test_nothing_can_be_judged_before_there_is_an_answer(asked: Scenario[State]) -> None:
    asked.actor = PERSON
    asked.refused("nothing_to_judge", ask.JudgeOutcome(outcome="right", reason="Yes."))
