"""Rounds, questions, answers, motions, rulings."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.messages.contents import SessionStatus

from .scene import (
    AGENTS,
    CALL_VOTE,
    PERSON,
    ROUND_END,
    ROUND_START,
    ParliamentScenario,
    amendment,
    answer,
    bill,
    motion,
    question,
    ruling,
    statement,
    vote,
)


@pytest.mark.requirement("PAR-001")
@pytest.mark.requirement("PAR-002")
@pytest.mark.requirement("PAR-012")
def test_everything_said_is_a_message_and_earlier_ones_never_change() -> None:
    scenario = ParliamentScenario(3)
    before: list[dict[str, Any]] = []
    for act in (
        scenario.debating,
        scenario.satisfied,
        lambda: scenario.submit(motion(1)),
        lambda: scenario.submit(CALL_VOTE),
        lambda: scenario.vote("YES", "NO", "YES"),
    ):
        act()
        after = scenario.messages()
        assert after[: len(before)] == before
        assert len(after) > len(before)
        before = after


@pytest.mark.requirement("PAR-006")
@pytest.mark.requirement("PAR-090")
def test_ids_count_upwards_and_the_next_one_is_known() -> None:
    scenario = ParliamentScenario(3).debating()
    numbers = [message["id"] for message in scenario.messages()]
    assert numbers == ["msg-001", "msg-002", "msg-003", "msg-004", "msg-005"]
    assert scenario.state.next_message_id == 6
    assert scenario.submit(question(1, 2)) == "msg-006"
    assert scenario.state.next_message_id == 7


@pytest.mark.requirement("PAR-007")
@pytest.mark.requirement("PAR-008")
@pytest.mark.requirement("PAR-082")
def test_the_clerk_fills_id_round_and_timestamp() -> None:
    scenario = ParliamentScenario(3).debating(2)
    said = question(1, 2)
    outcome = scenario.run(
        ask.Submit(document={**said, "id": "msg-900", "round": 9, "timestamp": "now"}), AGENTS[0]
    )
    assert [one.code for one in outcome.findings] == ["field_ignored"] * 3
    last = scenario.messages()[-1]
    assert (last["id"], last["round"]) == ("msg-008", 2)
    assert last["timestamp"] == "2026-02-18T16:00:00Z"
    assert {message["round"] for message in scenario.messages()[:4]} == {0}


@pytest.mark.requirement("PAR-009")
def test_nobody_speaks_for_another() -> None:
    scenario = ParliamentScenario(3).debating()
    assert scenario.refused(question(1, 2), AGENTS[1]) == ("C-30", "foreign_sender", "from")
    scenario.world.agent("stranger-one")
    assert scenario.refused(question(1, 2), "stranger-one") == ("PAR-009", "not_seated", "from")
    assert scenario.refused(question(1, 2), SYSTEM) == ("PAR-009", "not_seated", "from")
    assert scenario.refused(question(1, 2), PERSON) == ("PAR-009", "not_seated", "from")


@pytest.mark.requirement("PAR-024")
def test_a_question_goes_to_another_seat() -> None:
    scenario = ParliamentScenario(3).debating()
    assert scenario.refused(question(1, 9)) == ("PAR-024", "unknown_seat", "to")
    scenario.submit(question(1, 2))
    assert scenario.state.round.asked == 1


@pytest.mark.requirement("PAR-027")
def test_an_answer_needs_its_own_open_question() -> None:
    scenario = ParliamentScenario(3).debating()
    asked = scenario.submit(question(1, 2))
    scores = scenario.scores(2)
    for reply in ("msg-001", "msg-999"):
        assert scenario.refused(answer(2, 1, reply, scores)) == (
            "PAR-027",
            "no_open_question",
            "in_reply_to",
        )
    wrong = answer(3, 1, asked, scenario.scores(3))
    assert scenario.refused(wrong) == ("PAR-027", "not_asked", "in_reply_to")
    assert scenario.refused(answer(2, 3, asked, scores)) == ("PAR-027", "not_asked", "to")
    scenario.submit(answer(2, 1, asked, scores))
    twice = scenario.refused(answer(2, 1, asked, scores))
    assert twice == ("PAR-027", "no_open_question", "in_reply_to")


@pytest.mark.requirement("PAR-041")
def test_a_motion_beside_a_question_is_an_entry_of_its_own() -> None:
    scenario = ParliamentScenario(3).debating()
    content = {"motion_type": "request_compromise", "reason": "Let us meet halfway."}
    scenario.submit({**question(1, 2), "motion": content})
    asked, moved = scenario.messages()[-2:]
    assert "motion" not in asked
    assert (moved["type"], moved["from"], moved["round"]) == ("MOTION", "rep_1", 1)
    assert moved["in_reply_to"] == asked["id"] == "msg-006"
    assert moved["id"] == "msg-007"
    assert moved["content"] == content
    assert list(scenario.state.round.motions) == ["msg-007"]


@pytest.mark.requirement("PAR-048")
@pytest.mark.requirement("PAR-051")
def test_a_motion_asks_the_speaker_and_decides_nothing() -> None:
    scenario = ParliamentScenario(3).debating().satisfied()
    assert scenario.refused({**motion(1), "from": "prime_minister"}, PERSON)[0] == "PAR-048"
    assert scenario.refused(motion(1), PERSON)[1] == "not_seated"
    assert scenario.refused(motion(1), AGENTS[1])[1] == "foreign_sender"
    moved = scenario.submit(motion(3))
    assert scenario.state.status is SessionStatus.DEBATE
    due = next(one for one in scenario.dues() if one.what == "rule on a motion")
    assert (due.who, due.subject) == ("speaker", f"{moved}: rep_3 moves call_vote")
    scenario.submit(ruling("observation", "progress_note", "rep_3"))
    assert not scenario.state.round.motions


@pytest.mark.requirement("PAR-058")
@pytest.mark.requirement("PAR-069")
def test_only_the_speaker_rules_and_announces() -> None:
    scenario = ParliamentScenario(3).debating()
    for who in (AGENTS[0], PERSON):
        assert scenario.refused(ROUND_END, who) == ("PAR-058", "not_the_speaker", "from")
    counted = {
        "type": "VOTE_TALLY",
        "from": "speaker",
        "content": {
            "bill_version": 1,
            "yes_votes": [],
            "no_votes": [],
            "tally": {"yes": 0, "no": 0, "total": 3},
            "passed": False,
            "key_objections": [],
            "next_action": "continue_debate",
        },
    }
    assert scenario.refused(counted, AGENTS[0])[1] == "not_the_speaker"
    assert scenario.refused({**ROUND_END, "from": "rep_1"}, SYSTEM)[0] == "PAR-058"


@pytest.mark.parametrize(
    ("kind", "action", "target"),
    [
        pytest.param("order", "redirect", "rep_2", marks=pytest.mark.requirement("PAR-060")),
        pytest.param(
            "observation", "deadlock_warning", None, marks=pytest.mark.requirement("PAR-063")
        ),
        pytest.param(
            "observation", "progress_note", None, marks=pytest.mark.requirement("PAR-064")
        ),
        pytest.param(
            "procedure", "next_speaker", "rep_2", marks=pytest.mark.requirement("PAR-065")
        ),
    ],
)
def test_rulings_that_only_say_something(kind: str, action: str, target: str | None) -> None:
    scenario = ParliamentScenario(3).debating()
    scenario.submit(ruling(kind, action, target))
    assert scenario.messages()[-1]["content"]["action"] == action
    assert scenario.state.status is SessionStatus.DEBATE
    assert scenario.refused(ruling(kind, action, "rep_9"))[2] == "content.target"


def test_who_is_given_the_floor_is_expected_to_speak() -> None:
    scenario = ParliamentScenario(3).debating()
    scenario.submit(ruling("procedure", "next_speaker", "rep_3"))
    due = next(one for one in scenario.dues() if one.what == "speak")
    assert (due.who, due.subject) == (AGENTS[2], "rep_3 has the floor")


@pytest.mark.requirement("PAR-066")
def test_a_round_starts_with_the_clock_at_zero() -> None:
    scenario = ParliamentScenario(3).debating()
    scenario.exchange(1, 2)
    assert scenario.refused(ROUND_START) == ("C-22", "wrong_phase", "content.action")
    scenario.submit(ROUND_END)
    scenario.submit(ROUND_START)
    this = scenario.state.round
    assert (this.number, this.running, this.exchanges, this.asked) == (2, True, 0, 0)
    assert scenario.messages()[-1]["round"] == 2


@pytest.mark.requirement("PAR-067")
@pytest.mark.requirement("PAR-119")
@pytest.mark.requirement("PAR-127")
def test_a_round_that_ends_is_summed_up_beside_the_ledger() -> None:
    scenario = ParliamentScenario(3).debating()
    scenario.exchange(1, 2)
    scenario.submit(question(2, 3, "audits"))
    count = len(scenario.messages())
    scenario.submit(
        {**question(3, 1), "motion": {"motion_type": "table_discussion", "reason": "Later."}}
    )
    scenario.submit(ROUND_END)
    assert len(scenario.messages()) == count + 3  # question, motion, ruling
    (row,) = scenario.summaries()
    assert (row["round"], row["vote_result"]) == (1, None)
    assert row["open_issues"] == [
        "audits (msg-008 to rep_3 is unanswered)",
        "cost (msg-009 to rep_1 is unanswered)",
        "Later. (msg-010, put off)",
    ]
    assert scenario.refused(ROUND_END) == ("C-22", "wrong_phase", "content.action")
    late = answer(3, 2, "msg-008", scenario.scores(3))
    assert scenario.refused(late) == ("C-22", "wrong_phase", "type")
    scenario.submit(ROUND_START)
    assert scenario.refused(late) == ("PAR-027", "no_open_question", "in_reply_to")


@pytest.mark.requirement("PAR-126")
def test_the_vote_of_an_earlier_round_is_not_told_again() -> None:
    scenario = ParliamentScenario(3).voting().vote("NO", "NO", "YES")
    scenario.clerk(ask.CountVotes())
    scenario.submit(ROUND_START)
    scenario.submit(ROUND_END)
    first, second = scenario.summaries()
    assert (first["vote_result"]["round"], first["vote_result"]["passed"]) == (1, False)
    assert second["vote_result"] is None
    assert [row["lean"] for row in second["positions"].values()] == ["YES", "YES", "YES"]


@pytest.mark.requirement("PAR-125")
def test_a_summary_says_who_moved() -> None:
    """Between two votes, by their scores alone, and by what they said."""
    scenario = ParliamentScenario(3).debating().satisfied(2)
    scenario.submit(ROUND_END)
    (first,) = scenario.summaries()
    assert first["key_shifts"] == []  # a first score is no move
    assert "Nobody moved on any point." in first["summary"]
    scenario.submit(ROUND_START)
    scenario.exchange(1, 2, 4)
    scenario.exchange(2, 3, 1)
    scenario.submit(ROUND_END)
    second = scenario.summaries()[1]
    assert second["key_shifts"] == [
        "Rep. Securitas went from NO to YES, scores security 4, not 2",
        "Rep. Innovatus scores innovation 1, not 2",
    ]
    assert "2 representatives moved on a point." in second["summary"]

    scenario = ParliamentScenario(3).voting().vote("NO", "NO", "YES")
    scenario.clerk(ask.CountVotes())
    scenario.submit(ROUND_START)
    scenario.exchange(1, 2, 4, stance="soften", topic="price")
    scenario.tick()
    scenario.submit(CALL_VOTE)
    scenario.vote("YES", "YES", "NO").clerk(ask.CountVotes())
    second = scenario.summaries()[1]
    assert second["key_shifts"] == [
        "Rep. Securitas softened on price",
        "Rep. Pragmatis went from NO to YES",
        "Rep. Securitas went from NO to YES",
        "Rep. Innovatus went from YES to NO",
    ]
    assert "3 representatives moved on a point." in second["summary"]


@pytest.mark.requirement("PAR-125")
def test_a_summary_lists_what_is_open() -> None:
    scenario = ParliamentScenario(3).debating().satisfied()
    scenario.submit(amendment(3))
    scenario.submit(amendment(2, "amend-002", description="Only small files"))
    scenario.submit(question(2, 3, "audits"))
    scenario.submit(ROUND_END)
    (row,) = scenario.summaries()
    pending = "amend-001 is pending: An audit before deployment"
    assert row["open_issues"] == [
        "audits (msg-014 to rep_3 is unanswered)",
        pending,
        "amend-002 is pending: Only small files",
    ]
    scenario.run(ask.Withdraw(amendment_id="amend-002"), scenario.agent(2))
    assert scenario.summaries()[0]["open_issues"] == [row["open_issues"][0], pending]
    scenario.submit(CALL_VOTE)
    scenario.submit(vote(1, "NO", scenario.scores(1), conditions=["A price", "a date"]))
    scenario.submit(vote(2, "NO", scenario.scores(2), conditions=[]))
    scenario.submit(vote(3, "YES", scenario.scores(3), conditions=["an audit"]))
    scenario.clerk(ask.CountVotes())
    assert scenario.summaries()[0]["open_issues"] == [
        row["open_issues"][0],
        "Rep. Pragmatis votes NO until this is met: A price; a date",
        pending,
    ]
    scenario.submit(ROUND_START)
    scenario.submit(ROUND_END)
    assert scenario.summaries()[1]["open_issues"] == [pending]


@pytest.mark.requirement("PAR-123")
def test_a_summary_that_someone_brings_agrees_with_the_record() -> None:
    scenario = ParliamentScenario(3).voting().vote("NO", "NO", "YES")
    scenario.clerk(ask.CountVotes())
    (row,) = scenario.summaries()
    positions = {**row["positions"], "rep_1": {"lean": "YES", "key_concern": ""}}
    settled = [{"amendment_id": "amend-001", "status": "rejected"}]
    wrong: list[tuple[dict[str, Any], str, str]] = [
        ({"positions": positions}, "PAR-123", "summary.positions.rep_1.lean"),
        ({"vote_result": None}, "PAR-126", "summary.vote_result"),
        ({"amendments_actioned": settled}, "PAR-124", "summary.amendments_actioned[0]"),
    ]
    for change, rule, where in wrong:
        refused = scenario.refusal(ask.Summarize(summary={**row, **change}), SYSTEM)
        assert (refused.findings[0].rule, refused.findings[0].where) == (rule, where)
    scenario.clerk(ask.Summarize(summary={**row, "summary": "They met. They fell out."}))
    assert scenario.summaries()[0]["summary"] == "They met. They fell out."


@pytest.mark.requirement("PAR-122")
def test_a_better_told_summary_stays_and_its_facts_follow() -> None:
    scenario = ParliamentScenario(3).debating().satisfied()
    position = {"lean": "NO", "key_concern": "The price."}
    row: dict[str, Any] = {
        "round": 1,
        "summary": "They asked. They answered.",
        "positions": dict.fromkeys(("rep_1", "rep_2", "rep_3"), position),
        "key_shifts": ["none"],
        "amendments_actioned": [],
        "vote_result": None,
        "open_issues": [],
    }
    early = scenario.refusal(ask.Summarize(summary=row), SYSTEM)
    assert early.code == "round_not_ended"
    scenario.submit(ROUND_END)
    outcome = scenario.clerk(ask.Summarize(summary={**row, "summary": "Short."}))
    assert [one.code for one in outcome.findings] == ["uneven_summary"]
    scenario.clerk(ask.Summarize(summary=row))
    assert scenario.refusal(ask.Summarize(summary={"round": 1}), SYSTEM).findings[0].where
    scenario.submit(CALL_VOTE)
    scenario.vote("YES", "YES", "YES").clerk(ask.CountVotes())
    (told,) = scenario.summaries()
    assert told["key_shifts"] == ["none"]
    assert told["vote_result"]["passed"] is True
    assert told["positions"]["rep_2"] == {"lean": "YES", "key_concern": "The price."}


def test_a_circle_is_warned_of_by_the_speaker_itself() -> None:
    scenario = ParliamentScenario(3).debating()
    for asker, asked in ((1, 2), (2, 1), (1, 2)):
        scenario.exchange(asker, asked, topic="Who  pays?")
    assert not scenario.state.owed
    scenario.exchange(2, 1, topic="who pays?")
    assert len(scenario.state.owed) == 1
    scenario.tick()
    last = scenario.messages()[-1]
    assert (last["from"], last["content"]["action"]) == ("speaker", "deadlock_warning")
    assert scenario.signers()[-1] == SYSTEM
    assert not scenario.state.owed


def test_someone_who_moves_breaks_the_circle() -> None:
    scenario = ParliamentScenario(3).debating(3)
    for stance in ("maintain", "maintain", "soften", "maintain"):
        scenario.exchange(1, 2, stance=stance)
    assert not scenario.state.owed
    assert [(one.seat, one.topic) for one in scenario.state.round.shifts] == [("rep_2", "cost")]


def test_the_debates_messages_have_no_place_elsewhere() -> None:
    scenario = ParliamentScenario(3).voting()
    for document in (
        question(1, 2),
        answer(2, 1, "msg-006", scenario.scores(2)),
        amendment(1),
        motion(1),
        statement(1),
        bill(1, version=2),
    ):
        assert scenario.refused(document) == ("C-22", "wrong_phase", "type")
    for document in (ROUND_START, ROUND_END, CALL_VOTE, ruling("order", "quiet", "rep_1")):
        assert scenario.refused(document) == ("C-22", "wrong_phase", "content.action")


def test_a_complete_session_hears_nothing_more() -> None:
    scenario = ParliamentScenario(3).reviewing()
    scenario.decide("approve")
    scenario.clerk(ask.Complete())
    assert scenario.state.status is SessionStatus.COMPLETE
    assert isinstance(scenario.history()[-1], did.SessionCompleted)
    assert scenario.dues() == []
    for document in (question(1, 2), vote(1, "YES", scenario.scores(1)), bill(1, version=2)):
        assert scenario.refused(document)[1] == "wrong_phase"
    assert scenario.refusal(ask.Complete(), SYSTEM).code == "wrong_phase"
    assert not scenario.world.engine.open_streams()
