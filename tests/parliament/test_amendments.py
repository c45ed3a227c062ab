"""Amendments: positions, the threshold, rejection, withdrawal, and the next version of the bill."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import votes
from moot.protocols.parliament.files.inspection import inspect_files
from moot.protocols.parliament.messages.contents import (
    AmendmentAction,
    AmendmentStatus,
    BillSection,
    Position,
)
from moot.protocols.parliament.model import Amendment, AmendmentEndorsement

from .played_sessions import files
from .scene import (
    AGENTS,
    CALL_VOTE,
    ROUND_END,
    ROUND_START,
    ParliamentScenario,
    amendment,
    answer,
    draft,
    place,
    question,
)


def proposed(count: int = 5, by: int = 3, **more: Any) -> ParliamentScenario:
    scenario = ParliamentScenario(count).debating()
    scenario.submit(amendment(by, **more))
    return scenario


def position(scenario: ParliamentScenario, number: int, word: str, name: str = "amend-001") -> None:
    asker = 1 if number != 1 else 2
    scenario.exchange(asker, number, topic=f"{name} {number}", position=(name, word))


def status(scenario: ParliamentScenario, name: str = "amend-001") -> AmendmentStatus:
    return scenario.state.amendments[name].status


@pytest.mark.requirement("PAR-047")
def test_a_new_amendment_is_proposed() -> None:
    found = proposed().state.amendments["amend-001"]
    assert (found.proposed_by, found.round, found.status) == ("rep_3", 1, "proposed")
    assert found.endorsements == ()


@pytest.mark.requirement("PAR-042")
@pytest.mark.requirement("PAR-044")
def test_an_amendment_comes_from_a_seat_under_an_id_of_its_own() -> None:
    scenario = proposed()
    again = scenario.refused(amendment(1))
    assert again == ("PAR-044", "amendment_exists", "content.amendment_id")
    assert scenario.refused({**amendment(1, "amend-002"), "from": "speaker"})[0] == "PAR-042"
    scenario.submit(amendment(1, "amend-002"))
    assert [one.amendment_id for one in scenario.state.amendments_in_order()] == [
        "amend-001",
        "amend-002",
    ]


@pytest.mark.requirement("PAR-037")
def test_a_position_names_a_pending_amendment() -> None:
    scenario = proposed()
    asked = scenario.submit(question(1, 2))
    unknown = answer(2, 1, asked, scenario.scores(2), position=("amend-009", "endorse"))
    where = "content.amendment_position.amendment_id"
    assert scenario.refused(unknown) == ("PAR-037", "unknown_amendment", where)
    scenario.run(ask.Withdraw(amendment_id="amend-001"), AGENTS[2])
    closed = answer(2, 1, asked, scenario.scores(2), position=("amend-001", "endorse"))
    assert scenario.refused(closed) == ("PAR-037", "unknown_amendment", where)


@pytest.mark.requirement("PAR-039")
def test_positions_are_registered_and_the_latest_counts() -> None:
    scenario = proposed()
    position(scenario, 2, "oppose")
    assert status(scenario) is AmendmentStatus.DEBATING
    position(scenario, 4, "abstain")
    position(scenario, 2, "endorse")
    assert scenario.state.amendments["amend-001"].endorsements == (
        AmendmentEndorsement("rep_4", Position.ABSTAIN, 1),
        AmendmentEndorsement("rep_2", Position.ENDORSE, 1),
    )


def test_an_exchange_that_names_it_debates_it() -> None:
    scenario = proposed()
    scenario.exchange(1, 2, question="What of amend-001 and amend-777?")
    found = scenario.state.amendments["amend-001"]
    assert (found.status, found.exchanges) == (AmendmentStatus.DEBATING, 1)


def test_an_answer_that_names_it_debates_it_too() -> None:
    scenario = proposed()
    scenario.exchange(1, 2, answer="Only with amend-001.", concessions="Not with amend-777.")
    found = scenario.state.amendments["amend-001"]
    assert (found.status, found.exchanges) == (AmendmentStatus.DEBATING, 1)
    assert found.endorsements == ()


@pytest.mark.requirement("PAR-114")
def test_the_proposer_and_one_other_carry_it() -> None:
    scenario = proposed()
    position(scenario, 2, "endorse")
    position(scenario, 4, "oppose")
    scenario.clerk(ask.Incorporate(amendment_id="amend-001"))
    assert status(scenario) is AmendmentStatus.INCORPORATED
    bill = scenario.state.bill
    assert bill is not None
    assert bill.version == 2
    assert bill.sections.solution == "A shared cache.\n\nBefore deployment there is an audit."
    last = scenario.messages()[-1]
    assert (last["type"], last["from"], last["content"]["bill_version"]) == (
        "BILL_DRAFT",
        "rep_1",
        2,
    )


@pytest.mark.requirement("PAR-115")
def test_the_drafters_word_alone_carries_it() -> None:
    scenario = proposed()
    position(scenario, 1, "endorse")
    scenario.run(ask.Incorporate(amendment_id="amend-001"), AGENTS[0])
    assert status(scenario) is AmendmentStatus.INCORPORATED


@pytest.mark.requirement("PAR-115")
def test_the_drafters_word_carries_an_amendment_of_its_own() -> None:
    """Another seat's word for its own amendment does not; a drafter that only proposes neither."""
    scenario = ParliamentScenario(4).debating()
    scenario.submit(amendment(1))
    incorporate = ask.Incorporate(amendment_id="amend-001")
    assert scenario.refusal(incorporate, SYSTEM).code == "not_endorsed"
    position(scenario, 1, "endorse")
    scenario.clerk(incorporate)
    assert status(scenario) is AmendmentStatus.INCORPORATED
    written = files(scenario)
    assert inspect_files(dict(written)) == ()
    document = json.loads(written["session.json"])
    bill = json.loads(written["bill.json"])
    document["drafter"] = bill["drafter"] = "rep_2"
    changed = {"session.json": document, "bill.json": bill}
    given = {**written, **{name: json.dumps(changed[name]).encode() for name in changed}}
    assert "not_carried" in {finding.code for finding in inspect_files(dict(given))}


@pytest.mark.requirement("PAR-116")
def test_the_proposer_alone_does_not_carry_it() -> None:
    scenario = proposed()
    refused = ("PAR-116", "not_endorsed", "amendment_id")
    assert place(scenario.refusal(ask.Incorporate(amendment_id="amend-001"), SYSTEM)) == refused
    position(scenario, 3, "endorse")
    assert place(scenario.refusal(ask.Incorporate(amendment_id="amend-001"), SYSTEM)) == refused


def test_the_drafter_who_proposes_has_not_endorsed() -> None:
    scenario = proposed(by=1)
    error = scenario.refusal(ask.Incorporate(amendment_id="amend-001"), AGENTS[0])
    assert error.code == "not_endorsed"


@pytest.mark.requirement("PAR-117")
def test_a_formal_vote_waits_for_two_exchanges() -> None:
    scenario = proposed()
    command = ask.CallAmendmentVote(amendment_id="amend-001")
    position(scenario, 2, "endorse")
    early = scenario.refusal(command, SYSTEM)
    assert place(early) == ("PAR-117", "too_early", "amendment_id")
    position(scenario, 4, "oppose")
    assert scenario.refusal(command, AGENTS[0]).code == "not_the_clerk"
    scenario.clerk(command)
    ruling = scenario.messages()[-1]["content"]
    assert (ruling["action"], ruling["target"]) == ("redirect", "rep_1")
    due = next(one for one in scenario.dues() if one.what == "have positions asked for")
    assert due.subject == "amend-001: rep_1, rep_3, rep_5"
    assert scenario.refusal(command, SYSTEM).code == "vote_running"
    other = proposed()
    for seat in (2, 4):
        position(other, seat, "endorse")
    other.submit(ROUND_END)
    assert place(other.refusal(command, SYSTEM)) == ("C-25", "round_not_running", None)
    # One against one is no majority of positions.
    tie = scenario.refusal(ask.Incorporate(amendment_id="amend-001"), SYSTEM)
    assert tie.code == "not_endorsed"
    position(scenario, 5, "endorse")
    scenario.clerk(ask.Incorporate(amendment_id="amend-001"))


@pytest.mark.requirement("PAR-118")
def test_more_against_than_for_rejects_it_when_the_discussion_ends() -> None:
    scenario = proposed()
    for number, word in ((2, "endorse"), (4, "oppose")):
        position(scenario, number, word)
    scenario.clerk(ask.ConcludeAmendment(amendment_id="amend-001"))
    assert status(scenario) is AmendmentStatus.DEBATING  # a tie leaves it
    position(scenario, 5, "oppose")
    opposed = scenario.refusal(ask.Incorporate(amendment_id="amend-001"), SYSTEM)
    assert place(opposed) == ("PAR-118", "amendment_opposed", "amendment_id")
    scenario.clerk(ask.ConcludeAmendment(amendment_id="amend-001"))
    assert status(scenario) is AmendmentStatus.REJECTED
    closed = scenario.refusal(ask.ConcludeAmendment(amendment_id="amend-001"), SYSTEM)
    assert closed.code == "amendment_closed"


@pytest.mark.parametrize("ending", [ROUND_END, CALL_VOTE])
def test_the_end_of_the_round_ends_the_discussion(ending: dict[str, Any]) -> None:
    scenario = proposed(3, by=2)
    scenario.satisfied()
    position(scenario, 3, "oppose")
    scenario.submit(ending)
    assert status(scenario) is AmendmentStatus.REJECTED
    assert scenario.state.round.settled[0].amendment_id == "amend-001"


def test_what_is_settled_between_rounds_belongs_to_the_round_before() -> None:
    scenario = proposed()
    position(scenario, 2, "endorse")
    scenario.submit(ROUND_END)
    assert scenario.summaries()[0]["amendments_actioned"] == []
    scenario.clerk(ask.Incorporate(amendment_id="amend-001"))
    (row,) = scenario.summaries()
    assert row["amendments_actioned"] == [{"amendment_id": "amend-001", "status": "incorporated"}]


def test_only_its_proposer_withdraws_it() -> None:
    scenario = proposed()
    command = ask.Withdraw(amendment_id="amend-001")
    for who in (AGENTS[0], SYSTEM):
        assert place(scenario.refusal(command, who)) == ("C-28", "not_the_proposer", "amendment_id")
    scenario.run(command, AGENTS[2])
    assert status(scenario) is AmendmentStatus.WITHDRAWN
    assert scenario.refusal(command, AGENTS[2]).code == "amendment_closed"
    unknown = scenario.refusal(ask.Withdraw(amendment_id="amend-404"), AGENTS[2])
    assert unknown.code == "unknown_amendment"


def test_nobody_else_incorporates_and_nothing_during_a_vote() -> None:
    scenario = proposed(3, by=2)
    position(scenario, 3, "endorse")
    command = ask.Incorporate(amendment_id="amend-001")
    assert scenario.refusal(command, AGENTS[1]).code == "not_the_drafter"
    scenario.exchange(2, 1)
    scenario.exchange(1, 2)
    scenario.submit(CALL_VOTE)
    assert scenario.refusal(command, SYSTEM).code == "wrong_phase"


@pytest.mark.parametrize(
    ("more", "solution"),
    [
        ({"action": "replace", "proposed_text": "No cache."}, "No cache."),
        ({"action": "remove", "proposed_text": " cache"}, "A shared."),
    ],
)
def test_plain_changes_are_carried_out_to_the_letter(more: dict[str, Any], solution: str) -> None:
    scenario = proposed(**more)
    position(scenario, 2, "endorse")
    scenario.clerk(ask.Incorporate(amendment_id="amend-001"))
    assert scenario.state.bill is not None
    assert scenario.state.bill.sections.solution == solution


@pytest.mark.parametrize(
    "more",
    [
        {"action": "modify"},
        {"action": "remove", "proposed_text": "what is not there"},
        {"target_section": "scope"},
    ],
)
def test_what_cannot_be_carried_out_needs_the_drafters_text(more: dict[str, Any]) -> None:
    scenario = proposed(**more)
    position(scenario, 2, "endorse")
    error = scenario.refusal(ask.Incorporate(amendment_id="amend-001"), SYSTEM)
    assert place(error) == ("C-26", "draft_required", "draft")


def test_the_drafters_text_holds_the_amendment_and_nothing_else() -> None:
    scenario = proposed(action="modify")
    position(scenario, 2, "endorse")

    def refused(text: Any) -> tuple[str, str, str | None]:
        command = ask.Incorporate(amendment_id="amend-001", draft=text)
        return place(scenario.refusal(command, AGENTS[0]))

    assert refused(draft(2)) == ("S-07", "draft_astray", "draft.sections.solution")
    beyond = draft(2, solution="Two caches.", problem="None.")
    assert refused(beyond) == ("S-07", "draft_astray", "draft.sections.problem")
    assert refused(draft(3, solution="Two.")) == ("PAR-018", "wrong_version", "draft.bill_version")
    assert refused({"title": "x"})[2] is not None
    assert refused("text")[2] == "draft"
    good = draft(2, solution="Two caches.")
    del good["bill_version"]
    scenario.run(ask.Incorporate(amendment_id="amend-001", draft=good), AGENTS[0])
    assert scenario.state.bill is not None
    assert scenario.state.bill.version == 2


def test_a_draft_must_do_what_the_amendment_says() -> None:
    scenario = proposed()
    position(scenario, 2, "endorse")
    text = draft(2, solution="Something else.")
    error = scenario.refusal(ask.Incorporate(amendment_id="amend-001", draft=text), SYSTEM)
    assert error.code == "draft_astray"
    good = draft(2, solution="Before deployment there is an audit. A shared cache.")
    scenario.clerk(ask.Incorporate(amendment_id="amend-001", draft=good))


def test_what_has_its_support_waits_for_the_drafter() -> None:
    scenario = proposed()
    position(scenario, 2, "endorse")
    due = next(one for one in scenario.dues() if one.what == "incorporate")
    assert (due.who, due.subject) == (AGENTS[0], "amend-001: An audit before deployment")


def test_a_round_goes_on_and_the_amendment_with_it() -> None:
    scenario = proposed()
    position(scenario, 2, "endorse")
    scenario.submit(ROUND_END)
    scenario.submit(ROUND_START)
    position(scenario, 4, "oppose")
    rows = scenario.state.amendments["amend-001"].endorsements
    assert [row.round for row in rows] == [1, 2]


def test_the_seeds_own_example_is_eligible() -> None:
    sample = Amendment(
        amendment_id="amend-001",
        number=4,
        proposed_by="rep_3",
        round=2,
        target_section=BillSection.SOLUTION,
        action=AmendmentAction.ADD,
        description="...",
        status=AmendmentStatus.DEBATING,
        endorsements=(
            AmendmentEndorsement("rep_1", Position.ENDORSE, 2),
            AmendmentEndorsement("rep_4", Position.OPPOSE, 2),
        ),
    )
    assert votes.is_carried(sample, "rep_5")
