"""Parliament in cases easily forgotten: files under another id, seats, definitions."""

from __future__ import annotations

import pytest

from moot.core.findings import select_errors
from moot.core.machine import Context, KeyClass, VerifiedActor
from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.documents.turn_context import describe_own_seat
from moot.protocols.parliament.machine import MACHINE
from moot.protocols.parliament.messages.contents import AmendmentAction, BillSection, Position
from moot.protocols.parliament.messages.message import message_findings
from moot.protocols.parliament.model import Amendment, AmendmentEndorsement, State
from moot.protocols.parliament.round_clock import draw_temperatures
from moot.protocols.parliament.session_files import encode_session
from moot.protocols.parliament.votes import is_carried

from .played_sessions import documents
from .samples import message
from .scene import AGENTS, STREAM, ParliamentScenario, amendment, question
from .test_properties import NOON
from .test_session_file_properties import taking


@pytest.mark.requirement("PAR-004")
def test_files_are_imported_under_their_own_id() -> None:
    command = taking(documents())
    clerk = VerifiedActor(SYSTEM, 1, "k", KeyClass.SYSTEM)

    def import_as(stream: str) -> list[str]:
        context = Context(NOON, clerk, stream, "o", {})
        decision = MACHINE.decide(State(), command, context)
        return [finding.code for finding in select_errors(decision.findings)]

    assert import_as(STREAM) == []
    assert import_as("parliament/parl-20200101-009") == ["bad_id"]


@pytest.mark.requirement("PAR-002")
def test_before_the_session_begins_only_the_clerk_gives_out_seats() -> None:
    scenario = ParliamentScenario(3)
    seat = ask.BindSeat(seat="rep_1", agent=AGENTS[0])
    assert scenario.refusal(seat, AGENTS[0]).code == "not_the_clerk"


@pytest.mark.requirement("PAR-110")
@pytest.mark.parametrize("definitions", ["one", None, [3], {"a": "b"}])
def test_definitions_are_a_list_of_texts_if_they_are_there(definitions: object) -> None:
    bill = message("BILL_DRAFT")
    bill["content"]["sections"]["scope"]["definitions"] = definitions
    places = [finding.where for finding in message_findings(bill)]
    assert any(place and "definitions" in place for place in places)
    bill["content"]["sections"]["scope"]["definitions"] = ["a seat: who votes"]
    assert message_findings(bill) == ()


def test_the_version_of_the_machine_is_raised_on_purpose() -> None:
    """Snapshots of another version are not read: all states would be computed again."""
    assert MACHINE.version == 4


def test_who_was_asked_is_expected_to_answer() -> None:
    scenario = ParliamentScenario(3).debating()
    asked = scenario.submit(question(1, 2))
    due = next(one for one in scenario.dues() if one.what == "answer")
    assert (due.who, due.subject) == (AGENTS[1], f"rep_2: {asked} of rep_1, cost")


@pytest.mark.requirement("PAR-094")
def test_a_seed_gives_the_same_temperatures_for_ever() -> None:
    assert draw_temperatures("seed", 1, 5) == (56, 40, 16, 82, 74)


@pytest.mark.parametrize("name", ["Not A Name", "", "operator"])
def test_a_seat_is_given_to_an_agent(name: str) -> None:
    scenario = ParliamentScenario(3)
    refused = scenario.refusal(ask.BindSeat(seat="rep_1", agent=name), SYSTEM)
    assert [(one.code, one.where) for one in refused.findings] == [("bad_agent", "agent")]


def test_a_question_waits_for_whom_it_was_put_to_and_for_nobody_else() -> None:
    scenario = ParliamentScenario(3).debating()
    asked = scenario.submit(question(1, 2))
    waiting = {
        seat.id: [one.id for one in describe_own_seat(scenario.state, seat).questions]
        for seat in scenario.state.seats_in_order()
    }
    assert waiting == {"rep_1": [], "rep_2": [asked], "rep_3": []}


def test_the_drafter_is_expected_to_draft() -> None:
    scenario = ParliamentScenario(3).drafting()
    drafter = scenario.state.seats[scenario.state.drafter or ""]
    due = next(one for one in scenario.dues() if one.what == "draft the bill")
    assert due.who == drafter.agent


def test_an_amendment_that_is_not_put_to_a_vote_waits_for_nobodys_position() -> None:
    scenario = ParliamentScenario(3).debating()
    scenario.submit(amendment(1))
    assert [one.what for one in scenario.dues() if one.what == "have positions asked for"] == []


@pytest.mark.requirement("PAR-118")
@pytest.mark.parametrize(
    ("positions", "carried"),
    [
        ({}, False),
        ({"rep_1": "ENDORSE"}, False),
        ({"rep_2": "ENDORSE"}, True),
        ({"rep_2": "ENDORSE", "rep_3": "OPPOSE"}, True),
        ({"rep_2": "ENDORSE", "rep_3": "OPPOSE", "rep_4": "OPPOSE"}, False),
        ({"rep_3": "OPPOSE"}, False),
    ],
)
def test_what_more_oppose_than_endorse_is_not_carried(
    positions: dict[str, str], carried: bool
) -> None:
    rows = tuple(
        AmendmentEndorsement(seat, Position[position], 1) for seat, position in positions.items()
    )
    proposed = Amendment(
        amendment_id="amend_1",
        number=1,
        proposed_by="rep_1",
        round=1,
        target_section=next(iter(BillSection)),
        action=next(iter(AmendmentAction)),
        description="x",
        endorsements=rows,
    )
    assert is_carried(proposed, "rep_9") is carried


def test_the_files_are_indented_by_two() -> None:
    assert encode_session(ParliamentScenario(3).state).startswith(b'{\n  "')
