"""Merging a whole-file write with what others wrote since the agent read the file."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from moot.lines.merge import MergedWrite, WriteConflict, merge_write
from moot.lines.segments import LineEdit
from moot.lines.text import FileText, split_lines
from tests.sampling import examples

few_lines = st.lists(st.sampled_from([b"a", b"b", b"c", b""]), max_size=10)


def change(lines: Sequence[bytes], edits: list[tuple[int, int, list[bytes]]]) -> FileText:
    made = list(lines)
    for start, end, new in sorted(edits, reverse=True):
        made[start:end] = new
    return FileText(made)


@given(
    st.integers(4, 12),
    st.data(),
)
@settings(max_examples=examples(400))
def test_changes_of_different_lines_are_both_there(lines: int, data: st.DataObject) -> None:
    """Each line of the file is left alone, or changed by one side only."""
    seen = [b"line %d" % number for number in range(lines)]
    acts = data.draw(
        st.lists(
            st.sampled_from(["", "theirs", "ours", "theirs-", "ours-"]),
            min_size=lines,
            max_size=lines,
        )
    )
    edits: dict[str, list[tuple[int, int, list[bytes]]]] = {"theirs": [], "ours": []}
    for at, act in enumerate(acts):
        if act:
            side = act.rstrip("-")
            new = [] if act.endswith("-") else [b"%s %d" % (side.encode(), at)]
            edits[side].append((at, at + 1, new))
    now, written = change(seen, edits["theirs"]), change(seen, edits["ours"])
    both = change(seen, edits["theirs"] + edits["ours"])
    merged = merge_write(FileText(seen), now, written)
    assert isinstance(merged, MergedWrite)
    assert list(merged.text.lines) == list(both.lines)
    check_edits(now.lines, merged)


def check_edits(now: Sequence[bytes], merged: MergedWrite) -> None:
    """The edits change the file as it is now in no line outside of them."""
    made: list[bytes] = []
    at = 0
    for edit in merged.edits:
        made += now[at : edit.start]
        made += merged.text.lines[len(made) : len(made) + edit.new_lines]
        at = edit.end
    assert [*made, *now[at:]] == list(merged.text.lines)


@given(few_lines, few_lines, few_lines)
@settings(max_examples=examples(600))
def test_a_merge_is_whole_or_nothing(seen: list[bytes], now: list[bytes], new: list[bytes]) -> None:
    merged = merge_write(FileText(seen), FileText(now), FileText(new))
    if isinstance(merged, WriteConflict):
        assert 0 <= merged.start <= merged.end <= len(now)
        assert seen not in (now, new)
        return
    check_edits(now, merged)
    if seen == now:
        assert list(merged.text.lines) == new
    if seen == new:
        assert list(merged.text.lines) == now
        assert merged.edits == ()


def test_a_change_of_the_same_line_is_a_conflict_with_its_place() -> None:
    seen, now, new = (split_lines(text) for text in (b"a\nb\nc\n", b"0\na\nB\nc\n", b"a\nX\nc\n"))
    assert merge_write(seen, now, new) == WriteConflict(2, 3)


def test_two_insertions_at_one_place_are_a_conflict_unless_they_are_equal() -> None:
    seen, now = split_lines(b"a\nb\n"), split_lines(b"a\nnew\nb\n")
    assert isinstance(merge_write(seen, now, split_lines(b"a\nother\nb\n")), WriteConflict)
    merged = merge_write(seen, now, now)
    assert merged == MergedWrite(FileText([b"a", b"new", b"b"]), ())


def test_lines_behind_a_change_of_the_other_side_may_be_changed() -> None:
    seen, now, new = (split_lines(text) for text in (b"a\nb\n", b"A\nb\n", b"a\nB\n"))
    merged = merge_write(seen, now, new)
    assert merged == MergedWrite(FileText([b"A", b"B"]), (LineEdit(1, 2, 1),))


def test_the_final_newline_is_that_of_the_side_that_changed_it() -> None:
    seen, now, new = (split_lines(text) for text in (b"a\nb", b"A\nb", b"a\nb\n"))
    merged = merge_write(seen, now, new)
    assert isinstance(merged, MergedWrite)
    assert merged.text.has_final_newline
    merged = merge_write(seen, new, FileText([b"A", b"b"], has_final_newline=False))
    assert isinstance(merged, MergedWrite)
    assert merged.text.has_final_newline
