"""What changed between two versions of a bill: nothing is lost, nothing is made up."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.parliament.documents.report import (
    MAX_UNITS,
    Edit,
    EditMark,
    compare_sections,
    describe_edits,
    list_changed_parts,
    split_into_units,
)
from moot.protocols.parliament.messages.contents import Scope, Sections

SCOPE = Scope(("uploads",), ("billing",), ())


def bill(solution: str = "Send parts. Join them.", **more: Any) -> Sections:
    parts: dict[str, Any] = {"problem": "It fails.", "scope": SCOPE, "implementation": "Soon."}
    return Sections(solution=solution, **{**parts, **more})


def test_the_same_bill_has_no_changes() -> None:
    edits = compare_sections(bill(), bill())
    assert {edit.mark for edit in edits} == {EditMark.KEPT}
    assert list_changed_parts(edits) == ()
    assert list(describe_edits(edits)) == []


def test_a_new_sentence_is_added_and_nothing_else() -> None:
    edits = compare_sections(bill(), bill("Send parts. Join them.\n\nEvery part has a digest."))
    assert list(describe_edits(edits)) == ["solution", "  + Every part has a digest."]
    assert list_changed_parts(edits) == ("solution",)


def test_a_changed_sentence_goes_and_comes() -> None:
    edits = compare_sections(bill(), bill("Send parts. Drop them."))
    assert list(describe_edits(edits)) == ["solution", "  - Join them.", "  + Drop them."]


def test_lists_are_compared_item_by_item() -> None:
    wider = Scope(("uploads", "downloads"), ("billing",), ("a",), ("part: a piece",))
    edits = compare_sections(bill(), bill(scope=wider))
    assert list_changed_parts(edits) == ("scope.in_scope", "scope.assumptions", "scope.definitions")


def test_a_first_version_is_all_new() -> None:
    assert {edit.mark for edit in compare_sections(None, bill())} == {EditMark.ADDED}


def test_very_long_texts_are_shown_whole() -> None:
    old, new = "\n".join(map(str, range(MAX_UNITS))), "other"
    marks = [
        edit.mark for edit in compare_sections(bill(old), bill(new)) if edit.part == "solution"
    ]
    assert marks == [EditMark.REMOVED, EditMark.ADDED]


def joined(edits: tuple[Edit, ...], without: EditMark) -> str:
    return "".join(
        edit.text for edit in edits if edit.part == "solution" and edit.mark is not without
    )


TEXT = st.text(alphabet="ab .!?\n\r\té", max_size=60)


@given(old=TEXT, new=TEXT)
def test_both_texts_can_be_read_back(old: str, new: str) -> None:
    edits = compare_sections(bill(old), bill(new))
    assert joined(edits, EditMark.ADDED) == old
    assert joined(edits, EditMark.REMOVED) == new


@given(text=st.text(max_size=200))
def test_units_joined_are_the_text(text: str) -> None:
    assert "".join(split_into_units(text)) == text
