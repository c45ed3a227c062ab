"""What is exactly as much as a parliament allows is taken, one more is not; how much is told."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.errors import Malformed
from moot.core.machine import Context, KeyClass, VerifiedActor
from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.documents.turn_context import make_turn_context
from moot.protocols.parliament.files.file_shapes import MAX_SUMMARY
from moot.protocols.parliament.machine import MACHINE
from moot.protocols.parliament.messages import limits
from moot.protocols.parliament.messages.contents import Kind
from moot.protocols.parliament.messages.limits import possible_budgets, possible_caps, shorten
from moot.protocols.parliament.messages.message import make_template
from moot.protocols.parliament.messages.shapes import (
    join_path,
    map_of,
    read_json,
    show_value,
    whole_number,
)
from moot.protocols.parliament.round_clock import temperature_range

from .played_sessions import approved, proceedings
from .scene import AGENTS, PERSON, ROUND_END, STREAM, ParliamentScenario, convene, question, ruling
from .test_properties import NOON


def test_the_ranges_of_temperatures() -> None:
    assert [temperature_range(number) for number in range(8)] == [
        *((5, 95), (5, 95), (10, 90), (15, 85), (25, 75), (30, 70), (35, 65), (35, 65)),
    ]


def test_a_value_is_shown_up_to_sixty_characters() -> None:
    assert show_value("x" * 58) == '"' + "x" * 58 + '"'
    assert show_value("x" * 59) == '"' + "x" * 59 + "…"
    assert join_path("a", "x" * 60) == "a." + "x" * 60
    assert join_path("a", "x" * 61) == "a." + "x" * 60 + "…"
    assert show_value("é") == '"é"'
    assert (show_value([]), show_value({})) == ("a list", "an object")


@pytest.mark.parametrize(
    ("path", "whole"), [("", "b"), ("a", "a.b"), ("f.json#", "f.json#b"), ("a[0]", "a[0].b")]
)
def test_a_path_one_key_deeper(path: str, whole: str) -> None:
    assert join_path(path, "b") == whole


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": 1, "a": 2}', "a"),
        ('{"b": [{}, {"a": 1, "a": 2}]}', "b[1].a"),
        ('[[{"c": {"a": 1, "b": 3, "a": 2}}]]', "[0][0].c.a"),
    ],
)
def test_a_repeated_key_is_reported_with_its_place(text: str, where: str) -> None:
    with pytest.raises(Malformed) as caught:
        read_json(text)
    assert (caught.value.code, caught.value.where) == ("duplicate_key", where)
    assert '"a" is there twice' in str(caught.value)


def test_a_file_as_large_as_it_may_be() -> None:
    assert read_json("{}".ljust(100), 100) == {}
    with pytest.raises(Malformed, match="larger than 100 bytes"):
        read_json("{}".ljust(101), 100)
    with pytest.raises(Malformed, match="larger than 67108864 bytes"):
        read_json(b" " * (64 * 1024 * 1024 + 1))
    assert MAX_SUMMARY == 16_384


def test_a_lone_surrogate_is_no_text() -> None:
    with pytest.raises(Malformed) as caught:
        read_json('"\ud800"')
    assert (caught.value.code, "lone surrogate" in str(caught.value)) == ("not_json", True)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (0, "use 1 or more"),
        (1, None),
        (2**53 - 1, None),
        (2**53, "use 1 or more"),
        (True, "write a whole number here"),
        (1.0, "write a whole number here"),
    ],
)
def test_a_whole_number(value: Any, found: str | None) -> None:
    hints = [finding.hint for finding in whole_number("R", 1)(value, "a")]
    assert hints == ([found] if found else [])
    (small,) = whole_number("R", 1, 5)(6, "a")
    assert small.hint == "use a whole number from 1 to 5"


def test_a_map_with_enough_entries() -> None:
    check = map_of("R", whole_number("R", 1), least=1)
    assert list(check({"a": 1}, "m")) == []
    assert [finding.code for finding in check({}, "m")] == ["empty"]
    assert [finding.where for finding in check({"a": 0}, "m")] == ["m.a"]


@pytest.mark.parametrize(
    ("text", "most", "quoted"),
    [
        ("12345", 5, "12345"),
        ("123456", 5, "12…"),
        ("éé", 4, "éé"),
        ("ééé", 5, "é…"),
        ('""', 4, '""'),
        ('"""', 5, '"…'),
    ],
)
def test_a_quote_takes_as_much_as_there_is_room(text: str, most: int, quoted: str) -> None:
    assert shorten(text, most) == quoted
    assert shorten("x" * 200) == "x" * 200
    assert shorten("x" * 201) == "x" * 197 + "…"


def test_what_the_document_leaves_free_between_its_ends() -> None:
    assert [list(possible_caps(3, number)) for number in (1, 2, 5, 6)] == [
        *([6], [3, 4, 5, 6], [3, 4, 5, 6], [3]),
    ]
    assert [list(possible_budgets(number)) for number in (1, 2, 3, 4)] == [
        *([6], [3, 4, 5, 6], [3, 4, 5, 6], [3]),
    ]


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"max_rounds": 0}, "max_rounds"),
        ({"issues": ()}, "issues"),
        ({"issues": ("security", "Security")}, "issues[1]"),
        ({"issues": ("security", " ")}, "issues[1]"),
        ({"issues": ("security", "the weather")}, "issues[1]"),
        (
            {"seats": (ask.SeatPlan("A", ("m",), AGENTS[0]), ask.SeatPlan("a", ("n",), AGENTS[1]))},
            "seats[1].name",
        ),
    ],
)
def test_what_keeps_a_session_from_being_convened(more: dict[str, Any], where: str) -> None:
    clerk = VerifiedActor(SYSTEM, 1, "k", KeyClass.SYSTEM)
    command = convene(3, **more)
    decision = MACHINE.decide(MACHINE.initial, command, Context(NOON, clerk, STREAM, "o", {}))
    assert decision.refused
    assert where in [finding.where for finding in decision.findings]


@pytest.mark.parametrize("kind", list(Kind))
def test_a_template_names_who_sends_it_and_to_whom(kind: Kind) -> None:
    template = make_template(kind)
    office = {
        Kind.SPEAKER_RULING: "speaker",
        Kind.VOTE_TALLY: "speaker",
        Kind.PM_DECISION: "prime_minister",
    }
    assert (template["type"], template["from"]) == (str(kind), office.get(kind, "rep_1"))
    assert template.get("to") == ("rep_2" if kind in (Kind.QUESTION, Kind.ANSWER) else None)
    numbers = {"bill_version": 1, "tally": {"yes": 2, "no": 0, "total": 2}}
    for name in numbers.keys() & template["content"].keys():
        assert template["content"][name] == numbers[name]


def test_this_round_and_the_one_before_are_read_in_full() -> None:
    record = proceedings(approved())
    everything = make_turn_context(record.state, record.messages, record.summaries)
    assert everything.messages == record.messages
    scenario = ParliamentScenario(3).debating(3)
    now = proceedings(scenario)
    given = make_turn_context(now.state, now.messages, now.summaries, "rep_1")
    assert {message.round for message in given.messages} == {2, 3}
    assert [row["round"] for row in given.round_summaries] == [1]
    assert [message.type for message in given.opening_statements] == [Kind.OPENING_STATEMENT] * 3


def test_an_extension_of_a_vetoed_session() -> None:
    scenario = ParliamentScenario(3).reviewing()
    for rounds in (-1, 100):
        command = ask.Decide(decision="veto", reason="so", guidance="Again.", extend_rounds=rounds)
        assert [one.where for one in scenario.refusal(command, PERSON).findings] == [
            "extend_rounds"
        ]
    early = ask.Decide(decision="approve", reason="so", extend_rounds=1)
    (finding,) = scenario.refusal(early, PERSON).findings
    assert finding.message == "only a veto grants further rounds"


def test_a_summary_is_of_a_round_that_has_ended_in_two_or_three_sentences() -> None:
    scenario = ParliamentScenario(3).debating()
    scenario.exchange(1, 2)
    scenario.submit(ROUND_END)
    (row,) = scenario.summaries()
    for number in (0, 2):
        refused = scenario.refusal(ask.Summarize(summary={**row, "round": number}), SYSTEM)
        assert f"round {number} has not ended" in [one.message for one in refused.findings]
    told = "a summary takes 2 or 3 sentences"
    for count, found in ((1, [told]), (2, []), (3, []), (4, [told])):
        text = " ".join(["Word."] * count)
        outcome = scenario.clerk(ask.Summarize(summary={**row, "summary": text}))
        assert [one.message for one in outcome.findings] == found
        assert scenario.summaries()[0]["summary"] == text


def test_who_is_quiet_is_not_called_to_speak() -> None:
    scenario = ParliamentScenario(3).debating()
    scenario.submit(ruling("order", "quiet", "rep_2"))
    refused = scenario.refused(ruling("procedure", "next_speaker", "rep_2"))
    assert refused[2] == "content.target"
    scenario.submit(ruling("procedure", "next_speaker", "rep_3"))
    assert scenario.submit(question(1, 3))


@pytest.mark.parametrize("end", ["", "\n", " "])
def test_a_number_that_opens_a_text_ends_no_sentence(end: str) -> None:
    assert limits.count(f"1. First we look.{end}") == 1
    assert limits.count(f"We look. 1. Then we act.{end}") == 3
