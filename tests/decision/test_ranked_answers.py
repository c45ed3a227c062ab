"""Several first answers: ranked without names; three rules choose, ties are left to a person."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.names import OPERATOR, SYSTEM
from moot.protocols.decision import commands as ask
from moot.protocols.decision import events as did
from moot.protocols.decision import stream_of
from moot.protocols.decision.first_answers import list_options, list_unranked, order_for
from moot.protocols.decision.machine import MACHINE
from moot.protocols.decision.model import AnswerVote, ChamberKind, DecisionSeat, State
from moot.protocols.decision.rankings import needs_pick, report_rankings
from moot.testing import Scenario, World, given

NAMES = ("amber-otter", "teal-crane", "coral-finch", "jade-heron", "onyx-lark")
ANSWERS = dict(zip(NAMES, ("Postgres", "Kafka", "Redis", "postgres!", "Kafka"), strict=True))
YES = AnswerVote("approve", "0.8")


def question(choose: str = "", chamber: ChamberKind = ChamberKind.DEBATE) -> ask.AskQuestion:
    seats = tuple(DecisionSeat(name, "cmd", "cmd:x") for name in NAMES)
    return ask.AskQuestion(question="Which?", seats=seats, choose=choose, chamber=chamber)


def answered(choose: str = "", chamber: ChamberKind = ChamberKind.DEBATE) -> Scenario[State]:
    world = World()
    for name in NAMES:
        world.agent(name)
    scene = given(world, MACHINE, stream_of("q-1"))
    scene.actor = SYSTEM
    scene.when(question(choose, chamber))
    for name, answer in ANSWERS.items():
        scene.actor = name
        scene.when(ask.GiveAnswer(answer=answer))
    return scene


def rank(scene: Scenario[State], name: str, *ranking: int, votes: int = 3) -> Scenario[State]:
    scene.actor = name
    return scene.when(ask.RankAnswers(ranking=ranking, votes=(YES,) * votes, summary="So."))


def refuse_rank(
    scene: Scenario[State], name: str, *ranking: int, code: str, votes: int = 3
) -> None:
    scene.actor = name
    scene.refused(code, ask.RankAnswers(ranking=ranking, votes=(YES,) * votes, summary="So."))


def rank_all(scene: Scenario[State], *rankings: tuple[int, ...]) -> Scenario[State]:
    for name, ranking in zip(NAMES, rankings, strict=True):
        rank(scene, name, *ranking)
    scene.actor = SYSTEM
    return scene


# Five voters for whom the rules differ: 0 and 1 have as many first places, and 1 wins every duel.
PLURALITY_TIE = ((0, 1, 2), (0, 1, 2), (1, 2, 0), (2, 1, 0), (1, 0, 2))
CYCLE = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 1, 2), (1, 2, 0))


@pytest.mark.requirement("DEC-036")
def test_equal_answers_are_one_option_and_everybody_who_answered_ranks() -> None:
    state = answered().state
    options = [(option.text, option.by) for option in list_options(state)]
    assert options == [
        ("Postgres", ("amber-otter", "jade-heron")),
        ("Kafka", ("teal-crane", "onyx-lark")),
        ("Redis", ("coral-finch",)),
    ]
    assert list_unranked(state) == NAMES


@pytest.mark.requirement("DEC-036")
def test_a_parliament_ranks_no_answers() -> None:
    assert list_unranked(answered(chamber=ChamberKind.PARLIAMENT).state) == ()


@pytest.mark.requirement("DEC-036")
@pytest.mark.parametrize(
    ("ranking", "votes"),
    [((0, 1), 3), ((0, 1, 1), 3), ((0, 1, 3), 3), ((0, 1, 2, 0), 3), ((-1, 0, 1), 3), ((), 3),
     ((0, 1, 2), 2)],
)  # fmt: skip
def test_a_ranking_with_gaps_doubles_or_unknown_answers_is_refused(
    ranking: tuple[int, ...], votes: int
) -> None:
    scene = answered()
    before = scene.state
    refuse_rank(scene, "amber-otter", *ranking, votes=votes, code="bad_ranking")
    assert scene.state == before


@pytest.mark.requirement("DEC-036")
@pytest.mark.parametrize(
    ("stance", "sure"), [("maybe", "0.5"), ("approve", "1.5"), ("approve", "nan"), ("reject", "")]
)
def test_a_vote_that_is_none_is_refused(stance: str, sure: str) -> None:
    vote = AnswerVote(stance, sure)
    scene = answered()
    before = scene.state
    scene.actor = "amber-otter"
    command = ask.RankAnswers(ranking=(0, 1, 2), votes=(YES, YES, vote), summary="So.")
    scene.refused("bad_ranking", command)
    assert scene.state == before


@pytest.mark.requirement("DEC-036")
def test_a_ranking_is_given_once_and_a_missing_one_is_noted() -> None:
    scene = answered()
    rank(scene, "amber-otter", 2, 0, 1)
    refuse_rank(scene, "amber-otter", 0, 1, 2, code="nothing_to_rank")
    scene.actor = SYSTEM
    scene.when(ask.PassRanking(agent="teal-crane", why="crashed: 1", failure="It crashed."))
    scene.then(did.RankingPassed(agent="teal-crane", why="crashed: 1", failure="It crashed."))
    refuse_rank(scene, "teal-crane", 0, 1, 2, code="nothing_to_rank")
    assert list_unranked(scene.state) == NAMES[2:]
    report = report_rankings(scene.state)
    assert report is not None
    assert [(cast.ranking, cast.failure) for cast in report.rankings] == [
        ((3, 1, 2), ""),
        ((), "It crashed."),
    ]


@pytest.mark.requirement("DEC-036")
def test_only_the_machine_or_anyone_who_asked_passes_a_ranking_over() -> None:
    scene = answered()
    scene.actor = "teal-crane"
    command = ask.PassRanking(agent="amber-otter", why="I say so")
    scene.refused("not_allowed", command)
    assert not scene.state.rankings


@pytest.mark.requirement("DEC-036")
def test_nobody_ranks_before_all_answers_are_there() -> None:
    world = World()
    for name in NAMES:
        world.agent(name)
    scene = given(world, MACHINE, stream_of("q-1"))
    scene.actor = SYSTEM
    scene.when(question())
    scene.actor = "amber-otter"
    scene.when(ask.GiveAnswer(answer="Postgres"))
    refuse_rank(scene, "amber-otter", 0, votes=1, code="nothing_to_rank")


@pytest.mark.requirement("DEC-036")
def test_everybody_sees_the_answers_in_an_order_of_its_own_that_never_changes() -> None:
    options = list_options(answered().state)
    orders = {name: order_for("q", name, options) for name in NAMES}
    assert orders == {name: order_for("q", name, options) for name in NAMES}
    assert all(sorted(order) == [0, 1, 2] for order in orders.values())
    many = {order_for("q", f"agent-{number}", options) for number in range(200)}
    assert len(many) == 6  # every order occurs
    assert orders != {name: order_for("another", name, options) for name in NAMES}


@pytest.mark.requirement("DEC-037")
def test_all_three_rules_are_told_and_that_they_differ() -> None:
    report = report_rankings(rank_all(answered(), *PLURALITY_TIE).state)
    assert report is not None
    assert report.differ
    told = {choice.rule.value: (choice.sentence, choice.points) for choice in report.choices}
    assert told == {
        "plurality": ("a tie of answers 1 and 2", (2, 2, 1)),
        "borda": ("answer 2", (5, 7, 3)),
        "condorcet": ("answer 2", (1, 2, 0)),
    }


@pytest.mark.requirement("DEC-037")
def test_ranking_ones_own_answer_is_told_where_it_mattered() -> None:
    report = report_rankings(rank_all(answered(), *PLURALITY_TIE).state)
    assert report is not None
    plurality = report.choices[0]
    # Own answers last: otter 1>2>0, crane 0>2>1, finch 1>0>2 (own 2), heron 2>1>0, lark 0>2>1.
    assert (plurality.first, plurality.own_put_last, plurality.own_mattered) == (
        (1, 2),
        (1, 2),
        False,
    )
    borda = report.choices[1]
    assert borda.own_mattered == (borda.first != borda.own_put_last)


@pytest.mark.requirement("DEC-037")
@pytest.mark.parametrize(("rule", "text"), [("borda", "Kafka"), ("condorcet", "Kafka")])
def test_the_motion_is_what_the_rule_chooses_and_nothing_else(rule: str, text: str) -> None:
    scene = rank_all(answered(rule), *PLURALITY_TIE)
    before = scene.state
    for wrong in (
        ask.SetMotion(text="Postgres", by=("amber-otter",)),
        ask.SetMotion(text="Postgres", by=("amber-otter",), chosen=rule),
        ask.SetMotion(text="Postgres", by=("amber-otter",), chosen="picked"),
    ):
        scene.refused("not_the_choice", wrong)
    assert scene.state == before
    scene.when(ask.SetMotion(text=text, by=("teal-crane", "onyx-lark"), chosen=rule))
    assert scene.state.motion is not None
    assert (scene.state.motion.text, scene.state.motion.chosen) == (text, rule)


@pytest.mark.requirement("DEC-037")
@pytest.mark.parametrize(
    ("rule", "rankings", "sentence"),
    [
        ("plurality", PLURALITY_TIE, "a tie of answers 1 and 2"),
        ("condorcet", CYCLE, "a cycle of answers 1, 2 and 3"),
    ],
)
def test_a_tie_or_a_cycle_waits_for_a_person(rule: str, rankings: Any, sentence: str) -> None:
    scene = rank_all(answered(rule), *rankings)
    assert needs_pick(scene.state)
    (due,) = MACHINE.agenda(scene.state, 0)
    assert (due.who, due.what) == (OPERATOR, "pick")
    report = report_rankings(scene.state)
    assert report is not None
    assert sentence in {choice.sentence for choice in report.choices if choice.rule == rule}
    scene.refused("not_the_choice", ask.SetMotion(text="Mongo", by=(), chosen="picked"))
    scene.when(ask.SetMotion(text="Redis", by=("coral-finch",), chosen="picked"))
    assert not needs_pick(scene.state)
    assert scene.state.motion is not None
    assert scene.state.motion.chosen == "picked"


@pytest.mark.requirement("DEC-037")
def test_a_rule_waits_for_every_ranking_and_the_most_frequent_answer_does_not() -> None:
    waiting = answered("borda")
    waiting.actor = SYSTEM
    waiting.refused("not_the_choice", ask.SetMotion(text="Kafka", by=(), chosen="borda"))
    assert waiting.state.motion is None
    frequent = answered()
    frequent.actor = SYSTEM
    frequent.when(ask.SetMotion(text="Postgres", by=("amber-otter", "jade-heron")))
    assert frequent.state.motion is not None


@pytest.mark.requirement("DEC-037")
@pytest.mark.parametrize(
    ("choose", "chamber"), [("lottery", ChamberKind.DEBATE), ("borda", ChamberKind.PARLIAMENT)]
)
def test_a_rule_that_is_none_is_refused(choose: str, chamber: ChamberKind) -> None:
    world = World()
    scene = given(world, MACHINE, stream_of("q-1"))
    scene.actor = SYSTEM
    scene.refused("bad_choice", question(choose, chamber))
    assert scene.state == State()
