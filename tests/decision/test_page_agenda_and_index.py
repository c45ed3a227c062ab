"""What a decision's page, its agenda and its index say in the cases that are easily forgotten."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from moot.core.errors import Malformed
from moot.core.machine import Command, Recorded
from moot.core.names import OPERATOR, SYSTEM
from moot.core.record import Actor, ArtifactRef
from moot.protocols.decision import VOICES
from moot.protocols.decision import commands as ask
from moot.protocols.decision import events as did
from moot.protocols.decision.first_answers import (
    HEX_32_BYTES,
    NONCE_BYTES,
    AnswerOption,
    list_unranked,
    order_for,
)
from moot.protocols.decision.forecasts import Outcome
from moot.protocols.decision.machine import MACHINE, OUTCOMES, QUESTIONS, evolve
from moot.protocols.decision.model import (
    ChamberKind,
    DecisionResult,
    DecisionSeat,
    SeatForecast,
    Stage,
    State,
)
from moot.protocols.decision.rankings import (
    ChoiceRule,
    choose,
    effect_of_own_answers,
    find_winner,
    needs_pick,
    report_rankings,
    require_ballot,
)
from moot.protocols.decision.track_record import CalibratedVote, calibrate_vote, count_track_record
from moot.protocols.decision.views import (
    describe_approval_against_result,
    describe_decision,
    list_answers,
    shorten_question,
)
from moot.testing import Scenario, World, given

from .test_calibration import record
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
from .test_ranked_answers import NAMES, YES, answered, rank, rank_all
from .test_sealed_answers import CLOSING
from .test_track_record import forecast, judged

RECEIPT = ArtifactRef("a" * 64, 1, "application/json")


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("  Which\tcache? \n\nmore", "Which cache?"),
        ("x" * 120, "x" * 120),
        ("x" * 121, "x" * 119 + "…"),
        ("word " * 40, "word " * 22 + "word…"),
        ("\n \n", ""),
    ],
)
def test_a_question_is_shortened_between_words(question: str, title: str) -> None:
    assert shorten_question(question) == title


def test_only_an_approval_against_the_result_is_remarked(asked: Scenario[State]) -> None:
    argued(asked)
    by(asked, SYSTEM, ask.RecordResult(result=DecisionResult.NOT_CARRIED, summary="1 of 3"))
    assert describe_approval_against_result(asked.state) == ""
    assert describe_decision("q-1", asked.state).against_result == ""
    by(asked, PERSON, ask.Approve(reason="I want it"))
    assert describe_approval_against_result(asked.state) == "against the vote (not carried)"
    assert describe_decision("q-1", asked.state).against_result == "against the vote (not carried)"


def test_answers_stand_in_the_order_of_the_seats(asked: Scenario[State]) -> None:
    by(asked, CRANE, ask.GiveAnswer(answer="Kafka"))
    by(asked, OTTER, ask.GiveAnswer(answer="Postgres"))
    assert [first.agent for first in list_answers(asked.state)] == [OTTER, CRANE]


def test_before_a_result_there_is_none(asked: Scenario[State]) -> None:
    assert asked.state.result is None
    assert settled(asked).state.result is DecisionResult.CARRIED


def test_who_was_asked_last_is_found_by_name_and_outcomes_by_decision(
    asked: Scenario[State],
) -> None:
    settled(asked)
    by(asked, PERSON, ask.Approve(reason="x"))
    seen = SeatForecast(OTTER, first_stance="approve", first_sure="0.8")
    by(asked, PERSON, ask.JudgeOutcome(outcome="right", reason="x", forecasts=(seen,)))
    with asked.world.store.read() as view:
        assert [row.key for row in view.rows(VOICES)] == sorted([OTTER, CRANE, FINCH])
        (row,) = view.rows(OUTCOMES)
    kept = json.loads(row.value)
    assert (kept["outcome"], kept["forecasts"][0]["agent"]) == ("right", OTTER)


def test_a_model_is_named_in_short(asked: Scenario[State]) -> None:
    called = ask.NoteCall(agent=FINCH, what="x", subject="x", ending="answered", model="m" * 300)
    by(asked, SYSTEM, called)
    assert [seat.model for seat in asked.state.seats] == ["opus", "opus", "m" * 200]


def test_a_model_is_named_once_and_for_its_own_seat(world: World) -> None:
    seats = tuple(DecisionSeat(name, "cmd", "cmd:x") for name in (OTTER, CRANE))
    scene = given(world, MACHINE, STREAM)
    by(scene, SYSTEM, ask.AskQuestion(question="Which?", seats=seats))
    for model in ("opus", "haiku"):
        called = ask.NoteCall(agent=CRANE, what="x", subject="x", ending="answered", model=model)
        by(scene, SYSTEM, called)
    assert [seat.model for seat in scene.state.seats] == [None, "opus"]


def test_what_a_seat_was_told_to_stand_for_counts_before_what_it_says(world: World) -> None:
    told = DecisionSeat(OTTER, "cmd", "cmd:x", motives=("thrift",))
    scene = given(world, MACHINE, STREAM)
    by(scene, SYSTEM, ask.AskQuestion(question="Which?", seats=(told, *SEATS[1:])))
    for name in (OTTER, CRANE):
        by(scene, name, ask.GiveAnswer(answer="x", motives=("speed",)))
    by(scene, FINCH, ask.GiveAnswer(answer="x"))
    motives = [scene.state.motives_of(name) for name in (OTTER, CRANE, FINCH, "stray-wren")]
    assert motives == [("thrift",), ("speed",), (), ()]


@pytest.mark.parametrize(
    ("chamber", "comes_again"), [(ChamberKind.DEBATE, False), (ChamberKind.PARLIAMENT, True)]
)
def test_only_a_parliament_comes_to_another_result(
    world: World, chamber: ChamberKind, comes_again: bool
) -> None:
    scene = given(world, MACHINE, STREAM)
    by(scene, SYSTEM, ask.AskQuestion(question="Which?", seats=SEATS, chamber=chamber))
    moved(scene)
    scene.refused("result_known", RESULT)
    by(scene, SYSTEM, ask.OpenSession(session="debate/1"), RESULT)
    if comes_again:
        by(scene, SYSTEM, RESULT)
        assert scene.state.stage is Stage.WAITING
    else:
        scene.refused("result_known", RESULT)


def test_the_ledgers_own_key_signs_a_receipt(asked: Scenario[State]) -> None:
    stored = asked.world.artifacts.put(b"{}", "application/json")
    by(settled(asked), SYSTEM, ask.MakeReceipt(receipt=stored))
    assert asked.state.receipt == stored.sha256


@pytest.mark.parametrize(
    ("calls", "after"),
    [
        (("approve", "approve", "reject"), (1, 0, 0)),
        (("reject", "approve", "reject"), (0, 1, 0)),
        (("approve", "reject"), (0, 0, 1)),
    ],
)
def test_one_head_more_is_a_majority(calls: tuple[str, ...], after: tuple[int, int, int]) -> None:
    names = (OTTER, CRANE, FINCH)
    said = [f"{call} 0.8" for call in calls]
    votes = [forecast(name, vote, vote) for name, vote in zip(names, said, strict=False)]
    assert count_track_record([judged(1, Outcome.RIGHT, *votes)]).vote_after == after


def test_what_seals_an_answer_is_as_long_as_a_commitment() -> None:
    assert HEX_32_BYTES.fullmatch(bytes(NONCE_BYTES).hex())


def test_a_seat_that_is_played_elsewhere_is_told_another_command(world: World) -> None:
    seats = (*SEATS[:2], DecisionSeat(FINCH, "elsewhere", ""))
    scene = given(world, MACHINE, STREAM)
    scene.actor = SYSTEM
    scene.when(ask.AskQuestion(question="Which?", seats=seats))
    hints = {due.who: due.hint for due in MACHINE.agenda(scene.state, 0)}
    assert hints[FINCH] == "moot council answer ID TEXT"
    assert hints[OTTER] == "moot ask --resume ID"


@pytest.mark.parametrize("seconds", [None, 90])
def test_anyone_who_does_not_answer_in_time_is_passed_over(
    world: World, seconds: int | None
) -> None:
    """Without a limit nobody is: then nothing happens by itself."""
    scene = given(world, MACHINE, STREAM)
    scene.actor = SYSTEM
    scene.when(ask.AskQuestion(question="Which?", seats=SEATS, answer_seconds=seconds))
    first, *_ = MACHINE.agenda(scene.state, 0)
    passed = ask.PassAnswer(agent=OTTER, why="no answer came in time")
    expected = (None, None) if seconds is None else (scene.state.asked_at + 90_000, passed)
    assert (first.who, (first.by, first.command)) == (OTTER, expected)


def test_of_a_long_question_the_index_keeps_five_hundred_characters(world: World) -> None:
    scene = given(world, MACHINE, STREAM)
    scene.actor = SYSTEM
    scene.when(ask.AskQuestion(question="x" * 600, seats=SEATS))
    with world.store.read() as view:
        (row,) = view.rows(QUESTIONS)
    assert json.loads(row.value)["question"] == "x" * 500


def due_of(state: State) -> list[tuple[str, str]]:
    return [(due.who, due.what) for due in MACHINE.agenda(state, 0)]


def test_rankings_are_due_and_then_a_pick() -> None:
    scene = answered("plurality")
    rank(scene, NAMES[0], 0, 1, 2)
    assert due_of(scene.state) == [(name, "ranking") for name in NAMES[1:]]
    tie = [(0, 1, 2), (1, 0, 2), (2, 0, 1), (0, 1, 2), (1, 0, 2)]
    scene = rank_all(answered("plurality"), *tie)
    assert needs_pick(scene.state)
    assert due_of(scene.state) == [(OPERATOR, "pick")]
    assert due_of(rank_all(answered("plurality"), *[(0, 1, 2)] * 5).state) == []


def test_without_rankings_there_is_no_report_and_nothing_to_rank() -> None:
    assert report_rankings(answered("plurality").state) is None
    assert report_rankings(State()) is None


def two_answers(choose: str) -> Scenario[State]:
    """Of five seats three say the same, two something else."""
    world = World()
    for name in NAMES:
        world.agent(name)
    scene = given(world, MACHINE, STREAM)
    scene.actor = SYSTEM
    seats = tuple(DecisionSeat(name, "cmd", "cmd:x") for name in NAMES)
    scene.when(ask.AskQuestion(question="Which?", seats=seats, choose=choose))
    for place, name in enumerate(NAMES):
        by(scene, name, ask.GiveAnswer(answer="Redis" if place > 2 else "Kafka"))
    return scene


def test_two_answers_are_enough_to_rank() -> None:
    assert list_unranked(two_answers("borda").state) == NAMES


def test_a_report_counts_answers_from_one_and_says_whether_the_rules_differ() -> None:
    scene = two_answers("borda")
    for name in NAMES:
        scene.actor = name
        scene.when(ask.RankAnswers(ranking=(0, 1), votes=(YES,) * 2, summary="So."))
    report = report_rankings(scene.state)
    assert report is not None
    assert [option.number for option in report.options] == [1, 2]
    assert {choice.sentence for choice in report.choices} == {"answer 1"}
    assert {choice.winner for choice in report.choices} == {1}
    assert not report.differ
    winner = find_winner(scene.state)
    assert winner is not None
    assert winner.text == "Kafka"


def test_nothing_wins_before_everybody_has_ranked_or_without_a_rule() -> None:
    assert find_winner(two_answers("borda").state) is None
    assert find_winner(two_answers("").state) is None
    scene = two_answers("plurality")
    rank(scene, NAMES[0], 0, 1, votes=2)
    assert find_winner(scene.state) is None


def test_the_only_answer_wins_and_needs_no_rule(world: World) -> None:
    scene = given(world, MACHINE, STREAM)
    scene.actor = SYSTEM
    scene.when(ask.AskQuestion(question="Which?", seats=SEATS, choose="borda"))
    for name in (OTTER, CRANE, FINCH):
        by(scene, name, ask.GiveAnswer(answer="Kafka"))
    winner = find_winner(scene.state)
    assert winner is not None
    by(scene, SYSTEM, ask.SetMotion(text="Kafka", by=(OTTER, CRANE, FINCH)))


def test_a_tie_between_two_is_no_win() -> None:
    tied = choose(ChoiceRule.CONDORCET, [(0, 1, 2), (1, 0, 2)], 3)
    assert (tied.first, tied.points) == ((0, 1), (1, 1, 0))
    assert choose(ChoiceRule.CONDORCET, [], 2).first == ()


def test_everybody_sees_the_answers_in_an_order_of_its_own() -> None:
    """The same for ever: a stored prompt can be made again."""
    options = [AnswerOption(text, ()) for text in ("Kafka", "Redis", "Postgres", "NATS")]
    assert order_for("Which?", OTTER, options) == (1, 2, 0, 3)
    assert sorted(order_for("Which?", CRANE, options)) == [0, 1, 2, 3]


def test_a_ranking_lists_every_answer_once() -> None:
    assert require_ballot([2, 0, 1], 3) == (2, 0, 1)
    with pytest.raises(Malformed):
        require_ballot([0, 0, 1], 3)


def test_an_own_answer_is_put_last() -> None:
    ballots = {"ada": (0, 1), "bob": (1, 0)}
    effect = effect_of_own_answers(ChoiceRule.PLURALITY, ballots, {"ada": 0, "bob": 0}, 2)
    assert effect.as_cast.first == (0, 1)
    assert effect.own_put_last.first == (1,)
    counted = effect_of_own_answers(ChoiceRule.BORDA, {"ada": (0, 1, 2)}, {"ada": 0}, 3)
    assert counted.own_put_last.points == (0, 2, 1)


@pytest.mark.parametrize(("session", "code"), [("debate/1", "session_open"), ("debate/2", None)])
def test_a_motion_is_argued_again_in_another_session(
    asked: Scenario[State], session: str, code: str | None
) -> None:
    argued(asked)
    if code:
        asked.refused(code, ask.OpenSession(session=session))
    else:
        asked.when(ask.OpenSession(session=session))


@pytest.mark.parametrize(("session", "rows"), [("debate/1", 1), ("in the old files", 0)])
def test_only_a_session_of_this_record_is_found_from_it(session: str, rows: int) -> None:
    assert len(list(MACHINE.index(recorded(did.SessionOpened(session=session))))) == rows


def test_where_nothing_is_sealed_no_seals_are_closed(asked: Scenario[State]) -> None:
    for name in (OTTER, CRANE, FINCH):
        by(asked, name, ask.GiveAnswer(answer="Kafka"))
    asked.actor = SYSTEM
    asked.refused("seals_missing", CLOSING)


def test_a_decided_or_waiting_decision_opens_no_session(asked: Scenario[State]) -> None:
    settled(asked)
    asked.refused("session_open", ask.OpenSession(session="debate/2"))


def test_what_was_never_moved_is_argued_once(world: World) -> None:
    scene = given(world, MACHINE, STREAM)
    scene.actor = SYSTEM
    scene.when(ask.AskQuestion(question="Which?", seats=SEATS))
    scene.when(ask.OpenSession(session="debate/1"))
    scene.refused("session_open", ask.OpenSession(session="debate/2"))


def test_one_seat_is_enough_for_mail_alone(world: World) -> None:
    scene = given(world, MACHINE, STREAM)
    scene.actor = SYSTEM
    question = ask.AskQuestion(question="Which?", seats=SEATS[:1], chamber=ChamberKind.MAIL)
    scene.when(question)
    assert scene.state.stage is Stage.ANSWERING


def test_a_result_is_missed_only_where_there_is_none(asked: Scenario[State]) -> None:
    moved(asked)
    early = asked.world.engine.execute(STREAM, ask.Veto(reason="x"), PERSON)
    assert [finding.code for finding in early.findings] == ["no_result_yet"]


def test_a_result_that_is_there_is_not_missed(asked: Scenario[State]) -> None:
    settled(asked)
    assert asked.world.engine.execute(STREAM, ask.Veto(reason="x"), PERSON).findings == ()


@pytest.mark.requirement("DEC-028")
@pytest.mark.parametrize("stage", [Stage.ANSWERING, Stage.MOVED])
def test_only_what_is_argued_is_sent_back(world: World, stage: Stage) -> None:
    scene = given(world, MACHINE, STREAM)
    scene.actor = SYSTEM
    chamber = ChamberKind.PARLIAMENT
    scene.when(ask.AskQuestion(question="Which?", seats=SEATS, chamber=chamber))
    if stage is Stage.MOVED:
        moved(scene)
    scene.actor = PERSON
    scene.refused("no_session", ask.SendBack(reason="x"))


def recorded(event: Any, actor: str = SYSTEM) -> Recorded[Any]:
    return Recorded(event, STREAM, 0, 1_000, Actor(actor, 1, "k"), b"")


def test_a_receipt_counts_until_something_else_happens() -> None:
    made = evolve(State(stage=Stage.WAITING), recorded(did.ReceiptMade(receipt=RECEIPT.sha256)))
    assert made.receipt == RECEIPT.sha256
    again = evolve(made, recorded(did.ReceiptMade(receipt="b" * 64)))
    assert again.receipt == "b" * 64
    assert evolve(made, recorded(did.RunEnded(stop="done", turns=0))).receipt is None


def test_an_opening_that_nobody_sealed_changes_nothing() -> None:
    event = did.OpeningRefused(offered="x")
    assert evolve(State(stage=Stage.ANSWERING), recorded(event, OTTER)) == State(
        stage=Stage.ANSWERING
    )


def test_an_unknown_command_is_refused_by_the_machine_itself() -> None:
    class Strange(Command, frozen=True):
        pass

    context: Any = None
    decision = MACHINE.decide(MACHINE.initial, Strange(), context)
    assert (decision.refused, decision.findings[0].code) == (True, "unknown_command")


@pytest.mark.parametrize(
    ("balance", "side"), [(0.1, "for"), (0.0, "split over"), (-0.1, "against")]
)
def test_a_vote_by_record_leans_to_a_side_or_none(balance: float, side: str) -> None:
    assert f"it is {side} the motion" in CalibratedVote(balance, ("ada",), ()).sentence


def test_thirty_outcomes_are_a_record() -> None:
    assert calibrate_vote([record("ada", 29, 0)], {"ada": "approve"}) is None
    assert calibrate_vote([record("ada", 30, 0)], {"ada": "approve"}) is not None


def test_one_half_is_no_call() -> None:
    unsure = forecast(OTTER, "approve 0", "approve 0")
    track = count_track_record([judged(1, Outcome.RIGHT, unsure), judged(2, Outcome.WRONG, unsure)])
    (otter,) = track.participants
    assert (otter.scored, otter.right) == (2, 0)
    assert (track.single_best.right, track.single_best.wrong) == (0, 0)


def test_anyone_who_was_always_right_and_sure_has_the_best_interval() -> None:
    sure = forecast(OTTER, "approve 1", "approve 1")
    cases = [judged(number, Outcome.RIGHT, sure) for number in range(5)]
    (otter,) = count_track_record(cases).participants
    assert otter.last_score == Fraction(0)
    assert otter.interval.low == 0
    assert 0 < otter.interval.high < 1


def test_of_equals_the_first_by_name_is_the_single_best() -> None:
    """After one outcome that both called alike, the next call is that of the first name."""
    alike = [forecast(name, "approve 0.8", "approve 0.8") for name in (OTTER, CRANE)]
    split = (forecast(OTTER, "reject 0.8", "reject 0.8"), alike[1])
    track = count_track_record([judged(1, Outcome.RIGHT, *alike), judged(2, Outcome.WRONG, *split)])
    assert (track.single_best.right, track.single_best.wrong) == (1, 0)


def test_two_answers_that_tie_are_picked_by_a_person() -> None:
    scene = two_answers("plurality")
    for place, name in enumerate(NAMES[:4]):
        scene.actor = name
        order = (0, 1) if place % 2 else (1, 0)
        scene.when(ask.RankAnswers(ranking=order, votes=(YES,) * 2, summary="So."))
    by(scene, SYSTEM, ask.PassRanking(agent=NAMES[4], why="silent"))
    assert needs_pick(scene.state)
    assert due_of(scene.state) == [(OPERATOR, "pick")]


def test_where_nobody_ranks_nothing_is_chosen() -> None:
    scene = two_answers("plurality")
    by(scene, SYSTEM, *(ask.PassRanking(agent=name, why="silent") for name in NAMES))
    report = report_rankings(scene.state)
    assert report is not None
    assert {choice.sentence for choice in report.choices} == {"nothing: nobody ranked them"}


def test_what_a_record_leaves_out_means_nothing_special() -> None:
    """Events and commands of earlier versions lack these; they can never mean anything else."""
    asked = did.QuestionAsked("Which?", SEATS, ChamberKind.DEBATE, "majority", 2)
    assert (asked.sealed, asked.quorum, asked.choose) == (False, 0, "")
    nothing = State()
    assert (nothing.asked_at, nothing.rounds, nothing.quorum, nothing.is_sealed) == (0, 0, 0, False)
    assert ask.NoteCall(agent=OTTER, what="x", subject="x", ending="x").attempt == 1
    assert (ask.EndRun(stop="x").turns, SeatForecast(OTTER).micros) == (0, 0)
