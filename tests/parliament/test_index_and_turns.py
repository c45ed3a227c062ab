"""The index of parliament, whose turn it is, and files with one thing too many."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from moot.core.findings import select_errors
from moot.core.machine import Drop, Put, Recorded, Words
from moot.core.names import SYSTEM
from moot.core.record import Actor
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.evolution import apply_event
from moot.protocols.parliament.files.file_shapes import FILES, VOTE_ROW
from moot.protocols.parliament.files.inspection import inspect_files
from moot.protocols.parliament.machine import MACHINE
from moot.protocols.parliament.messages.contents import AmendmentStatus
from moot.protocols.parliament.messages.message import read_message
from moot.protocols.parliament.round_clock import describe_shift
from moot.protocols.parliament.session_files import (
    FilesAsEvents,
    append_to_ledger,
    encode_ledger,
    import_findings,
)
from moot.protocols.parliament.views import view_session

from .played_sessions import encoded, files, messages_of
from .scene import (
    AGENTS,
    CALL_VOTE,
    ROUND_START,
    STREAM,
    ParliamentScenario,
    amendment,
    answer,
    bill,
    motion,
    question,
    ruling,
)
from .test_session_file_properties import taking

LEDGER, SESSION, BILL, SUMMARIES = FILES


def rows_of(event: Any) -> list[Any]:
    return list(MACHINE.index(Recorded(event, STREAM, 0, 0, Actor(SYSTEM, 1, "k"), b"")))


def test_a_session_is_found_by_its_id_and_its_problem_until_it_is_complete() -> None:
    (convened,) = (
        one for one in ParliamentScenario(3).history() if isinstance(one, did.ParliamentConvened)
    )
    problem = "How do we cache? We must decide."
    row = {"stream": STREAM, "problem_statement": problem, "status": "open"}
    assert rows_of(convened) == [
        Put("open", STREAM, {}),
        Put("parliament.sessions", "parl-20260218-001", row),
        Words("parliament.sessions", "parl-20260218-001", problem),
    ]
    assert rows_of(did.SessionCompleted()) == [Drop("open", STREAM)]


def test_a_summary_is_found_by_its_round_and_one_without_a_round_nowhere() -> None:
    summary = {"round": 7, "summary": "So."}
    assert rows_of(did.RoundSummarized(summary=summary)) == [
        Put("parliament.summaries", f"{STREAM} 000007", summary)
    ]
    for forged in ({}, {"round": "7"}, {"round": None}):
        assert rows_of(did.RoundSummarized(summary=forged)) == []


def test_messages_are_added_to_an_empty_ledger_file_too() -> None:
    scenario = ParliamentScenario(3).debating()
    said = messages_of(scenario)
    whole = encode_ledger(scenario.state, said)
    assert append_to_ledger(encode_ledger(scenario.state, ()), said) == whole
    assert append_to_ledger(encode_ledger(scenario.state, said[:2]), said[2:]) == whole
    assert append_to_ledger(whole, ()) == whole


# Files


def documents_of(scenario: ParliamentScenario) -> dict[str, Any]:
    return {name: json.loads(data) for name, data in files(scenario).items()}


def codes(documents: dict[str, Any]) -> list[str]:
    return [one.code for one in select_errors(inspect_files(encoded(documents)))]


def test_a_motion_may_stand_alone() -> None:
    scenario = ParliamentScenario(3).debating()
    scenario.submit(motion(1))
    scenario.submit({**question(2, 3), "motion": motion(2)["content"]})
    documents = documents_of(scenario)
    assert [
        one.get("in_reply_to") is None
        for one in documents[LEDGER]["messages"]
        if one["type"] == "MOTION"
    ] == [True, False]
    assert codes(documents) == []


def test_one_exchange_more_than_the_cap_is_found() -> None:
    scenario = ParliamentScenario(2, issues=("security",)).debating()
    for place in range(4):
        scenario.exchange(1 + place % 2, 2 - place % 2, 2, topic=f"t{place}")
    documents = documents_of(scenario)
    assert codes(documents) == []
    said = documents[LEDGER]["messages"]
    number = len(said)
    asked, answered = (dict(one) for one in said[-2:])
    asked["id"], answered["id"] = f"msg-{number + 1:03d}", f"msg-{number + 2:03d}"
    answered["in_reply_to"] = asked["id"]
    said += [asked, answered]
    found = select_errors(inspect_files(encoded(documents)))
    assert [one.message for one in found if one.code == "over_the_cap"] == [
        "round 1 has 4 exchanges"
    ]


@pytest.mark.parametrize(
    ("temperature", "is_sound"), [(0, True), (100, True), (-1, False), (101, False)]
)
def test_a_temperature_lies_between_0_and_100(temperature: int, is_sound: bool) -> None:
    documents = documents_of(ParliamentScenario(3))
    seat = documents[SESSION]["representatives"][0]
    seat["temperature"] = temperature
    seat["temperature_history"] = [{"round": 0, "temperature": temperature}]
    assert ("out_of_range" not in codes(documents)) is is_sound


def test_a_temperature_that_stays_may_be_written_again() -> None:
    documents = documents_of(ParliamentScenario(3).debating())
    for seat in documents[SESSION]["representatives"]:
        start = seat["temperature_history"][0]["temperature"]
        seat["temperature"] = start
        seat["temperature_history"] = [{"round": number, "temperature": start} for number in (0, 1)]
    assert select_errors(import_findings(taking(documents))) == ()


def test_a_temperature_of_a_round_that_never_was_is_told() -> None:
    documents = documents_of(ParliamentScenario(3).debating())
    seat = documents[SESSION]["representatives"][0]
    now = seat["temperature"]
    seat["temperature_history"] += [
        {"round": 5, "temperature": now - 1},
        {"round": 6, "temperature": now},
    ]
    places = [one.where for one in select_errors(import_findings(taking(documents)))]
    assert f"{SESSION}#representatives" in places


# Whose turn it is


def whats(scenario: ParliamentScenario) -> set[str]:
    return {due.what for due in scenario.dues()}


def test_when_all_questions_are_asked_nobody_is_to_ask_another() -> None:
    scenario = ParliamentScenario(3).debating(6)
    for asker, asked in ((1, 2), (2, 1), (1, 3)):
        assert {"ask", "be heard"} <= whats(scenario)
        scenario.submit(question(asker, asked))
    assert scenario.seat(3).spoke_in < 6
    assert not {"ask", "be heard"} & whats(scenario)
    assert "answer" in whats(scenario)


def test_an_amendment_of_an_expelled_drafter_is_the_clerks_to_take_in() -> None:
    scenario = ParliamentScenario(3).debating()
    scenario.submit(amendment(3))
    scenario.exchange(3, 1, position=("amend-001", "endorse"))
    (due,) = (one for one in scenario.dues() if one.what == "incorporate")
    assert due.who == AGENTS[0]
    state = scenario.state
    drafter = msgspec.structs.replace(state.seats["rep_1"], expelled=True)
    alone = msgspec.structs.replace(state, seats=state.seats.set("rep_1", drafter))
    (due,) = (one for one in MACHINE.agenda(alone, 0) if one.what == "incorporate")
    assert due.who == "clerk"


def test_no_vote_is_called_before_the_first_round() -> None:
    scenario = ParliamentScenario(3).drafting()
    scenario.submit(bill())
    refused = scenario.refusal(ask.Submit(document=CALL_VOTE), SYSTEM)
    assert "no round has started" in [one.message for one in refused.findings]
    assert not view_session(scenario.state).may_vote
    scenario.submit(ROUND_START)
    asked = scenario.submit(question(1, 2))
    scenario.submit(answer(2, 1, asked, scenario.scores(2)))


def test_a_view_tells_how_much_a_temperature_changed() -> None:
    scenario = ParliamentScenario(5).debating(2)
    seats = scenario.state.seats_in_order()
    shifts = {seat.id: seat.shift for seat in view_session(scenario.state).seats}
    for seat in seats:
        before = [row.temperature for row in seat.temperature_history if row.round < 2][-1]
        assert shifts[seat.id] == describe_shift(before, seat.temperature)
    assert any(shifts.values())


def test_a_ruling_that_names_nobody_needs_nobody() -> None:
    scenario = ParliamentScenario(3).debating()
    assert scenario.submit(ruling("observation", "progress_note"))
    (logged,) = (
        one for one in scenario.messages() if one["content"].get("action") == "progress_note"
    )
    assert read_message(logged).sender == "speaker"


def test_votes_that_nobody_called_for_are_votes_all_the_same() -> None:
    """A script counts them when the clock is used up; nothing in the ledger says so."""
    documents = documents_of(ParliamentScenario(3).voting().vote("YES", "", "NO"))
    said = documents[LEDGER]["messages"]
    documents[LEDGER]["messages"] = [
        one for one in said if one["content"].get("action") != "call_vote"
    ]
    poll = FilesAsEvents(taking(documents)).state.poll
    assert poll is not None
    assert sorted(poll.votes) == ["rep_1", "rep_3"]


def test_a_seat_that_is_given_to_its_own_agent_again_is_given_once() -> None:
    scenario = ParliamentScenario(3)
    again = ask.BindSeat(seat="rep_1", agent=AGENTS[0])
    assert scenario.clerk(again).recorded == ()
    taken = scenario.clerk(ask.BindSeat(seat="rep_1", agent=AGENTS[3])).recorded
    assert [type(one.event) for one in taken] == [did.SeatBound]


def test_the_row_of_a_vote_may_be_of_round_0() -> None:
    row = {"round": 0, "bill_version": 1, "yes": 0, "no": 0, "total": 1, "passed": False}
    assert list(VOTE_ROW(row, "v")) == []
    for name, least in (("round", 0), ("bill_version", 1), ("yes", 0), ("no", 0), ("total", 1)):
        (finding,) = VOTE_ROW({**row, name: least - 1}, "v")
        assert (finding.code, finding.where) == ("out_of_range", f"v.{name}")


def test_what_is_on_record_about_an_amendment_that_is_not_there_changes_nothing() -> None:
    state = ParliamentScenario(3).debating().state
    settled = did.AmendmentSettled(amendment_id="amend-009", status=AmendmentStatus.REJECTED)
    for event in (settled, did.AmendmentVoteCalled(amendment_id="amend-009")):
        assert apply_event(state, event) == state
