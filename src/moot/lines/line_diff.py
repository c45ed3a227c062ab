"""From two versions of a file to the lines that differ.

First cut what is equal at both ends. What is left is split at lines that occur exactly once on both
sides (patience), and small pieces are compared line by line. `difflib` is not used: with repeated
lines its cost is quadratic, 4.7 seconds for a file of 30,000 lines.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from moot.lines.segments import LineEdit
from moot.lines.text import trim_equal_ends

# A piece without unique lines and with more differences than this is replaced as a whole.
MOST_DIFFERENCES: Final = 200


def diff_lines(old: Sequence[bytes], new: Sequence[bytes]) -> list[LineEdit]:
    """Return the edits that make `new` out of `old`, in order."""
    edits: list[LineEdit] = []
    for edit in _diff(old, new, 0):
        if edits and edits[-1].end == edit.start:
            edits[-1] = LineEdit(edits[-1].start, edit.end, edits[-1].new_lines + edit.new_lines)
        else:
            edits.append(edit)
    return edits


def diff_in_window(
    old: Sequence[bytes], new: Sequence[bytes], start: int, end: int
) -> list[LineEdit] | None:
    """Return the edits between two versions if all of them are inside the lines `start` to `end` of
    `old`; None if something outside changed too."""
    tail = len(old) - end
    if len(new) < start + tail:
        return None
    if old[:start] != new[:start] or old[end:] != new[len(new) - tail :]:
        return None
    inside = diff_lines(old[start:end], new[start : len(new) - tail])
    return [shift(edit, start) for edit in inside]


def shift(edit: LineEdit, lines: int) -> LineEdit:
    """Move an edit down by so many lines."""
    return LineEdit(edit.start + lines, edit.end + lines, edit.new_lines)


def list_new_ranges(edits: Sequence[LineEdit]) -> Iterator[tuple[LineEdit, int, int]]:
    """Yield each edit with the place of its new lines in the version after all of them."""
    moved = 0
    for edit in edits:
        start = edit.start + moved
        yield edit, start, start + edit.new_lines
        moved += edit.new_lines - (edit.end - edit.start)


def _diff(old: Sequence[bytes], new: Sequence[bytes], offset: int) -> Iterator[LineEdit]:
    """Compare piece by piece. A stack, because pieces can be nested deeper than Python recurses."""
    waiting = [(old, new, offset)]
    while waiting:
        old, new, offset = waiting.pop()
        head, old_end, new_end = trim_equal_ends(old, new)
        old, new, offset = old[head:old_end], new[head:new_end], offset + head
        if not old or not new:
            if old or new:
                yield LineEdit(offset, offset + len(old), len(new))
            continue
        pairs = _longest_rising(_pair_unique_lines(old, new))
        if not pairs:
            yield from (shift(edit, offset) for edit in _diff_small(old, new))
            continue
        pieces, old_at, new_at = [], 0, 0
        for old_line, new_line in [*pairs, (len(old), len(new))]:
            pieces.append((old[old_at:old_line], new[new_at:new_line], offset + old_at))
            old_at, new_at = old_line + 1, new_line + 1
        waiting += reversed(pieces)


def _pair_unique_lines(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int]]:
    """Pair the lines that occur once in `old` and once in `new`, in the order of `old`."""
    in_old, in_new = _find_unique(old), _find_unique(new)
    return [(at, in_new[line]) for line, at in in_old.items() if line in in_new]


def _find_unique(lines: Sequence[bytes]) -> dict[bytes, int]:
    places: dict[bytes, int] = {}
    repeated: set[bytes] = set()
    for at, line in enumerate(lines):
        if line in places:
            repeated.add(line)
        places[line] = at
    return {line: at for line, at in places.items() if line not in repeated}


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of the pairs in which the second numbers rise too."""
    tops: list[int] = []  # the smallest last number of a rising part of each length
    ends: list[int] = []  # where that part ends in `pairs`
    previous: list[int] = []
    for place, (_, number) in enumerate(pairs):
        length = bisect_left(tops, number)
        previous.append(ends[length - 1] if length else -1)
        tops[length : length + 1] = [number]
        ends[length : length + 1] = [place]
    rising: list[tuple[int, int]] = []
    place = ends[-1] if ends else -1
    while place >= 0:
        rising.append(pairs[place])
        place = previous[place]
    return rising[::-1]


def _diff_small(old: Sequence[bytes], new: Sequence[bytes]) -> list[LineEdit]:
    """Compare two pieces that share no unique line: the shortest list of edits (Myers 1986).

    With more than MOST_DIFFERENCES the whole piece counts as replaced, which bounds the work.
    """
    furthest = {1: 0}  # diagonal -> the furthest place in `old` that so many differences reach
    history: list[dict[int, int]] = []
    for differences in range(min(len(old) + len(new), MOST_DIFFERENCES) + 1):
        history.append(dict(furthest))
        for diagonal in range(-differences, differences + 1, 2):
            inserts = diagonal == -differences or (
                diagonal != differences and furthest[diagonal - 1] < furthest[diagonal + 1]
            )
            at = furthest[diagonal + 1] if inserts else furthest[diagonal - 1] + 1
            while at < len(old) and at - diagonal < len(new) and old[at] == new[at - diagonal]:
                at += 1
            furthest[diagonal] = at
            if at >= len(old) and at - diagonal >= len(new):
                return _read_back(history, len(old), len(new))
    return [LineEdit(0, len(old), len(new))]


def _read_back(history: Sequence[dict[int, int]], old_at: int, new_at: int) -> list[LineEdit]:
    """Follow the comparison back from the end of both pieces."""
    edits: list[LineEdit] = []
    for differences in range(len(history) - 1, 0, -1):
        furthest, diagonal = history[differences], old_at - new_at
        inserts = diagonal == -differences or (
            diagonal != differences and furthest[diagonal - 1] < furthest[diagonal + 1]
        )
        old_at = furthest[diagonal + 1] if inserts else furthest[diagonal - 1]
        new_at = old_at - (diagonal + 1 if inserts else diagonal - 1)
        edits.append(LineEdit(old_at, old_at if inserts else old_at + 1, 1 if inserts else 0))
    return edits[::-1]
