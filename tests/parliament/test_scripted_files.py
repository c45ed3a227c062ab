"""Files that a script wrote by the document alone: where it is free, they are as sound as ours."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.core.findings import Severity, select_errors
from moot.protocols.parliament.files.file_shapes import FILES
from moot.protocols.parliament.files.inspection import inspect_files
from tests.parliament.played_sessions import files, sound
from tests.parliament.scene import CALL_VOTE, ROUND_END, ROUND_START, ParliamentScenario
from tests.parliament.scripted_files import script_files

requirement = pytest.mark.requirement
LEDGER, SESSION, BILL, SUMMARIES = FILES


def in_round(number: int) -> dict[str, Any]:
    """The documents of a session of five seats in this round."""
    written = files(ParliamentScenario(5).debating(number))
    return {name: json.loads(data) for name, data in written.items()}


def inspect(documents: dict[str, Any]) -> list[tuple[str, str, str]]:
    encoded = {name: json.dumps(document).encode() for name, document in documents.items()}
    return [(row.rule, row.code, row.severity) for row in inspect_files(encoded)]


def at_every_stage() -> list[ParliamentScenario]:
    heard, drafted = ParliamentScenario(3).opened(), ParliamentScenario(3).debating()
    ended = ParliamentScenario(3).debating()
    ended.submit(ROUND_END)
    return [
        heard,
        drafted,
        ended,
        *(ParliamentScenario(3).debating(number) for number in range(2, 7)),
    ]


@requirement("PAR-130")
@pytest.mark.parametrize("stage", range(8))
def test_a_scripts_files_are_sound_at_every_stage(stage: int) -> None:
    written = script_files(files(at_every_stage()[stage]))
    assert select_errors(inspect_files(written)) == ()


def _leave_out_all(seat: dict[str, Any]) -> None:
    del seat["motive_satisfaction"]


def _leave_empty(seat: dict[str, Any]) -> None:
    seat["motive_satisfaction"] = {}


def _leave_out_unscored(seat: dict[str, Any]) -> None:
    scores = seat["motive_satisfaction"]
    seat["motive_satisfaction"] = {name: scores[name] for name in scores if scores[name]}


@requirement("PAR-092", "PAR-095")
@pytest.mark.parametrize("leave", [_leave_out_all, _leave_empty, _leave_out_unscored])
def test_satisfaction_that_is_left_out_is_not_scored_yet(leave: Any) -> None:
    documents = in_round(1)
    for seat in documents[SESSION]["representatives"]:
        leave(seat)
    assert inspect(documents) == []


@requirement("PAR-034", "PAR-095")
@pytest.mark.parametrize("leave", [_leave_out_all, _leave_empty])
def test_satisfaction_that_is_left_out_after_a_score_is_told(leave: Any) -> None:
    scenario = ParliamentScenario(3).debating()
    scenario.exchange(1, 2)
    documents = {name: json.loads(data) for name, data in files(scenario).items()}
    leave(documents[SESSION]["representatives"][1])
    assert inspect(documents) == [("PAR-034", "files_differ", Severity.ERROR)]


@requirement("PAR-008")
@pytest.mark.parametrize("stamp", ["2026-02-10T14:30:00+00:00", "2026-02-10T14:30:00.5+00:00"])
def test_utc_may_be_written_as_an_offset_of_zero(stamp: str) -> None:
    documents = in_round(1)
    documents[LEDGER]["messages"][0]["timestamp"] = stamp
    assert [row for row in inspect(documents) if row[1] != "earlier_than_before"] == []


@requirement("PAR-008")
def test_both_ways_to_write_utc_are_one_time() -> None:
    documents = in_round(1)
    for place, message in enumerate(documents[LEDGER]["messages"]):
        message["timestamp"] = f"2026-02-10T14:30:00{('Z', '+00:00', '.000Z')[place % 3]}"
    assert inspect(documents) == []
    documents[LEDGER]["messages"][-1]["timestamp"] = "2026-02-10T14:29:59.999+00:00"
    assert inspect(documents) == [("PAR-008", "earlier_than_before", Severity.WARNING)]


@requirement("PAR-119")
def test_before_a_round_has_ended_there_need_be_no_summaries() -> None:
    for scenario in (ParliamentScenario(3), ParliamentScenario(3).debating()):
        assert inspect_files({**files(scenario), SUMMARIES: None}) == ()


def _after_the_end() -> ParliamentScenario:
    scenario = ParliamentScenario(3).debating()
    scenario.submit(ROUND_END)
    return scenario


def _in_the_next_round() -> ParliamentScenario:
    scenario = _after_the_end()
    scenario.submit(ROUND_START)
    return scenario


def _while_voting() -> ParliamentScenario:
    scenario = ParliamentScenario(3).debating()
    scenario.satisfied()
    scenario.submit(CALL_VOTE)
    return scenario


@requirement("PAR-119")
@pytest.mark.parametrize("play", [_after_the_end, _in_the_next_round, _while_voting])
def test_once_a_round_has_ended_missing_summaries_are_named_with_a_hint_for_files_alone(
    play: Any,
) -> None:
    (row,) = inspect_files({**files(play()), SUMMARIES: None})
    assert (row.rule, row.code, row.where) == ("PAR-120", "missing_file", SUMMARIES)
    assert "`[]`" in row.hint
    assert inspect_files({**files(play()), SUMMARIES: b"[]"}) == ()


@pytest.mark.parametrize("name", [LEDGER, SESSION, BILL])
def test_the_hint_on_any_other_missing_file_does_not_ask_for_a_record(name: str) -> None:
    (row,) = (row for row in inspect_files({**sound(), name: None}) if row.code == "missing_file")
    assert "only the files" in row.hint


@pytest.mark.parametrize(
    ("number", "cap", "is_sound"),
    [
        pytest.param(1, 10, True, marks=requirement("PAR-100")),
        pytest.param(1, 9, False, marks=requirement("PAR-100")),
        (2, 10, True),
        pytest.param(2, 11, False, marks=requirement("PAR-102")),
        (3, 7, True),
        (5, 5, True),
        pytest.param(5, 4, False, marks=requirement("PAR-102")),
        pytest.param(6, 5, True, marks=requirement("PAR-101")),
        pytest.param(6, 6, False, marks=requirement("PAR-101")),
    ],
)
def test_only_the_caps_of_rounds_1_and_6_are_fixed(number: int, cap: int, is_sound: bool) -> None:
    documents = in_round(number)
    documents[SESSION]["debate_clock"]["max_exchanges_per_round"] = cap
    expected = [] if is_sound else [("PAR-099", "wrong_clock", Severity.ERROR)]
    assert inspect(documents) == expected


@requirement("PAR-103")
@pytest.mark.parametrize(
    ("number", "budget", "severity"),
    [
        (1, 6, None),
        (1, 5, Severity.ERROR),
        (2, 4, None),
        (3, 3, None),
        (3, 7, Severity.ERROR),
        (4, 3, None),
        (4, 4, Severity.ERROR),
        (6, 2, Severity.WARNING),
    ],
)
def test_the_budget_is_fixed_in_round_1_and_from_round_4_on(
    number: int, budget: int, severity: Severity | None
) -> None:
    documents = in_round(number)
    documents[SESSION]["debate_clock"]["response_budget"] = budget
    expected = [] if severity is None else [("PAR-103", "wrong_clock", severity)]
    assert inspect(documents) == expected
