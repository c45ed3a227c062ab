"""Votes: one a seat, a strict majority of seats, and a tally that anyone can count again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.messages import limits
from moot.protocols.parliament.messages.contents import Ballot, SessionStatus
from moot.protocols.parliament.model import SessionOutcome, VoteRow, VotingRecordRow

from .scene import (
    AGENTS,
    CALL_VOTE,
    PERSON,
    ROUND_END,
    ROUND_START,
    ParliamentScenario,
    bill,
    place,
    vote,
)


@pytest.mark.requirement("PAR-056")
def test_one_vote_a_seat_on_the_ballot() -> None:
    debate = ParliamentScenario(3).debating()
    early = vote(1, "YES", debate.scores(1))
    assert debate.refused(early) == ("C-22", "wrong_phase", "type")
    scenario = ParliamentScenario(3).voting()
    scenario.submit(vote(1, "YES", scenario.scores(1)))
    again = scenario.refused(vote(1, "NO", scenario.scores(1)))
    assert again == ("PAR-056", "already_voted", "type")


def test_no_draft_changes_the_bill_while_it_is_voted_on() -> None:
    scenario = ParliamentScenario(3).voting()
    assert scenario.refused(bill(1, version=2)) == ("C-22", "wrong_phase", "type")
    assert scenario.state.poll is not None
    assert scenario.state.poll.bill_version == 1


@pytest.mark.requirement("PAR-057")
def test_a_vote_stands_in_the_seats_record_and_scores_its_motives() -> None:
    scenario = ParliamentScenario(3).voting()
    scenario.submit(vote(2, "NO", {"security": 1}))
    assert scenario.seat(2).voting_record == (VotingRecordRow(1, 1, Ballot.NO),)
    assert dict(scenario.seat(2).scores_by_motive()) == {"security": 1}


@pytest.mark.requirement("PAR-055")
@pytest.mark.parametrize("conditions", [[], [" "]])
def test_a_no_without_conditions_counts_with_a_warning_and_expels_nobody(
    conditions: list[str],
) -> None:
    scenario = ParliamentScenario(3).voting()
    no = vote(2, "NO", {"security": 2}, conditions=conditions)
    outcome = scenario.run(ask.Submit(document=no), scenario.agent(2))
    (said,) = outcome.findings
    assert (said.rule, said.code, said.severity) == ("PAR-055", "conditions_required", "warning")
    assert said.where == "content.conditions"
    assert [row.vote for row in scenario.seat(2).voting_record] == [Ballot.NO]
    assert (scenario.seat(2).malformed, scenario.seat(2).expelled) == (0, False)
    scenario.vote("YES", "", "YES").clerk(ask.CountVotes())
    assert [(row.yes, row.no) for row in scenario.state.vote_history] == [(2, 1)]


@pytest.mark.requirement("PAR-071")
@pytest.mark.requirement("PAR-072")
@pytest.mark.requirement("PAR-073")
def test_the_tally_agrees_with_the_ballots_and_advances_the_bill() -> None:
    scenario = ParliamentScenario(5).voting()
    scenario.vote("YES", "NO", "YES", "NO", "YES").clerk(ask.CountVotes())
    content = scenario.messages()[-1]["content"]
    assert content["yes_votes"] == ["rep_1", "rep_3", "rep_5"]
    assert content["no_votes"] == ["rep_2", "rep_4"]
    assert content["tally"] == {"yes": 3, "no": 2, "total": 5}
    assert content["passed"] is True
    assert content["next_action"] == "advance_to_pm"
    assert content["key_objections"] == [
        {"from": "rep_2", "concern": "rep_2 says NO."},
        {"from": "rep_4", "concern": "rep_4 says NO."},
    ]
    assert scenario.status() is SessionStatus.PM_REVIEW
    assert scenario.state.vote_history == (VoteRow(1, 1, 3, 2, 5, True, False),)
    assert scenario.summaries()[0]["vote_result"]["yes"] == 3


@given(st.integers(0, 30), st.integers(2, 30))
def test_more_than_half_of_the_seats_pass_a_bill(yes: int, seats: int) -> None:
    assert limits.is_majority(yes, seats) is (yes > seats / 2)


def test_a_tie_fails() -> None:
    scenario = ParliamentScenario(4).voting()
    scenario.vote("YES", "YES", "NO", "NO").clerk(ask.CountVotes())
    assert scenario.messages()[-1]["content"]["passed"] is False
    assert scenario.status() is SessionStatus.DEBATE


def test_the_tally_waits_until_the_ballot_is_closed() -> None:
    scenario = ParliamentScenario(3).voting()
    scenario.vote("YES")
    missing = scenario.refusal(ask.CountVotes(), SYSTEM)
    assert place(missing) == ("C-12", "votes_missing", None)
    assert [due.who for due in scenario.dues()] == [AGENTS[1], AGENTS[2]]
    assert scenario.refusal(ask.CloseBallot(), AGENTS[0]).code == "not_allowed"
    scenario.run(ask.CloseBallot(), PERSON)
    assert isinstance(scenario.history()[-1], did.BallotClosed)
    late = scenario.refused(vote(2, "YES", scenario.scores(2)))
    assert late == ("C-12", "ballot_closed", "type")
    scenario.clerk(ask.CountVotes())
    content = scenario.messages()[-1]["content"]
    assert (content["yes_votes"], content["no_votes"]) == (["rep_1"], [])
    assert content["tally"] == {"yes": 1, "no": 0, "total": 3}
    assert content["passed"] is False


def test_a_closed_ballot_is_closed_once() -> None:
    scenario = ParliamentScenario(3).voting()
    scenario.clerk(ask.CloseBallot())
    assert scenario.clerk(ask.CloseBallot()).recorded == ()


def test_a_defeat_goes_back_to_the_debate_and_the_next_round() -> None:
    scenario = ParliamentScenario(3).voting()
    scenario.vote("YES", "NO", "NO").clerk(ask.CountVotes())
    assert scenario.messages()[-1]["content"]["next_action"] == "continue_debate"
    assert scenario.status() is SessionStatus.DEBATE
    assert scenario.state.poll is None
    assert scenario.refused(CALL_VOTE) == ("S-05", "round_voted", "content.action")
    (due,) = (one for one in scenario.dues() if one.who == "speaker")
    assert (due.what, due.subject) == ("start the round", "round 2")
    scenario.submit(ROUND_START)
    scenario.submit(CALL_VOTE)
    assert scenario.status() is SessionStatus.VOTING


def test_a_defeat_in_the_last_round_ends_the_session() -> None:
    scenario = ParliamentScenario(3, max_rounds=1).debating()
    scenario.submit(ROUND_END)
    scenario.submit(CALL_VOTE)
    scenario.vote("NO", "NO", "NO").clerk(ask.CountVotes())
    assert scenario.messages()[-1]["content"]["next_action"] == "end_without_passage"
    assert scenario.status() is SessionStatus.SYNTHESIS
    assert scenario.state.outcome is SessionOutcome.NO_PASSAGE
    assert [due.what for due in scenario.dues()] == ["write the final document"]


def test_no_vote_before_a_round() -> None:
    scenario = ParliamentScenario(3, max_rounds=6).drafting()
    scenario.submit(bill())
    assert scenario.refused(CALL_VOTE)[1] in ("round_voted", "vote_gated")


def counted(**changes: Any) -> dict[str, Any]:
    content = {
        "bill_version": 1,
        "yes_votes": ["rep_1", "rep_3"],
        "no_votes": ["rep_2"],
        "tally": {"yes": 2, "no": 1, "total": 3},
        "passed": True,
        "key_objections": [{"from": "rep_2", "concern": "Too dear."}],
        "next_action": "advance_to_pm",
    }
    return {"type": "VOTE_TALLY", "from": "speaker", "content": {**content, **changes}}


def test_a_speakers_own_tally_must_be_the_right_one() -> None:
    scenario = ParliamentScenario(3).voting()
    assert scenario.refused(counted()) == ("C-12", "votes_missing", None)
    scenario.vote("YES", "NO", "YES")
    swapped = counted(yes_votes=["rep_1", "rep_2"], no_votes=["rep_3"])
    assert scenario.refused(swapped) == ("PAR-071", "wrong_tally", "content.yes_votes")
    other = counted(bill_version=2)
    assert scenario.refused(other) == ("PAR-071", "wrong_tally", "content.bill_version")
    slander = counted(key_objections=[{"from": "rep_1", "concern": "None."}])
    where = "content.key_objections[0].from"
    assert scenario.refused(slander) == ("PAR-071", "wrong_tally", where)
    scenario.submit(counted())
    assert scenario.status() is SessionStatus.PM_REVIEW
    assert scenario.messages()[-1]["content"]["key_objections"][0]["concern"] == "Too dear."


def test_only_the_clerk_counts() -> None:
    scenario = ParliamentScenario(3).voting().vote("YES", "YES", "YES")
    assert scenario.refusal(ask.CountVotes(), AGENTS[0]).code == "not_the_clerk"
    (due,) = scenario.dues()
    assert (due.who, due.what) == ("clerk", "count the votes")
