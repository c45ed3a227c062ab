"""Opening statements, their evaluation, and the first draft."""

from __future__ import annotations

import pytest

from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.messages.contents import SessionStatus

from .scene import AGENTS, PERSON, ParliamentScenario, bill, question, statement


@pytest.mark.requirement("PAR-019")
def test_a_statement_is_heard_in_its_phase_only_and_stands_in_round_0() -> None:
    scenario = ParliamentScenario(3)
    scenario.clerk(ask.Begin())
    scenario.submit(statement(1))
    assert scenario.messages()[0]["round"] == 0
    debate = ParliamentScenario(3).debating()
    assert debate.refused(statement(1)) == ("C-22", "wrong_phase", "type")


@pytest.mark.requirement("PAR-023")
def test_one_statement_a_seat_and_all_of_them_end_the_phase() -> None:
    scenario = ParliamentScenario(3)
    scenario.clerk(ask.Begin())
    scenario.submit(statement(1))
    assert scenario.refused(statement(1)) == ("PAR-023", "already_opened", "type")
    missing = scenario.refusal(ask.CloseStatements(), SYSTEM)
    assert missing.code == "statements_missing"
    assert "rep_2, rep_3" in str(missing)
    scenario.submit(statement(2))
    scenario.submit(statement(3))
    assert scenario.status() is SessionStatus.OPENING_STATEMENTS
    scenario.tick()
    assert scenario.status() is SessionStatus.EVALUATING_STATEMENTS
    assert scenario.signers()[-1] == SYSTEM


@pytest.mark.requirement("PAR-022")
@pytest.mark.parametrize(
    ("approach", "principle", "remarks"),
    [
        ("One. Two. Three.", "One.", []),
        ("One. Two.", "One.", ["content.direction.approach"]),
        ("One. Two. Three. Four. Five. Six.", "One.", ["content.direction.approach"]),
        ("One. Two. Three.", "One. Two.", ["content.direction.principle"]),
    ],
)
def test_an_uneven_statement_is_remarked_and_heard(
    approach: str, principle: str, remarks: list[str]
) -> None:
    scenario = ParliamentScenario(3)
    scenario.clerk(ask.Begin())
    direction = {"approach": approach, "principle": principle, "trade_offs": ""}
    command = ask.Submit(document=statement(1, direction=direction))
    outcome = scenario.run(command, AGENTS[0])
    assert [one.where for one in outcome.findings] == remarks
    assert all(one.severity == "warning" for one in outcome.findings)
    assert scenario.seat(1).opened


@pytest.mark.requirement("PAR-080")
def test_opening_guidance_comes_before_drafting() -> None:
    scenario = ParliamentScenario(3)
    assert scenario.refusal(_guide(), PERSON).code == "wrong_phase"
    scenario.clerk(ask.Begin())
    scenario.decide("opening_guidance", "Keep it cheap.")
    assert scenario.state.guidance == "Keep it cheap."
    assert scenario.status() is SessionStatus.OPENING_STATEMENTS
    for number in (1, 2, 3):
        scenario.submit(statement(number))
    scenario.tick()
    scenario.decide("opening_guidance", "Cheaper still.")
    assert scenario.status() is SessionStatus.EVALUATING_STATEMENTS
    scenario.clerk(ask.ChooseDrafter())
    error = scenario.refusal(_guide(), PERSON)
    assert (error.code, error.findings[0].rule) == ("wrong_phase", "PAR-080")


def _guide() -> ask.Decide:
    return ask.Decide(decision="opening_guidance", reason="so", guidance="Keep it cheap.")


@pytest.mark.requirement("PAR-013")
def test_the_drafter_drafts_and_nobody_else() -> None:
    scenario = ParliamentScenario(3).drafting()
    assert scenario.refused(bill(2)) == ("S-01", "not_the_drafter", "from")
    assert scenario.refused({**bill(1), "from": "speaker"}, SYSTEM)[0] == "PAR-013"


@pytest.mark.requirement("PAR-017")
def test_the_first_draft_is_version_1_of_round_0_and_opens_the_debate() -> None:
    scenario = ParliamentScenario(3).drafting()
    assert scenario.refused(bill(1, version=2)) == (
        "PAR-018",
        "wrong_version",
        "content.bill_version",
    )
    scenario.submit(bill(1))
    assert scenario.messages()[-1]["round"] == 0
    assert scenario.state.bill is not None
    assert scenario.state.bill.version == 1
    assert scenario.status() is SessionStatus.DEBATE
    assert isinstance(scenario.history()[-1], did.DebateOpened)


@pytest.mark.requirement("PAR-018")
def test_an_update_carries_the_next_version() -> None:
    scenario = ParliamentScenario(3).debating()
    for version in (1, 3):
        assert scenario.refused(bill(1, version=version))[1] == "wrong_version"
    scenario.submit(bill(1, version=2, solution="Two caches."))
    assert scenario.state.bill is not None
    assert (scenario.state.bill.version, scenario.state.bill.sections.solution) == (
        2,
        "Two caches.",
    )
    drafts = [one for one in scenario.messages() if one["type"] == "BILL_DRAFT"]
    assert [one["content"]["bill_version"] for one in drafts] == [1, 2]


def test_nothing_is_asked_before_the_first_round() -> None:
    scenario = ParliamentScenario(3).drafting()
    assert scenario.refused(question(1, 2)) == ("C-22", "wrong_phase", "type")
    scenario.submit(bill(1))
    assert scenario.refused(question(1, 2)) == ("C-22", "wrong_phase", "type")
