"""The work for one edit: what doubles with the file, and what does not. Counted, not timed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from moot.lines.edit_input import Replacement, read_replacements
from moot.lines.line_diff import diff_lines
from moot.lines.rules import find_obstacles
from moot.lines.segments import LineEdit, Segments, apply_edits, start_segments
from moot.lines.text import split_lines
from moot.lines.units import find_unit

LENGTH = 3_000


def count_steps(act: Callable[..., object], *arguments: object) -> int:
    """Count the lines of Python that run in a call."""
    steps = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal steps
        steps += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act(*arguments)
    finally:
        sys.settrace(before)
    return steps


def make_file(lines: int) -> bytes:
    return b"".join(b"    value_%d = call()\n\n" % number for number in range(lines // 2))


def make_segments(lines: int, edits: int) -> Segments:
    segments = start_segments(lines)
    for number in range(edits):
        start = number * (lines // edits)
        segments = apply_edits(segments, f"agent-{number % 8}", [LineEdit(start, start + 1, 1)])
    return segments


def test_an_edit_costs_the_same_in_a_file_of_any_length() -> None:
    """The file is searched for the text by C code; Python looks at the lines around it only."""
    old, new = b"value_700 = call()", b"value_700 = call(1)"
    steps = [
        count_steps(read_replacements, make_file(lines), [Replacement(old, new)])
        for lines in (LENGTH, 2 * LENGTH)
    ]
    assert steps[0] == steps[1] < 300


def test_the_check_costs_the_same_in_a_file_of_any_length() -> None:
    short, long = make_segments(LENGTH, 80), make_segments(2 * LENGTH, 80)
    edit = [[LineEdit(1001, 1002, 3)]]
    steps = [count_steps(find_obstacles, each, "birch", edit) for each in (short, long)]
    assert steps[0] == steps[1] < 20_000


def test_the_check_grows_with_the_number_of_changes_only_linearly() -> None:
    few, many = make_segments(LENGTH, 40), make_segments(LENGTH, 80)
    edit = [[LineEdit(1001, 1002, 3)]]
    steps = [count_steps(find_obstacles, each, "birch", edit) for each in (few, many)]
    assert steps[1] < 2.2 * steps[0]


def test_comparing_whole_versions_is_linear_in_their_length() -> None:
    steps = []
    for lines in (LENGTH, 2 * LENGTH):
        old = list(split_lines(make_file(lines)).lines)
        new = [line for at, line in enumerate(old) if at % 100]
        steps.append(count_steps(diff_lines, old, new))
    assert steps[1] < 2.2 * steps[0]


def test_repeated_lines_cost_no_more_than_a_bound() -> None:
    """Without a bound, two long pieces of repeated lines would cost their product."""
    steps = []
    for lines in (LENGTH, 2 * LENGTH):
        old, new = [b"a", b"b", b"a"] * (lines // 3), [b"b", b"a", b"c"] * (lines // 3)
        steps.append(count_steps(diff_lines, old, new))
    assert steps[1] < 2.2 * steps[0]


def test_a_unit_is_found_without_reading_the_whole_file() -> None:
    lines = [b"def f():", *[b"    x = 1"] * 50] * 200
    steps = [count_steps(find_unit, lines, at, "a.py") for at in (60, 9_000)]
    assert max(steps) < 500
