"""Files become the session they were written from, at every stage; what differs is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from moot.core.findings import select_errors
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.files.file_shapes import FILES
from moot.protocols.parliament.files.inspection import inspect_files
from moot.protocols.parliament.messages.message import to_document
from moot.protocols.parliament.session_files import (
    FilesAsEvents,
    import_findings,
    make_bill_file,
    make_session_file,
)
from moot.protocols.parliament.summaries import summarize_round
from tests.parliament.played_sessions import documents, encoded, files, played
from tests.parliament.scene import (
    CALL_VOTE,
    ROUND_END,
    ROUND_START,
    ParliamentScenario,
    amendment,
    answer,
    bill,
    draft,
    question,
    statement,
)
from tests.parliament.scripted_files import script_files
from tests.parliament.test_discipline import expel
from tests.parliament.test_session_file_properties import files_of, taking

LEDGER, SESSION, BILL, SUMMARIES = FILES


def begun() -> ParliamentScenario:
    scenario = ParliamentScenario(3)
    scenario.clerk(ask.Begin())
    scenario.submit(statement(2))
    return scenario


def amended() -> ParliamentScenario:
    """Three amendments in the first round: one taken in, one withdrawn, one pending."""
    scenario = ParliamentScenario(3).debating()
    scenario.submit(amendment(3))
    scenario.exchange(3, 1, position=("amend-001", "endorse"))
    scenario.clerk(ask.Incorporate(amendment_id="amend-001"))
    scenario.submit(amendment(2, "amend-002", proposed_text="Another sentence."))
    return scenario


def voting() -> ParliamentScenario:
    return ParliamentScenario(3).voting().vote("YES", "", "NO")


def defeated() -> ParliamentScenario:
    scenario = ParliamentScenario(3).voting().vote("NO", "NO", "YES")
    scenario.clerk(ask.CountVotes())
    return scenario


def defeated_for_good() -> ParliamentScenario:
    scenario = ParliamentScenario(3, max_rounds=1).voting().vote("NO", "NO", "YES")
    scenario.clerk(ask.CountVotes())
    return scenario


def decided(word: str, rounds: int = 6, **more: Any) -> ParliamentScenario:
    scenario = ParliamentScenario(3, max_rounds=rounds).reviewing()
    scenario.decide(word, "Not like this.", **more)
    return scenario


def returned_and_passed() -> ParliamentScenario:
    scenario = decided("veto")
    scenario.submit(ROUND_START)
    scenario.submit(bill(1, 2, solution="Two caches."))
    scenario.submit(CALL_VOTE)
    scenario.vote("YES", "YES", "YES").clerk(ask.CountVotes())
    return scenario


def after_a_round() -> ParliamentScenario:
    scenario = ParliamentScenario(3).debating()
    scenario.exchange(1, 2)
    scenario.submit(ROUND_END)
    return scenario


def completed() -> ParliamentScenario:
    scenario = decided("approve")
    scenario.clerk(ask.Complete())
    return scenario


def undrafted() -> ParliamentScenario:
    """Everybody was expelled before there was a bill."""
    scenario = ParliamentScenario(2, issues=("security",)).drafting()
    expel(scenario, 2)
    expel(scenario, 1)
    return scenario


STAGES: dict[str, Callable[[], ParliamentScenario]] = {
    "convened": lambda: ParliamentScenario(3),
    "statements": begun,
    "evaluating": lambda: ParliamentScenario(3).opened(),
    "drafting": lambda: ParliamentScenario(3).drafting(),
    "debating": lambda: ParliamentScenario(3).debating(),
    "amended": amended,
    "after a round": after_a_round,
    "third round": lambda: ParliamentScenario(3).debating(3),
    "voting": voting,
    "defeated": defeated,
    "defeated for good": defeated_for_good,
    "reviewing": lambda: ParliamentScenario(3).reviewing(),
    "approved": lambda: decided("approve"),
    "amended and approved": lambda: decided(
        "amend_and_approve", draft=draft(2, solution="Two caches.")
    ),
    "returned": lambda: decided("veto"),
    "returned and passed": returned_and_passed,
    "vetoed": lambda: decided("veto", rounds=1),
    "played": played,
    "completed": completed,
    "undrafted": undrafted,
}


def parsed(written: dict[str, bytes]) -> dict[str, Any]:
    return {name: json.loads(data) for name, data in written.items()}


@pytest.mark.requirement("PAR-085")
@pytest.mark.parametrize("stage", STAGES)
def test_files_become_the_session_they_were_written_from(stage: str) -> None:
    scenario = STAGES[stage]()
    written = files(scenario)
    command = taking(parsed(written))
    assert import_findings(command) == ()
    retold = FilesAsEvents(command)
    said = [one.message for one in retold.events if isinstance(one, did.MessageLogged)]
    told = [one.summary for one in retold.events if isinstance(one, did.RoundSummarized)]
    assert files_of(retold.state, said, told) == written
    here, there = scenario.state, retold.state
    assert (there.status, there.outcome) == (here.status, here.outcome)
    assert there.round.running == here.round.running
    assert (there.poll is None) == (here.poll is None)
    assert there.imported == len(said)
    assert there.seats["rep_2"].agent == "agent-1"


@pytest.mark.requirement("PAR-085", "PAR-095", "PAR-109")
@pytest.mark.parametrize("stage", STAGES)
def test_the_files_of_a_script_become_the_same_session(stage: str) -> None:
    written = files(STAGES[stage]())
    given = parsed(script_files(written))
    command = taking({SUMMARIES: [], **given})
    assert select_errors(import_findings(command)) == ()
    retold, ours = FilesAsEvents(command).state, parsed(written)
    assert to_document(make_bill_file(retold)) == ours[BILL]
    seats = to_document(make_session_file(retold))["representatives"]
    for seat, before in zip(seats, ours[SESSION]["representatives"], strict=True):
        assert seat["motive_satisfaction"] == before["motive_satisfaction"]


@pytest.mark.requirement("PAR-109")
def test_before_the_first_draft_the_bill_names_no_drafter_or_that_of_the_session() -> None:
    given = parsed(files(ParliamentScenario(3).drafting()))
    assert given[SESSION]["drafter"] == given[BILL]["drafter"] == "rep_1"
    given[BILL]["drafter"] = None
    assert select_errors(import_findings(taking(given))) == ()
    assert FilesAsEvents(taking(given)).state.drafter == "rep_1"
    given[BILL]["drafter"] = "rep_2"
    (finding,) = select_errors(import_findings(taking(given)))
    assert (finding.rule, finding.code, finding.where) == (
        *("PAR-109", "files_differ", f"{BILL}#drafter"),
    )
    later = documents()
    later[BILL]["drafter"] = None
    (finding,) = select_errors(import_findings(taking(later)))
    assert (finding.rule, finding.code) == ("PAR-109", "files_differ")


def test_pending_amendments_are_open_issues_only_while_they_wait() -> None:
    """The clerk adds them to each summary; an imported one would name them for ever."""
    scenario = amended()
    scenario.submit(question(1, 2, "audits"))
    scenario.submit(ROUND_END)
    given = parsed(files(scenario))
    unanswered, pending = given[SUMMARIES][0]["open_issues"]
    assert pending.startswith("amend-002 is pending")
    retold = FilesAsEvents(taking(given)).state
    assert retold.round.open_issues == (unanswered,)
    assert summarize_round(retold, retold.round.open_issues)["open_issues"] == [unanswered, pending]


def test_a_vote_keeps_that_it_was_forced() -> None:
    given = parsed(files(defeated()))
    given[SESSION]["vote_history"][0]["forced"] = True
    given[SUMMARIES][-1]["vote_result"]["forced"] = True
    retold = FilesAsEvents(taking(given))
    assert [row.forced for row in retold.state.vote_history] == [True]
    del given[SESSION]["vote_history"][0]["forced"]
    del given[SUMMARIES][-1]["vote_result"]["forced"]
    assert select_errors(import_findings(taking(given))) == ()
    assert [row.forced for row in FilesAsEvents(taking(given)).state.vote_history] == [False]


def test_a_seat_is_held_by_whom_the_command_names() -> None:
    command = taking(documents())
    named = msgspec.structs.replace(command, bound=("rep_2",), epochs={"rep_3": 4})
    seats = FilesAsEvents(named).state.seats
    assert [seats[f"rep_{number}"].agent for number in (1, 2, 3)] == [
        *("agent-0", "agent-1", "agent-2"),
    ]
    assert [seats[f"rep_{number}"].epoch for number in (1, 2, 3)] == [1, 1, 4]


@pytest.mark.parametrize(
    "agents",
    [
        {},
        {"rep_1": "red-fox", "rep_2": "blue-hen"},
        {"rep_1": "red-fox", "rep_2": "red-fox", "rep_3": "blue-hen"},
        {"rep_1": "red-fox", "rep_2": "No Name", "rep_3": "blue-hen"},
        {"rep_1": "red-fox", "rep_2": "system", "rep_3": "blue-hen"},
    ],
)
def test_every_seat_needs_an_agent_of_its_own(agents: dict[str, str]) -> None:
    command = msgspec.structs.replace(taking(documents()), agents=agents)
    (finding,) = import_findings(command)
    assert (finding.rule, finding.code, finding.where) == ("S-02", "bad_agent", "agents")


@pytest.mark.requirement("PAR-085")
def test_an_exchange_that_the_round_did_not_have_is_told() -> None:
    """The answer came a round late: the check counts it, the session did not."""
    scenario = ParliamentScenario(3).debating()
    late = scenario.submit(question(1, 2))
    scenario.submit(ROUND_END)
    scenario.submit(ROUND_START)
    second = scenario.submit(question(1, 2))
    scenario.submit(answer(2, 1, second, scenario.scores(2)))
    given = parsed(files(scenario))
    given[LEDGER]["messages"][-1]["in_reply_to"] = late
    given[SESSION]["representatives"][1]["motive_satisfaction"] = {"security": 4}
    assert select_errors(inspect_files(encoded(given))) == ()
    assert given[SESSION]["debate_clock"]["exchanges_this_round"] == 1
    wrong = select_errors(import_findings(taking(given)))
    clock = next(one for one in wrong if one.where == f"{SESSION}#debate_clock")
    assert (clock.rule, clock.code, clock.severity) == ("PAR-085", "not_explained", "error")


@pytest.mark.requirement("PAR-085")
def test_what_no_message_explains_is_told() -> None:
    given = documents()
    given[BILL]["title"] = "Another one"
    (finding,) = select_errors(import_findings(taking(given)))
    assert (finding.rule, finding.code) == ("PAR-085", "not_explained")
    assert finding.where == f"{BILL}#title"
    assert finding.message.endswith('these lead to "A cache"')
    assert finding.hint.startswith(f'it is "Another one" in {BILL}: if that is right, a message')


def test_before_there_is_a_bill_its_file_may_have_a_title() -> None:
    given = parsed(files(ParliamentScenario(3).opened()))
    given[BILL] |= {"bill_id": "BILL-001", "title": "To come"}
    assert select_errors(import_findings(taking(given))) == ()
    later = documents()
    later[BILL]["title"] = "To come"
    assert [one.where for one in select_errors(import_findings(taking(later)))] == [f"{BILL}#title"]


def test_a_temperature_may_be_written_again_in_every_round() -> None:
    given = parsed(files(ParliamentScenario(3).debating(3)))
    for rep in given[SESSION]["representatives"]:
        rows = rep["temperature_history"]
        rep["temperature_history"] = [
            {
                "round": number,
                "temperature": [row for row in rows if row["round"] <= number][-1]["temperature"],
            }
            for number in range(4)
        ]
    assert select_errors(import_findings(taking(given))) == ()


def test_a_script_counts_the_round_before_anybody_says_so() -> None:
    scenario = after_a_round()
    given = parsed(files(scenario))
    given[SESSION]["current_round"] = 2
    for rep in given[SESSION]["representatives"]:
        rep["temperature_history"].append({"round": 2, "temperature": rep["temperature"] + 1})
        rep["temperature"] += 1
    retold = FilesAsEvents(taking(given))
    assert (retold.state.round.number, retold.state.round.running) == (2, True)
    assert retold.state.seats["rep_1"].temperature == scenario.seat(1).temperature + 1
    before = FilesAsEvents(taking(parsed(files(scenario))))
    assert (before.state.round.number, before.state.round.running) == (1, False)


def test_a_drafter_that_only_the_session_file_names_took_over() -> None:
    given = documents()
    given[SESSION]["drafter"] = given[BILL]["drafter"] = "rep_2"
    retold = FilesAsEvents(taking(given))
    replaced = [one for one in retold.events if isinstance(one, did.DrafterReplaced)]
    assert replaced == [did.DrafterReplaced(seat="rep_2", why="named in the imported files")]
    assert retold.state.drafter == "rep_2"
    same = FilesAsEvents(taking(documents()))
    assert not [one for one in same.events if isinstance(one, did.DrafterReplaced)]
    chosen = [one for one in same.events if isinstance(one, did.DrafterChosen)]
    assert chosen == [did.DrafterChosen(seat="rep_1", why="named in the imported files")]
