"""Motives: scores, the vote gate with its two exceptions, and who should be asked next."""

from __future__ import annotations

import pytest

from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import motives
from moot.protocols.parliament.messages.contents import SessionStatus

from .scene import (
    AGENTS,
    CALL_VOTE,
    ROUND_END,
    ROUND_START,
    ParliamentScenario,
    answer,
    place,
    question,
    vote,
)


@pytest.mark.requirement("PAR-034")
def test_scores_of_an_answer_become_the_satisfaction() -> None:
    scenario = ParliamentScenario(3).debating()
    asked = scenario.submit(question(2, 1))
    scenario.submit(answer(1, 2, asked, {"cost efficiency": 2}))
    assert dict(scenario.seat(1).scores_by_motive()) == {
        "cost efficiency": 2,
        "time-to-market": None,
    }
    asked = scenario.submit(question(2, 1))
    scenario.submit(answer(1, 2, asked, {"time-to-market": 5}))
    # C-15: what an answer does not name keeps its value.
    assert dict(scenario.seat(1).scores_by_motive()) == {"cost efficiency": 2, "time-to-market": 5}


@pytest.mark.requirement("PAR-032")
def test_one_scores_ones_own_motives_only() -> None:
    scenario = ParliamentScenario(3).debating()
    asked = scenario.submit(question(1, 2))
    foreign = answer(2, 1, asked, {"security": 3, "innovation": 3})
    where = "content.motive_scores.innovation"
    assert scenario.refused(foreign) == ("PAR-032", "foreign_motive", where)
    voting = ParliamentScenario(3).voting()
    assert voting.refused(vote(2, "YES", {"speed": 3}))[1] == "foreign_motive"


@pytest.mark.requirement("PAR-035")
@pytest.mark.requirement("PAR-062")
def test_no_vote_while_a_motive_is_below_three() -> None:
    scenario = ParliamentScenario(3).debating()
    gated = ("PAR-035", "vote_gated", "content.action")
    assert scenario.refused(CALL_VOTE) == gated  # nothing is scored yet (C-13)
    scenario.satisfied(3)
    scenario.exchange(1, 2, 2)
    error = scenario.refusal(ask.Submit(document=CALL_VOTE), SYSTEM)
    assert place(error) == gated
    assert "security of rep_2 (2)" in str(error)
    scenario.exchange(1, 2, 3)
    scenario.submit(CALL_VOTE)
    assert scenario.state.status is SessionStatus.VOTING
    assert scenario.state.poll is not None
    assert not scenario.state.poll.forced


def test_the_cap_forces_the_vote() -> None:
    scenario = ParliamentScenario(2, issues=("security",)).debating()
    for place_ in range(4):
        scenario.exchange(1 + place_ % 2, 2 - place_ % 2, 1, topic=f"t{place_}")
    scenario.submit(CALL_VOTE)
    assert scenario.state.poll is not None
    assert scenario.state.poll.forced
    scenario.vote("NO", "NO").clerk(ask.CountVotes())
    assert scenario.state.vote_history[-1].forced


def test_the_last_round_opens_the_vote() -> None:
    scenario = ParliamentScenario(3, max_rounds=2).debating()
    assert scenario.refused(CALL_VOTE)[1] == "vote_gated"
    scenario.submit(ROUND_END)
    assert scenario.refused(CALL_VOTE)[1] == "vote_gated"
    scenario.submit(ROUND_START)
    scenario.submit(CALL_VOTE)
    assert scenario.state.poll is not None
    assert scenario.state.poll.forced


def test_an_exhausted_round_still_forces_the_vote_after_its_end() -> None:
    scenario = ParliamentScenario(2, issues=("security",)).debating()
    for number in range(4):
        scenario.exchange(1 + number % 2, 2 - number % 2, 1, topic=f"t{number}")
    scenario.submit(ROUND_END)
    scenario.submit(CALL_VOTE)
    assert scenario.state.status is SessionStatus.VOTING


def test_the_underserved_come_lowest_first_and_their_seat_is_asked() -> None:
    scenario = ParliamentScenario(3).debating()
    scenario.exchange(3, 2, 2)
    scenario.exchange(2, 3, 4)
    low = motives.list_underserved(scenario.state)
    assert [(one.seat, one.score) for one in low] == [
        ("rep_1", None),
        ("rep_1", None),
        ("rep_2", 2),
    ]
    found = list(motives.suggest_exchanges(scenario.state))
    assert [(one.asker, one.asked) for one in found] == [("rep_2", "rep_1"), ("rep_1", "rep_2")]
    asks = [due for due in scenario.dues() if due.what == "ask"]
    assert (asks[1].who, asks[1].subject) == (AGENTS[0], "rep_1 asks rep_2 about security")
    scenario.submit(question(3, 1))
    assert [one.asked for one in motives.suggest_exchanges(scenario.state)] == ["rep_2"]


@pytest.mark.parametrize(
    ("issue", "motive", "same"),
    [
        ("security", "Security", True),
        ("cost of operation", "cost", True),
        ("cost", "cost of operation", True),
        ("time-to-market", "time to market", True),
        ("cost", "costs", False),
        ("cost", "accosting", False),
        ("!", "!", True),
        ("!", "?", False),
    ],
)
def test_a_motive_speaks_for_an_issue_by_its_words(issue: str, motive: str, same: bool) -> None:
    assert motives.is_about(issue, motive) is same
