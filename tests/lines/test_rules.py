"""Which edit is refused, and what is in its way."""

from __future__ import annotations

import pytest

from moot.lines.rules import (
    Obstacle,
    Reason,
    find_deleted_lines,
    find_obstacles,
    list_blocks,
)
from moot.lines.segments import (
    LineEdit,
    apply_edits,
    change_owner,
    commit,
    start_new_file,
    start_segments,
)

# Ten lines: ash changed lines 2 and 3 to three lines, deleted line 6, inserted two before line 8.
FILE = apply_edits(
    start_segments(10), "ash", [LineEdit(2, 4, 3), LineEdit(6, 7, 0), LineEdit(8, 8, 2)]
)


def reasons(agent: str, *edits: LineEdit) -> list[tuple[Reason, int]]:
    return [(found.reason, found.line) for found in find_obstacles(FILE, agent, [edits])]


def test_blocks_have_their_place_in_the_file_and_in_the_base() -> None:
    assert list_blocks(FILE) == [
        ("ash", 2, 5, 2, 4),
        ("ash", 7, 7, 6, 7),
        ("ash", 8, 10, 8, 8),
    ]


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (LineEdit(4, 6, 1), (Reason.CHANGES_LINE, 4)),
        (LineEdit(0, 11, 11), (Reason.CHANGES_LINE, 2)),
        (LineEdit(3, 3, 1), (Reason.INSIDE_BLOCK, 3)),
        (LineEdit(6, 8, 2), (Reason.ACROSS_DELETION, 7)),
        (LineEdit(7, 7, 1), (Reason.AT_DELETION, 7)),
        (LineEdit(9, 10, 0), (Reason.CHANGES_LINE, 9)),
    ],
)
def test_an_edit_of_anothers_lines_is_refused(edit: LineEdit, expected: tuple[Reason, int]) -> None:
    assert reasons("birch", edit)[0] == expected
    assert reasons("ash", edit) == []


@pytest.mark.parametrize(
    "edit",
    [
        LineEdit(0, 2, 5),  # up to the first changed line
        LineEdit(2, 2, 1),  # directly before a block
        LineEdit(5, 5, 1),  # directly behind it
        LineEdit(5, 7, 1),  # up to a deletion
        LineEdit(7, 8, 1),  # from a deletion on
        LineEdit(8, 8, 1),
        LineEdit(10, 10, 4),
        LineEdit(10, 12, 0),
    ],
)
def test_all_other_lines_are_free(edit: LineEdit) -> None:
    assert reasons("birch", edit) == []


def test_one_edit_of_a_call_in_the_way_refuses_all() -> None:
    assert reasons("birch", LineEdit(0, 1, 1), LineEdit(4, 5, 1)) == [(Reason.CHANGES_LINE, 4)]


def test_line_numbers_are_those_before_the_first_step() -> None:
    """The first step moves ash's lines down by four; the answer names them where they are now."""
    found = find_obstacles(FILE, "birch", [[LineEdit(0, 0, 4)], [LineEdit(7, 8, 1)]])
    assert [(each.reason, each.block.start, each.line) for each in found] == [
        (Reason.CHANGES_LINE, 2, 3)
    ]


def test_later_steps_may_touch_what_earlier_ones_wrote() -> None:
    assert find_obstacles(FILE, "birch", [[LineEdit(0, 1, 3)], [LineEdit(1, 4, 1)]]) == []


def test_committed_and_released_lines_are_free() -> None:
    everything = [[LineEdit(0, 12, 12)]]
    assert find_obstacles(commit(FILE, ["ash"]), "birch", everything) == []
    assert find_obstacles(change_owner(FILE, "ash", None), "birch", everything) == []
    taken = change_owner(FILE, "ash", "birch")
    assert find_obstacles(taken, "birch", everything) == []
    assert find_obstacles(taken, "ash", everything) != []


def test_a_new_file_is_its_agents_until_it_is_committed() -> None:
    new = start_new_file("ash", 3)
    obstacle = Obstacle(Reason.NEW_FILE, list_blocks(new)[0], 0)
    assert find_obstacles(new, "birch", [[LineEdit(3, 3, 1)]]) == [obstacle]
    assert find_obstacles(new, "ash", [[LineEdit(3, 3, 1)]]) == []
    assert find_obstacles(commit(new, ["ash"]), "birch", [[LineEdit(0, 3, 1)]]) == []
    assert find_obstacles(start_new_file(None, 3), "birch", [[LineEdit(0, 3, 1)]]) == []


def test_who_has_the_lines_that_an_edit_does_not_find() -> None:
    base = [b"%d" % number for number in range(10)]
    found = find_deleted_lines(FILE, "birch", base, [b"1", b"2"])
    assert [(each.reason, each.block.agent, each.line) for each in found] == [
        (Reason.WANTS_DELETED, "ash", 2)
    ]
    assert find_deleted_lines(FILE, "ash", base, [b"1", b"2"]) == []
    assert find_deleted_lines(FILE, "birch", base, [b"0", b"1"]) == []
    assert find_deleted_lines(FILE, "birch", base, [b"2", b"1"]) == []
    assert find_deleted_lines(FILE, "birch", base, []) == []
    assert [each.line for each in find_deleted_lines(FILE, "birch", base, [b"6"])] == [7]


def test_edits_that_overlap_or_leave_the_file_are_errors() -> None:
    for edits in (
        [LineEdit(0, 2, 1), LineEdit(1, 3, 1)],
        [LineEdit(0, 13, 1)],
        [LineEdit(2, 1, 1)],
        [LineEdit(0, 1, -1)],
        [LineEdit(-1, 1, 1)],
    ):
        with pytest.raises(ValueError, match="edit"):
            apply_edits(FILE, "ash", edits)
