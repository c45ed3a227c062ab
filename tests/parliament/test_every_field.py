"""Each field of each file and message: a value of another kind is named where it stands.

The tables are written from the protocol, not from our shapes: path, kind of value, and the norm
that a wrong value breaks.
"""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

import pytest

from moot.protocols.parliament.files.file_shapes import FILES
from moot.protocols.parliament.files.inspection import inspect_files
from moot.protocols.parliament.messages.message import message_findings
from tests.parliament.played_sessions import documents, encoded
from tests.parliament.samples import message

LEDGER, SESSION, BILL, SUMMARIES = FILES
Row = tuple[str, str, str]
COMPARED = ("files_differ", "bad_history", "bad_quiet")

# What is no value of that kind.
WRONG: dict[str, tuple[Any, ...]] = {
    "text": (7, None, ["a"], True),
    "words": (7, None, ["a"], "", "  "),
    "count": (-1, "1", 1.5, True, None),
    "number": (0, "1", 1.5, True, None),
    "number?": (0, "1", 1.5, True),
    "score": (0, 6, "4", 4.5, True, None),
    "score?": (0, 6, "4", 4.5, True),
    "percent": (-1, 101, "50", 0.5, True, None),
    "choice": ("nonsense", "", 3, None, ["YES"]),
    "id": ("nonsense", "", 3, None, ["rep_1"]),
    "id?": ("nonsense", "", 3, ["rep_1"]),
    "text?": (7, ["a"], True),
    "texts": ("one", None, [3], [None], {"a": "b"}),
    "list": ({}, None, "x"),
    "flag": ("yes", 1, 0, None),
    "map": ([], None, "x"),
    "object": ([], None, "x"),
    "object?": ([], "x", 3),
}
FILE_FIELDS: dict[str, tuple[Row, ...]] = {
    LEDGER: (
        ("parliament_id", "id", "PAR-004"),
        ("problem_statement", "words", "PAR-003"),
        ("messages", "list", "PAR-003"),
    ),
    SESSION: (
        ("parliament_id", "id", "PAR-004"),
        ("problem_statement", "words", "PAR-086"),
        ("constituent_issues", "texts", "PAR-087"),
        ("current_round", "count", "PAR-086"),
        ("max_rounds", "number", "PAR-088"),
        ("bill_version", "count", "PAR-086"),
        ("drafter", "id?", "PAR-089"),
        ("status", "choice", "PAR-091"),
        ("next_message_id", "number", "PAR-090"),
        ("representatives", "list", "PAR-092"),
        ("representatives[0].agent_id", "id", "PAR-093"),
        ("representatives[0].name", "words", "PAR-093"),
        ("representatives[0].temperature", "percent", "PAR-094"),
        ("representatives[0].temperature_history", "list", "PAR-094"),
        ("representatives[0].temperature_history[1].round", "count", "PAR-094"),
        ("representatives[0].temperature_history[1].temperature", "percent", "PAR-094"),
        ("representatives[0].motives", "texts", "PAR-095"),
        ("representatives[0].motive_satisfaction", "map", "PAR-095"),
        ("representatives[0].motive_satisfaction.time-to-market", "score?", "PAR-095"),
        ("representatives[0].is_quiet", "flag", "PAR-096"),
        ("representatives[0].quiet_until_round", "number?", "PAR-096"),
        ("representatives[0].voting_record", "list", "PAR-097"),
        ("representatives[0].voting_record[0].round", "count", "PAR-057"),
        ("representatives[0].voting_record[0].bill_version", "number", "PAR-057"),
        ("representatives[0].voting_record[0].vote", "choice", "PAR-053"),
        ("debate_clock", "object", "PAR-098"),
        ("debate_clock.max_exchanges_per_round", "count", "PAR-098"),
        ("debate_clock.response_budget", "number", "PAR-098"),
        ("debate_clock.exchanges_this_round", "count", "PAR-098"),
        ("vote_history", "list", "PAR-097"),
        ("vote_history[0].round", "count", "PAR-073"),
        ("vote_history[0].bill_version", "number", "PAR-073"),
        ("vote_history[0].yes", "count", "PAR-073"),
        ("vote_history[0].no", "count", "PAR-073"),
        ("vote_history[0].total", "number", "PAR-073"),
        ("vote_history[0].passed", "flag", "PAR-073"),
    ),
    BILL: (
        ("bill_id", "id?", "PAR-109"),
        ("title", "text?", "PAR-109"),
        ("version", "count", "PAR-109"),
        ("drafter", "id?", "PAR-109"),
        ("sections", "object", "PAR-109"),
        ("sections.problem", "text", "PAR-109"),
        ("sections.scope", "object", "PAR-110"),
        ("sections.scope.in_scope", "texts", "PAR-110"),
        ("sections.scope.out_of_scope", "texts", "PAR-110"),
        ("sections.scope.assumptions", "texts", "PAR-110"),
        ("sections.scope.definitions", "texts", "PAR-110"),
        ("sections.solution", "text", "PAR-109"),
        ("sections.implementation", "text", "PAR-109"),
        ("amendments", "list", "PAR-111"),
        ("amendments[0].amendment_id", "id", "PAR-044"),
        ("amendments[0].proposed_by", "id", "PAR-111"),
        ("amendments[0].round", "count", "PAR-111"),
        ("amendments[0].target_section", "choice", "PAR-046"),
        ("amendments[0].action", "choice", "PAR-045"),
        ("amendments[0].description", "text", "PAR-111"),
        ("amendments[0].status", "choice", "PAR-113"),
        ("amendments[0].endorsements", "list", "PAR-112"),
        ("amendments[0].endorsements[0].agent_id", "id", "PAR-112"),
        ("amendments[0].endorsements[0].position", "choice", "PAR-038"),
        ("amendments[0].endorsements[0].round", "count", "PAR-112"),
    ),
    SUMMARIES: (
        ("[0].round", "number", "PAR-121"),
        ("[0].summary", "words", "PAR-121"),
        ("[0].positions", "map", "PAR-123"),
        ("[0].positions.rep_1", "object", "PAR-123"),
        ("[0].positions.rep_1.lean", "choice", "PAR-123"),
        ("[0].positions.rep_1.key_concern", "text", "PAR-123"),
        ("[0].key_shifts", "texts", "PAR-125"),
        ("[0].amendments_actioned", "list", "PAR-124"),
        ("[0].amendments_actioned[0].amendment_id", "id", "PAR-124"),
        ("[0].amendments_actioned[0].status", "choice", "PAR-113"),
        ("[1].vote_result", "object?", "PAR-073"),
        ("[1].vote_result.round", "count", "PAR-073"),
        ("[1].vote_result.forced", "flag", "PAR-073"),
        ("[0].open_issues", "texts", "PAR-125"),
    ),
}
MESSAGE_FIELDS: dict[str, tuple[Row, ...]] = {
    "BILL_DRAFT": (
        ("bill_version", "number", "PAR-014"),
        ("title", "words", "PAR-014"),
        ("summary", "text", "PAR-014"),
        ("sections", "object", "PAR-015"),
        ("sections.problem", "words", "PAR-015"),
        ("sections.scope", "object", "PAR-016"),
        ("sections.scope.in_scope", "texts", "PAR-016"),
        ("sections.scope.out_of_scope", "texts", "PAR-016"),
        ("sections.scope.assumptions", "texts", "PAR-016"),
        ("sections.solution", "words", "PAR-015"),
        ("sections.implementation", "text", "PAR-015"),
    ),
    "OPENING_STATEMENT": (
        ("briefing", "object", "PAR-020"),
        ("briefing.facts", "texts", "PAR-020"),
        ("briefing.constraints", "texts", "PAR-020"),
        ("briefing.precedents", "texts", "PAR-020"),
        ("briefing.open_questions", "texts", "PAR-020"),
        ("direction", "object", "PAR-021"),
        ("direction.approach", "words", "PAR-021"),
        ("direction.principle", "words", "PAR-021"),
        ("direction.trade_offs", "text", "PAR-021"),
    ),
    "QUESTION": (
        ("topic", "words", "PAR-025"),
        ("question", "words", "PAR-025"),
        ("motive_context", "text", "PAR-025"),
    ),
    "ANSWER": (
        ("answer", "words", "PAR-028"),
        ("concessions", "text", "PAR-028"),
        ("stance", "choice", "PAR-029"),
        ("motive_scores", "map", "PAR-031"),
        ("motive_scores.speed", "score", "PAR-033"),
        ("amendment_position", "object?", "PAR-037"),
        ("amendment_position.amendment_id", "id", "PAR-037"),
        ("amendment_position.position", "choice", "PAR-038"),
        ("amendment_position.reason", "text", "PAR-037"),
    ),
    "AMENDMENT": (
        ("amendment_id", "id", "PAR-044"),
        ("target_section", "choice", "PAR-046"),
        ("action", "choice", "PAR-045"),
        ("description", "words", "PAR-043"),
        ("rationale", "text", "PAR-043"),
        ("proposed_text", "text", "PAR-043"),
    ),
    "MOTION": (("motion_type", "choice", "PAR-050"), ("reason", "words", "PAR-049")),
    "VOTE": (
        ("vote", "choice", "PAR-053"),
        ("reasoning", "words", "PAR-054"),
        ("motive_scores", "map", "PAR-054"),
        ("motive_scores.speed", "score", "PAR-033"),
        ("reservations", "text", "PAR-054"),
        ("conditions", "texts", "PAR-055"),
    ),
    "SPEAKER_RULING": (
        ("ruling_type", "choice", "PAR-068"),
        ("ruling", "words", "PAR-059"),
        ("target", "id?", "PAR-059"),
        ("action", "choice", "PAR-068"),
    ),
    "VOTE_TALLY": (
        ("bill_version", "number", "PAR-070"),
        ("yes_votes", "list", "PAR-070"),
        ("no_votes", "list", "PAR-070"),
        ("tally", "object", "PAR-070"),
        ("tally.yes", "count", "PAR-070"),
        ("tally.no", "count", "PAR-070"),
        ("tally.total", "number", "PAR-070"),
        ("passed", "flag", "PAR-070"),
        ("key_objections", "list", "PAR-070"),
        ("key_objections[0].from", "id", "PAR-070"),
        ("key_objections[0].concern", "text", "PAR-070"),
        ("next_action", "choice", "PAR-070"),
    ),
    "PM_DECISION": (
        ("decision", "choice", "PAR-076"),
        ("reason", "text", "PAR-075"),
        ("guidance", "text", "PAR-075"),
    ),
}


def _keys(path: str) -> list[str | int]:
    parts = re.findall(r"\[(\d+)\]|([^.\[\]]+)", path)
    return [int(number) if number else name for number, name in parts]


def _holder_of(document: Any, path: str) -> tuple[Any, str | int]:
    *way, last = _keys(path)
    for key in way:
        document = document[key]
    return document, last


def _rows(table: dict[str, tuple[Row, ...]]) -> list[Any]:
    return [
        pytest.param(name, path, kind, rule, id=f"{name} {path}")
        for name, rows in table.items()
        for path, kind, rule in rows
    ]


@pytest.mark.parametrize(("name", "path", "kind", "rule"), _rows(FILE_FIELDS))
def test_a_value_of_another_kind_in_a_file_is_named(
    name: str, path: str, kind: str, rule: str
) -> None:
    for wrong in WRONG[kind]:
        given = documents()
        holder, key = _holder_of(given[name], path)
        holder[key] = wrong
        # That it does not fit another value is no word on the value itself.
        places = {
            one.rule
            for one in inspect_files(encoded(given))
            if (one.where or "").startswith(f"{name}#{path}") and one.code not in COMPARED
        }
        assert rule in places, (wrong, places)


@pytest.mark.parametrize(("kind_of_message", "path", "kind", "rule"), _rows(MESSAGE_FIELDS))
def test_a_value_of_another_kind_in_a_message_is_named(
    kind_of_message: str, path: str, kind: str, rule: str
) -> None:
    assert message_findings(message(kind_of_message)) == ()
    for wrong in WRONG[kind]:
        given = deepcopy(message(kind_of_message))
        holder, key = _holder_of(given["content"], path)
        holder[key] = wrong
        places = {
            one.rule
            for one in message_findings(given)
            if (one.where or "").startswith(f"content.{path}")
        }
        assert rule in places, (wrong, places)


# One motive of many, one seat of many, or a key that may be left out.
MAY_BE_MISSING = (".time-to-market", ".motive_satisfaction", ".forced", ".positions.rep_1")
REQUIRED = {
    name: tuple(row for row in rows if not row[0].endswith(MAY_BE_MISSING))
    for name, rows in FILE_FIELDS.items()
}


@pytest.mark.parametrize(("name", "path", "kind", "rule"), _rows(REQUIRED))
def test_a_field_that_is_missing_from_a_file_is_named(
    name: str, path: str, kind: str, rule: str
) -> None:
    given = documents()
    holder, key = _holder_of(given[name], path)
    del holder[key]
    where = [one.where for one in inspect_files(encoded(given))]
    assert f"{name}#{path}" in where, (kind, rule, where)


# Not one motive of several, nor a key that may be left away.
NEEDED = {
    name: tuple(row for row in rows if row[1] != "score" and row[0] != "amendment_position")
    for name, rows in MESSAGE_FIELDS.items()
}


@pytest.mark.parametrize(("kind_of_message", "path", "kind", "rule"), _rows(NEEDED))
def test_a_field_that_is_missing_from_a_message_is_named(
    kind_of_message: str, path: str, kind: str, rule: str
) -> None:
    given = deepcopy(message(kind_of_message))
    holder, key = _holder_of(given["content"], path)
    del holder[key]
    where = [one.where for one in message_findings(given)]
    assert f"content.{path}" in where, (kind, rule, where)
