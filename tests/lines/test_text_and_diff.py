"""Bytes as lines, and the lines that differ between two versions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.lines.line_diff import diff_in_window, diff_lines, list_new_ranges
from moot.lines.segments import LineEdit
from moot.lines.text import FileText, join_lines, split_lines
from tests.sampling import examples

few_lines = st.lists(st.sampled_from([b"", b"a", b"b", b"}", b"x = 1"]), max_size=40)


def make_new(old: Sequence[bytes], new: Sequence[bytes], edits: Sequence[LineEdit]) -> list[bytes]:
    made: list[bytes] = []
    at = 0
    for edit, start, end in list_new_ranges(edits):
        made += [*old[at : edit.start], *new[start:end]]
        at = edit.end
    return [*made, *old[at:]]


@given(st.binary(max_size=60) | st.text("a\n\r\f\v\x1c\x85\u2028", max_size=30).map(str.encode))
@settings(max_examples=examples(300))
def test_splitting_and_joining_gives_the_same_bytes(data: bytes) -> None:
    assert join_lines(split_lines(data)) == data
    assert len(split_lines(data).lines) == data.count(b"\n") + (data[-1:] not in (b"\n", b""))


@pytest.mark.parametrize("mark", [b"\r", b"\f", b"\v", b"\x1c", "\x85".encode(), "\u2028".encode()])
def test_lines_end_at_newlines_only(mark: bytes) -> None:
    assert split_lines(b"a" + mark + b"b\nc\n").lines == [b"a" + mark + b"b", b"c"]


def test_a_missing_final_newline_belongs_to_the_file() -> None:
    assert split_lines(b"a\nb") == ([b"a", b"b"], False)
    appended = diff_lines(split_lines(b"a\nb").lines, split_lines(b"a\nb\nc\n").lines)
    assert appended == [(2, 2, 1)], "the line b is not changed by appending"
    assert join_lines(FileText([b"a", b""], has_final_newline=False)) == b"a\n\n"
    assert join_lines(FileText([], has_final_newline=True)) == b""


@given(few_lines, few_lines)
@settings(max_examples=examples(600))
def test_the_edits_make_the_new_version_out_of_the_old_one(
    old: list[bytes], new: list[bytes]
) -> None:
    edits = diff_lines(old, new)
    assert make_new(old, new, edits) == new
    for before, after in pairwise(edits):
        assert before.end < after.start
    assert all(edit.end > edit.start or edit.new_lines for edit in edits)


@given(st.lists(st.integers(0, 400), max_size=60), st.lists(st.integers(0, 400), max_size=60))
def test_unique_lines_are_kept_where_they_are(old: list[int], new: list[int]) -> None:
    before, after = ([b"%d" % number for number in version] for version in (old, new))
    assert make_new(before, after, diff_lines(before, after)) == after


def test_a_change_in_a_long_file_is_found_exactly() -> None:
    old = [b"line %d" % number if number % 3 else b"" for number in range(3000)]
    new = list(old)
    new[2000:2001] = [b"changed", b"", b"more"]
    del new[100:102]
    assert diff_lines(old, new) == [(100, 102, 0), (2000, 2001, 3)]


def test_a_piece_with_too_many_differences_is_replaced_as_a_whole() -> None:
    old, new = [b"a", b"b"] * 300, [b"c", b"b", b"b"] * 300
    edits = diff_lines(old, new)
    assert make_new(old, new, edits) == new
    assert len(edits) == 1


def test_a_change_inside_a_window_is_told_from_one_outside() -> None:
    old = [b"%d" % number for number in range(10)]
    new = [*old[:4], b"x", b"y", *old[5:]]
    assert diff_in_window(old, new, 3, 6) == [(4, 5, 2)]
    assert diff_in_window(old, new, 5, 7) is None
    assert diff_in_window(old, new, 0, 4) is None
    assert diff_in_window(old, old[:2], 3, 6) is None
    assert diff_in_window(old, old, 3, 6) == []
    assert diff_in_window([b"a"] * 4, [b"a"], 1, 3) is None
