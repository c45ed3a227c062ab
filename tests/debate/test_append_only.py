"""Append-only: what may differ between two versions of a file, and what may not."""

from __future__ import annotations

import pytest

from moot.protocols.debate.compare import compare
from tests.debate.sessions import TWO_ROUNDS, entry, entry_id, session

A, B, C = (
    entry(1, "red-fox", 1, 1, stance="neutral"),
    entry(2, "blue-hen", 1, 2, stance="neutral"),
    entry(3, "red-fox", 2, 1),
)
OLD = session(A, B)


def differ(new: str, old: str = OLD) -> list[tuple[str, str]]:
    return [(one.rule, one.code) for one in compare(old, new)]


@pytest.mark.requirement("BNC-172")
def test_growing_is_no_difference() -> None:
    assert differ(OLD) == []
    assert differ(session(A, B, C)) == []
    assert differ(session(A, B) + "\n<!-- operator-resume: 2026-03-01T09:30:00Z -->\n") == []


@pytest.mark.requirement("BNC-097")
@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("Words about it.", "Words about it!"),
        ("confidence: 0.8", "confidence: 0.9"),
        ("[author: red-fox]", "[author: blue-hen]"),
        ("<!-- turn: 1 round: 1 -->", "<!-- turn: 1 round: 2 -->"),
    ],
)
def test_an_entry_never_changes(before: str, now: str) -> None:
    assert ("R1", "entry_modified") in differ(OLD.replace(before, now, 1))


@pytest.mark.requirement("BNC-097")
def test_an_entry_never_goes_away() -> None:
    assert differ(session(A)) == [("R1", "entry_deleted")]


@pytest.mark.requirement("BNC-098")
def test_nothing_is_put_between_entries() -> None:
    assert ("R2", "entry_inserted") in differ(session(A, C, B))


@pytest.mark.requirement("BNC-066")
def test_entries_never_change_places() -> None:
    assert ("R2", "entries_reordered") in differ(session(B, A))


@pytest.mark.requirement("BNC-059")
@pytest.mark.requirement("BNC-099")
def test_rules_are_frozen_by_the_first_entry() -> None:
    assert differ(session(A, B, max_rounds="9")) == [("R3", "rules_modified")]
    assert differ(session(max_rounds="9"), session()) == []


@pytest.mark.requirement("BNC-061")
def test_the_context_never_changes() -> None:
    assert differ(session(A, B, context="The old queue loses message under load.")) == [
        ("3.4", "context_modified")
    ]


@pytest.mark.requirement("BNC-062")
def test_the_context_may_gain_subsections() -> None:
    old = "The old queue loses messages under load."
    more = f"{old}\n\n### Additional Context Added Round 3\n\nIt also loses order."
    assert differ(session(A, B, context=more)) == []
    assert differ(session(A, B, context=f"{old}\n\nMore.")) == [("3.4", "context_modified")]


@pytest.mark.parametrize(
    ("before", "now"), [("created: 2026", "created: 2025"), ("Which queue", "What queue")]
)
def test_header_and_title_stay(before: str, now: str) -> None:
    assert differ(OLD.replace(before, now)) == [("3.1", "header_modified")]


def test_what_stands_between_entries_stays_too() -> None:
    note = "\n<!-- operator-resume: 2026-03-01T09:30:00Z -->\n"
    assert differ(session(A, B), session(A, note, B)) == [("R1", "dialogue_modified")]


def test_an_open_entry_is_still_its_authors() -> None:
    half = session(A, entry(2, "blue-hen", 1, 2, marker="", body="Wo"))
    assert differ(session(A, B), half) == []


@pytest.mark.requirement("BNC-106")
def test_a_repeated_entry_adds_nothing() -> None:
    assert differ(session(A, B, A)) == []


def test_every_byte_of_a_yielded_entry_counts() -> None:
    start = TWO_ROUNDS.index(f"<!-- entry: {entry_id(2)}")
    end = TWO_ROUNDS.index("<!-- yield -->", start)
    for place in range(start, end):
        if TWO_ROUNDS[place] == "\n":
            continue
        changed = TWO_ROUNDS[:place] + "#" + TWO_ROUNDS[place + 1 :]
        assert changed == TWO_ROUNDS or compare(TWO_ROUNDS, changed), place
