"""From a tool's edit input to the lines that it changes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from moot.lines.edit_input import (
    Hunk,
    Reading,
    Replacement,
    read_hunks,
    read_replacements,
    read_whole_file,
)
from moot.lines.segments import apply_edits, make_version, start_segments
from moot.lines.text import split_lines
from tests.sampling import examples

small = st.text("ab\n\r", max_size=12).map(str.encode)
replacements = st.lists(st.builds(Replacement, small, small, st.booleans()), max_size=3)


def edits_of(reading: Reading) -> list[tuple[int, int, int]]:
    return [(*edit,) for step in reading.steps for edit in step]


def check(content: bytes, reading: Reading) -> None:
    """The steps lead to the lines of the content, and lines outside of them are the same."""
    base, file = split_lines(content).lines, split_lines(reading.content).lines
    segments = start_segments(len(base))
    for step in reading.steps:
        segments = apply_edits(segments, "ash", step)
    assert make_version(segments, list(base), list(file), ["ash"]) == list(file)
    assert make_version(segments, list(base), list(file), []) == list(base)


@given(small | st.text("ab\n", max_size=60).map(str.encode), replacements)
@settings(max_examples=examples(1500))
def test_steps_and_content_agree_for_any_input(content: bytes, given: list[Replacement]) -> None:
    for reading in read_replacements(content, given):
        check(content, reading)


@given(
    st.binary(max_size=40) | small,
    st.lists(
        st.builds(
            Hunk,
            st.lists(small, max_size=3).map(tuple),
            st.lists(small, max_size=3).map(tuple),
            small,
            st.booleans(),
        ),
        max_size=3,
    ),
)
@settings(max_examples=examples(600))
def test_hunks_of_any_kind_are_read_or_left(content: bytes, hunks: list[Hunk]) -> None:
    plain = [
        Hunk(
            tuple(line.replace(b"\n", b"") for line in hunk.old),
            tuple(line.replace(b"\n", b"") for line in hunk.new),
            hunk.context.replace(b"\n", b""),
            hunk.is_at_end,
        )
        for hunk in hunks
    ]
    for reading in read_hunks(content, plain):
        base, file = split_lines(content).lines, split_lines(reading.content).lines
        segments = start_segments(len(base))
        for step in reading.steps:
            segments = apply_edits(segments, "ash", step)
        assert make_version(segments, list(base), list(file), ["ash"]) == list(file)


@given(small, small)
def test_a_replacement_does_what_bytes_replace_does(old: bytes, new: bytes) -> None:
    content = b"a\nab\n" + old + b"b\n\nab" + old
    contents = [r.content for r in read_replacements(content, [Replacement(old, new, True)])]
    assert not old or contents[0] == content.replace(old, new)
    once = [r.content for r in read_replacements(content, [Replacement(old, new)])]
    assert not old or once[0] == content.replace(old, new, 1)


def test_only_the_lines_that_differ_count() -> None:
    content = b"def f(x):\n    a = 1\n    b = 2\n    return x\n"
    (reading,) = read_replacements(
        content, [Replacement(b"    a = 1\n    b = 2\n", b"    a = 1\n    b = 3\n    c = 4\n")]
    )
    assert edits_of(reading) == [(2, 3, 2)]


def test_lines_are_compared_inside_the_edit_only() -> None:
    """A comparison of the whole versions would put the new lines behind the last `}` of three."""
    content = b"f {\n}\n}\n}\ng\n"
    (reading,) = read_replacements(content, [Replacement(b"f {\n}\n", b"f {\n}\n}\n")])
    assert edits_of(reading) == [(2, 2, 1)]
    assert diff_of_whole(content, reading.content) == [(4, 4, 1)]


def diff_of_whole(content: bytes, new: bytes) -> list[tuple[int, int, int]]:
    return edits_of(read_whole_file(content, new))


def test_a_part_of_a_line_changes_that_line() -> None:
    (reading,) = read_replacements(b"a\nfoo bar\nc\n", [Replacement(b"bar", b"baz")])
    assert edits_of(reading) == [(1, 2, 1)]


def test_text_without_its_line_end_joins_the_next_line() -> None:
    (reading,) = read_replacements(b"a\nb\nc\n", [Replacement(b"a\n", b"x")])
    assert reading.content == b"xb\nc\n"
    assert edits_of(reading) == [(0, 2, 1)]


def test_everywhere_gives_one_edit_for_each_place() -> None:
    content = b"x = x\ny\nx\n"
    (reading,) = read_replacements(content, [Replacement(b"x", b"z", everywhere=True)])
    assert reading.content == b"z = z\ny\nz\n"
    assert edits_of(reading) == [(0, 1, 1), (2, 3, 1)]


def test_several_replacements_are_steps() -> None:
    given = [Replacement(b"a\n", b"a\na2\n"), Replacement(b"a2\nb\n", b"B\n")]
    (reading,) = read_replacements(b"a\nb\n", given)
    assert reading.steps == (((1, 1, 1),), ((1, 3, 1),))
    assert reading.content == b"a\nB\n"


def test_text_that_is_not_there_has_no_reading() -> None:
    assert read_replacements(b"a\n", [Replacement(b"b", b"c")]) == []
    assert read_replacements(b"a\n", [Replacement(b"", b"c")]) == []
    assert read_replacements(b"", [Replacement(b"", b"c\n")])[0].content == b"c\n"


def test_a_tool_that_hides_windows_line_ends_is_understood() -> None:
    content = b"a\r\nb\r\nc\r\n"
    (reading,) = read_replacements(content, [Replacement(b"a\nb\n", b"a\nB\nX\n")])
    assert reading.content == b"a\r\nB\r\nX\r\nc\r\n"
    assert edits_of(reading) == [(1, 2, 2)]


def test_appending_after_a_missing_newline_leaves_the_last_line_alone() -> None:
    (reading,) = read_replacements(b"a\nb", [Replacement(b"b", b"b\nc")])
    assert edits_of(reading) == [(2, 2, 1)]


def test_a_patch_is_placed_by_its_lines_and_context() -> None:
    content = b"class A:\n    x\n    y\nclass B:\n    x\n    y\n"
    hunk = Hunk((b"    x", b"    y"), (b"    x", b"    z", b"    y"), b"class B:")
    (reading,) = read_hunks(content, [hunk])
    assert edits_of(reading) == [(5, 5, 1)]
    assert reading.content == b"class A:\n    x\n    y\nclass B:\n    x\n    z\n    y\n"
    assert read_hunks(content, [Hunk((b"nothing",), (b"x",))]) == []
    assert read_hunks(content, [Hunk((b"    x",), (b"w",), b"class C:")]) == []


def test_a_patch_may_differ_in_white_space_at_the_ends_of_lines() -> None:
    (reading,) = read_hunks(b"a  \nb\n", [Hunk((b"a", b"b"), (b"a", b"c"))])
    assert reading.content == b"a\nc\n"
    assert edits_of(reading) == [(0, 2, 2)]


def test_hunks_that_append_are_joined() -> None:
    (reading,) = read_hunks(b"a\n", [Hunk((), (b"b",)), Hunk((), (b"c",))])
    assert reading.content == b"a\nb\nc\n"
    assert edits_of(reading) == [(1, 1, 2)]
