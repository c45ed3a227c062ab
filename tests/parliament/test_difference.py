"""What changed between two versions of a bill: nothing is lost, nothing is made up."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.parliament.documents.difference import (
    MOST_UNITS,
    Edit,
    Mark,
    changed,
    difference,
    lines,
    units_of,
)
from moot.protocols.parliament.messages.contents import Scope, Sections

SCOPE = Scope(("uploads",), ("billing",), ())


def bill(solution: str = "Send parts. Join them.", **more: Any) -> Sections:
    parts: dict[str, Any] = {"problem": "It fails.", "scope": SCOPE, "implementation": "Soon."}
    return Sections(solution=solution, **{**parts, **more})


def test_the_same_bill_has_no_changes() -> None:
    edits = difference(bill(), bill())
    assert {edit.mark for edit in edits} == {Mark.KEPT}
    assert changed(edits) == ()
    assert list(lines(edits)) == []


def test_a_new_sentence_is_added_and_nothing_else() -> None:
    edits = difference(bill(), bill("Send parts. Join them.\n\nEvery part has a digest."))
    assert list(lines(edits)) == ["solution", "  + Every part has a digest."]
    assert changed(edits) == ("solution",)


def test_a_changed_sentence_goes_and_comes() -> None:
    edits = difference(bill(), bill("Send parts. Drop them."))
    assert list(lines(edits)) == ["solution", "  - Join them.", "  + Drop them."]


def test_lists_are_compared_item_by_item() -> None:
    wider = Scope(("uploads", "downloads"), ("billing",), ("a",), ("part: a piece",))
    edits = difference(bill(), bill(scope=wider))
    assert changed(edits) == ("scope.in_scope", "scope.assumptions", "scope.definitions")


def test_a_first_version_is_all_new() -> None:
    assert {edit.mark for edit in difference(None, bill())} == {Mark.ADDED}


def test_very_long_texts_are_shown_whole() -> None:
    old, new = "\n".join(map(str, range(MOST_UNITS))), "other"
    marks = [edit.mark for edit in difference(bill(old), bill(new)) if edit.part == "solution"]
    assert marks == [Mark.REMOVED, Mark.ADDED]


def joined(edits: tuple[Edit, ...], without: Mark) -> str:
    return "".join(
        edit.text for edit in edits if edit.part == "solution" and edit.mark is not without
    )


TEXT = st.text(alphabet="ab .!?\n\r\té", max_size=60)


@given(old=TEXT, new=TEXT)
def test_both_texts_can_be_read_back(old: str, new: str) -> None:
    edits = difference(bill(old), bill(new))
    assert joined(edits, Mark.ADDED) == old
    assert joined(edits, Mark.REMOVED) == new


@given(text=st.text(max_size=200))
def test_units_joined_are_the_text(text: str) -> None:
    assert "".join(units_of(text)) == text
