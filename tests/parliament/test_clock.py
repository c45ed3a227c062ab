"""The debate clock: exchanges, sentences, and what the speaker must do when they are used up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import round_clock
from moot.protocols.parliament.events import MessageLogged
from moot.protocols.parliament.messages import limits
from moot.protocols.parliament.messages import limits as sentences
from moot.protocols.parliament.messages.contents import SessionStatus

from .scene import (
    AGENTS,
    CALL_VOTE,
    ROUND_END,
    ROUND_START,
    ParliamentScenario,
    amendment,
    answer,
    motion,
    question,
    ruling,
)


@pytest.mark.requirement("PAR-100")
@pytest.mark.requirement("PAR-101")
@pytest.mark.requirement("PAR-102")
@pytest.mark.parametrize(
    ("seats", "caps"),
    [(5, [10, 9, 8, 7, 6, 5]), (3, [6, 6, 5, 5, 4, 3]), (9, [18, 17, 15, 13, 11, 9])],
)
def test_exchanges_fall_from_two_a_seat_to_one(seats: int, caps: list[int]) -> None:
    assert [limits.max_exchanges(seats, number) for number in range(1, 7)] == caps


@given(st.integers(2, 30), st.integers(1, 50))
def test_exchanges_never_grow(seats: int, number: int) -> None:
    now, then = limits.max_exchanges(seats, number), limits.max_exchanges(seats, number + 1)
    assert 2 * seats >= now >= then >= seats


@pytest.mark.requirement("PAR-103")
def test_the_budget_of_a_response_falls_to_three() -> None:
    assert [limits.response_budget(number) for number in range(1, 8)] == [6, 5, 4, 3, 3, 3, 3]


@pytest.mark.requirement("PAR-098")
def test_before_the_debate_the_clock_shows_round_1() -> None:
    state = ParliamentScenario(5).state
    assert (
        round_clock.exchange_cap(state),
        round_clock.sentence_budget(state),
        state.round.exchanges,
    ) == (
        10,
        6,
        0,
    )


@pytest.mark.requirement("PAR-099")
@pytest.mark.requirement("PAR-104")
def test_an_exchange_counts_when_its_answer_lands_and_the_cap_is_hard() -> None:
    scenario = ParliamentScenario(2, issues=("security",)).debating(6)
    asked = scenario.submit(question(1, 2))
    assert scenario.state.round.exchanges == 0
    other = scenario.submit(question(2, 1))
    # Both questions are out: a third could never be answered within the cap (C-07).
    assert scenario.refused(question(1, 2)) == ("PAR-099", "exchange_cap", "type")
    scenario.submit(answer(2, 1, asked, scenario.scores(2)))
    assert scenario.state.round.exchanges == 1
    scenario.submit(answer(1, 2, other, scenario.scores(1)))
    assert scenario.state.round.exchanges == 2 == round_clock.exchange_cap(scenario.state)


def spent() -> ParliamentScenario:
    """Round 1 of two seats with all four exchanges used up."""
    scenario = ParliamentScenario(2, issues=("security",)).debating()
    for place in range(4):
        scenario.exchange(1 + place % 2, 2 - place % 2, 2, topic=f"t{place}")
    return scenario


@pytest.mark.requirement("PAR-108")
def test_at_the_cap_only_a_vote_or_the_end_of_the_round_is_left() -> None:
    scenario = spent()
    assert scenario.refused(question(1, 2)) == ("PAR-099", "exchange_cap", "type")
    assert scenario.refused(amendment(1)) == ("PAR-108", "cap_reached", "type")
    assert scenario.refused(motion(1)) == ("PAR-108", "cap_reached", "type")
    for kind, action, target in (
        ("order", "redirect", "rep_1"),
        ("order", "quiet", "rep_1"),
        ("observation", "deadlock_warning", None),
        ("observation", "progress_note", None),
        ("procedure", "next_speaker", "rep_1"),
    ):
        refused = scenario.refused(ruling(kind, action, target))
        assert refused == ("PAR-108", "cap_reached", "content.action")
    (due,) = (one for one in scenario.dues() if one.who == "speaker")
    assert due.what == "call a vote or end the round"
    scenario.submit(ROUND_END)
    scenario.submit(ROUND_START)
    assert scenario.state.round.number == 2
    called = spent()
    called.submit(CALL_VOTE)
    assert called.state.status is SessionStatus.VOTING


@pytest.mark.requirement("PAR-106")
def test_a_response_over_its_budget_is_flagged() -> None:
    scenario = ParliamentScenario(3).debating(4)
    long = question(1, 2, question="One. Two. Three. Four?")
    outcome = scenario.run(ask.Submit(document=long), AGENTS[0])
    (found,) = outcome.findings
    assert (found.rule, found.code, found.severity) == ("PAR-106", "over_budget", "warning")
    assert found.where == "content.question"
    assert scenario.messages()[-1]["content"]["question"] == "One. Two. Three. Four?"
    assert not scenario.state.owed
    reply = scenario.messages()[-1]["id"]
    both = answer(2, 1, reply, scenario.scores(2), answer="One. Two.", concessions="Three. Four.")
    (found,) = scenario.run(ask.Submit(document=both), AGENTS[1]).findings
    assert (found.rule, found.code, found.where) == ("PAR-106", "over_budget", "content.answer")


@pytest.mark.requirement("PAR-107")
def test_with_its_raw_text_stored_a_long_response_is_cut_and_the_speaker_says_so() -> None:
    scenario = ParliamentScenario(3).debating(4)
    asked = scenario.submit(question(1, 2))
    text = "One. Two (e.g. this). Three."
    long = answer(2, 1, asked, scenario.scores(2), answer=text, concessions="Four. Five.")
    raw = scenario.store(str(long))
    scenario.submit(long, raw=raw)
    said = scenario.messages()[-1]
    assert (said["content"]["answer"], said["content"]["concessions"]) == (text, "")
    with scenario.world.store.read() as view:
        cited = [record.body.artifacts for record in view.records("parliament/parl-20260218-001")]
    assert (raw,) in cited
    scenario.tick()
    told = scenario.messages()[-1]
    assert (told["from"], told["content"]["action"], told["content"]["target"]) == (
        "speaker",
        "redirect",
        "rep_2",
    )
    assert said["id"] in told["content"]["ruling"]
    assert scenario.signers()[-1] == SYSTEM


def test_a_long_question_is_cut_too() -> None:
    scenario = ParliamentScenario(3).debating(4)
    long = question(1, 2, question="One. Two. Three. Four?")
    scenario.submit(long, raw=scenario.store(str(long)))
    assert scenario.messages()[-1]["content"]["question"] == "One. Two. Three."
    assert len(scenario.state.owed) == 1


def test_a_short_response_is_not_cut() -> None:
    scenario = ParliamentScenario(3).debating()
    raw = scenario.store("x")
    scenario.submit(question(1, 2), raw=raw)
    logged = scenario.history()[-1]
    assert isinstance(logged, MessageLogged)
    assert logged.cut_to is None
    assert not scenario.state.owed


def test_the_last_round_has_no_next_one() -> None:
    scenario = ParliamentScenario(3, max_rounds=1).debating()
    scenario.submit(ROUND_END)
    assert scenario.refused(ROUND_START) == ("C-17", "no_round_left", "content.action")
    (due,) = scenario.dues()
    assert (due.who, due.what) == ("speaker", "call the vote")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("   ", 0),
        ("One", 1),
        ("One. Two! Three?", 3),
        ("Really?! Yes.", 2),
        ("Wait... what?", 2),
        ("It costs 3.5 per cent. Fine.", 2),
        ("Use e.g. a cache, i.e. Redis. Done.", 2),
        ("Rep. Smith asked J. Doe. He said no.", 2),
        ("We need it, etc. and so on.", 2),
        ("Run `a.b. c` now. Then stop.", 2),
        ("```\nx. y. z.\n``` Done.", 1),
        ("He said \u201cno.\u201d Then left.", 2),
        ("1. First\n2. Second", 2),
        ("Two ways:\n- one\n- two", 2),
        ("One\n\nTwo\n\n\nThree", 3),
        ("One line\nand its rest", 1),
        ("No. We say no. They say no.", 3),
        ("See no. 5 and fig. 7. Done.", 2),
        ("Wait 5 min. Then go.", 2),
        ("One.\u200bTwo.\u2060Three.\u00a0Four.", 4),
        ("One.\U0001f642 Two!\U0001f680 Three.", 3),
        ("One\u2049 Two\u06d4 Three\uff0eFour\u1362", 4),
        ("The fence ``` opens nothing. Two. Three.", 3),
        ("```\nNever closed. Still code.", 1),
        ("U.S.-based, etc., and so on.", 1),
        ("\u3053\u308c\u306f\u4e00\u3064\u3002\u4e8c\u3064\u76ee\u3002", 2),
        ("See moot.protocols.parliament.round_clock for it.", 1),
        ("...", 1),
    ],
)
def test_sentences_are_counted(text: str, count: int) -> None:
    assert sentences.count(text) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("." * 48_000 + "x", 1),
        ("e.g. " * 9_600, 1),
        ("A. " * 16_000, 1),
        (". " * 24_000, 1),
        ("?" * 24_000 + "#" * 24_000 + "x", 1),
        ("`" * 48_000, 1),
        ("\n " * 24_000 + "x", 1),
        ("See no. 1 " * 4_800, 1),
        ("xy. " * 12_000, 12_000),
    ],
    ids=lambda value: repr(value)[:8],
)
def test_the_largest_text_is_counted_at_once(text: str, count: int) -> None:
    """Where a step looked back over the whole text, one reply would hold everyone up."""
    assert sentences.count(text) == count


@given(st.text(alphabet="aB .!?`\n1-:\u3002\u200b", max_size=60), st.integers(0, 8))
def test_a_cut_text_is_a_beginning_within_its_budget(text: str, most: int) -> None:
    short = sentences.cut(text, most)
    assert text.startswith(short)
    assert sentences.count(short) <= max(most, 0)
    if sentences.count(text) <= most:
        assert short == text.rstrip()
