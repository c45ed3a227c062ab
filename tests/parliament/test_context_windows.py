"""What a participant reads: near rounds in full, far ones as summaries."""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec
import pytest

from moot.protocols.parliament.documents.turn_context import make_turn_context
from tests.parliament.played_sessions import approved, messages_of, proceedings
from tests.parliament.scene import ROUND_END, ROUND_START, ParliamentScenario

requirement = pytest.mark.requirement


def given_to(scenario: ParliamentScenario, seat: str | None = None) -> dict[str, Any]:
    """As a surface encodes it."""
    record = proceedings(scenario)
    view = make_turn_context(record.state, record.messages, record.summaries, seat)
    return cast("dict[str, Any]", json.loads(msgspec.json.encode(view)))


def in_round(number: int) -> ParliamentScenario:
    scenario = ParliamentScenario(3).debating()
    for at in range(1, number + 1):
        if at > 1:
            scenario.submit(ROUND_START)
        scenario.exchange(1, 2)
        if at < number:
            scenario.submit(ROUND_END)
    return scenario


@requirement("PAR-128")
def test_the_fourth_round_reads_two_summaries_and_two_rounds_in_full() -> None:
    given = given_to(in_round(4))
    assert [row["round"] for row in given["round_summaries"]] == [1, 2]
    assert {one["round"] for one in given["messages"]} == {3, 4}
    assert [one["type"] for one in given["opening_statements"]] == ["OPENING_STATEMENT"] * 3
    assert given["bill"]["version"] == 1
    assert given["session"]["current_round"] == 4


@requirement("PAR-128")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_no_round_is_given_twice_or_left_out(number: int) -> None:
    given = given_to(in_round(number))
    told = {row["round"] for row in given["round_summaries"]}
    full = {one["round"] for one in given["messages"]} - {0}
    assert told | full == set(range(1, number + 1))
    assert not told & full


def test_nothing_is_said_twice_in_the_first_round() -> None:
    scenario = in_round(1)
    given = given_to(scenario)
    said = [one["id"] for one in [*given["opening_statements"], *given["messages"]]]
    assert sorted(said) == sorted(one.id for one in messages_of(scenario))


def test_the_synthesis_reads_everything() -> None:
    scenario = approved()
    assert scenario.state.status == "synthesis"
    assert len(given_to(scenario)["messages"]) == len(messages_of(scenario))


@requirement("PAR-105")
def test_a_seat_knows_its_budget_its_stances_and_what_it_owes() -> None:
    scenario = ParliamentScenario(3).debating()
    given = given_to(scenario, "rep_2")
    assert given["you"]["response_budget"] == 6
    assert list(given["you"]["stances"]) == ["maintain", "challenge"]
    assert given["you"]["motives"] == ["security"]
    assert given_to(in_round(4), "rep_1")["you"]["response_budget"] == 3
    assert len(given_to(in_round(4), "rep_1")["you"]["stances"]) == 4
    assert "you" not in given_to(scenario, "rep_9")


@requirement("PAR-030")
def test_each_stance_is_given_with_its_meaning() -> None:
    assert given_to(in_round(4), "rep_1")["you"]["stances"] == {
        "maintain": "holds its position",
        "soften": "is open to compromise on the point",
        "concede": "accepts the concern and will address it",
        "challenge": "disputes the premise of the question",
    }


@requirement("PAR-077")
def test_the_prime_ministers_guidance_is_given_to_all() -> None:
    scenario = ParliamentScenario(3).reviewing()
    scenario.decide("veto", "Say how old clients go on.")
    assert given_to(scenario)["guidance"] == "Say how old clients go on."
