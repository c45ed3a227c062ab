"""From the input of a tool's edit to the lines that it changes.

The place comes from the tool's own input, and only the lines around it are compared. A comparison
of whole versions would give lines to the wrong agent: equal lines (blank ones, `return x`, `)`) can
slide, in 1.2 % of real edits into another agent's commit.

Tools differ in details: some hide Windows line ends, some replace the first of several matches.
Every reading is returned, with the content that it leads to. An edit is checked in all readings.
The content of the file afterwards says which one was right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from moot.lines.line_diff import diff_lines, shift
from moot.lines.segments import LineEdit
from moot.lines.text import FileText, join_lines, split_lines

# More readings of one input are not followed.
MOST_READINGS: Final = 8
MOST_REPLACEMENTS: Final = 1_000


class Replacement(NamedTuple):
    """`old` becomes `new`, once or everywhere."""

    old: bytes
    new: bytes
    everywhere: bool = False


class Hunk(NamedTuple):
    """The lines `old` become `new`, behind a line `context` if one is named."""

    old: tuple[bytes, ...]
    new: tuple[bytes, ...]
    context: bytes = b""
    is_at_end: bool = False


class Reading(NamedTuple):
    """What one reading of an input does: its edits step by step, and the content after them.

    Line numbers of a step are those after the step before it.
    """

    steps: tuple[tuple[LineEdit, ...], ...]
    content: bytes


def read_whole_file(content: bytes, new: bytes) -> Reading:
    """Return what a whole-file write does to the file."""
    edits = diff_lines(split_lines(content).lines, split_lines(new).lines)
    return Reading((tuple(edits),), new)


def read_replacements(content: bytes, replacements: Sequence[Replacement]) -> list[Reading]:
    """Return every reading of replacements that follow each other.

    The list is empty if the text of one is not in the file: then the tool refuses the edit.
    """
    readings = _replace_in_turn(content, replacements[:MOST_REPLACEMENTS], _keep)
    if b"\r\n" in content:
        readings += _replace_in_turn(content, replacements[:MOST_REPLACEMENTS], _use_windows_ends)
    if len(replacements) > MOST_REPLACEMENTS:
        return []
    return list({reading.content: reading for reading in reversed(readings)}.values())[::-1]


def _keep(text: bytes) -> bytes:
    return text


def _use_windows_ends(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def _replace_in_turn(
    content: bytes, replacements: Iterable[Replacement], convert: Callable[[bytes], bytes]
) -> list[Reading]:
    readings = [Reading((), content)]
    for replacement in replacements:
        old, new = convert(replacement.old), convert(replacement.new)
        following: list[Reading] = []
        for reading in readings:
            for step in _replace(reading.content, old, new, replacement.everywhere):
                steps = (*reading.steps, *step.steps)
                following.append(Reading(steps, step.content))
        readings = following[:MOST_READINGS]
    return readings


def _replace(content: bytes, old: bytes, new: bytes, everywhere: bool) -> Iterator[Reading]:
    if not old:
        if not content:
            yield _replace_at(content, [0], old, new)
        return
    places = list(_find_all(content, old))
    if not places:
        return
    if not everywhere:
        yield _replace_at(content, places[:1], old, new)
    if everywhere or len(places) > 1:
        yield _replace_at(content, places, old, new)
    if not new and not old.endswith(b"\n"):  # some tools remove the line end together with a line
        longer = list(_find_all(content, old + b"\n"))
        if longer:
            yield _replace_at(content, longer if everywhere else longer[:1], old + b"\n", new)


def _find_all(content: bytes, old: bytes) -> Iterator[int]:
    """Yield the places that `bytes.replace` replaces."""
    at = content.find(old)
    while at >= 0:
        yield at
        at = content.find(old, at + len(old))


def _replace_at(content: bytes, places: Sequence[int], old: bytes, new: bytes) -> Reading:
    """Replace at these places, and compare only the lines around each of them."""
    parts: list[bytes] = []
    edits: list[LineEdit] = []
    copied = line = 0
    waiting = list(reversed(places))
    while waiting:
        at = waiting.pop()
        start = content.rfind(b"\n", 0, at) + 1
        end = at + len(old)
        after = content[start:at] + new
        while True:  # up to a line end that no other replacement touches
            stop = _end_of_line(content, end, after)
            if not waiting or waiting[-1] >= stop:
                break
            after += content[end : waiting[-1]] + new
            end = waiting.pop() + len(old)
        after += content[end:stop]
        line += content.count(b"\n", copied, start)
        window = split_lines(content[start:stop]).lines
        edits += (shift(edit, line) for edit in diff_lines(window, split_lines(after).lines))
        parts += (content[copied:start], after)
        line += content.count(b"\n", start, stop)
        copied = stop
    return Reading((tuple(edits),), b"".join([*parts, content[copied:]]))


def _end_of_line(content: bytes, end: int, after: bytes) -> int:
    """Return where the lines end that a replacement changes, from the end of the replaced text."""
    is_line_start = end == 0 or content[end - 1 : end] == b"\n"
    if end == len(content) or (is_line_start and (not after or after.endswith(b"\n"))):
        return end
    return content.find(b"\n", end) + 1 or len(content)


# Patches. Tools compare the lines exactly, then without white space at their ends.

_COMPARISONS: Final[Sequence[Callable[[bytes], bytes]]] = (bytes, bytes.rstrip, bytes.strip)


def read_hunks(content: bytes, hunks: Sequence[Hunk]) -> list[Reading]:
    """Return the reading of a patch; nothing if its lines are not in the file."""
    lines = list(split_lines(content).lines)
    edits: list[LineEdit] = []
    changes: list[tuple[int, Hunk]] = []
    at = 0
    for hunk in hunks:
        if hunk.context:
            place = _find_lines(lines, (hunk.context,), at, is_at_end=False)
            if place is None:
                return []
            at = place + 1
        found = _find_lines(lines, hunk.old, at, is_at_end=hunk.is_at_end)
        if found is None:
            return []
        changes.append((found, hunk))
        at = found + len(hunk.old) if hunk.old else at
    changes.sort(key=lambda change: change[0])
    result: list[bytes] = []
    copied = 0
    for found, hunk in changes:
        if found < copied:
            return []  # two hunks change the same lines
        window = lines[found : found + len(hunk.old)]
        edits += (shift(edit, found) for edit in diff_lines(window, hunk.new))
        result += [*lines[copied:found], *hunk.new]
        copied = found + len(hunk.old)
    result += lines[copied:]
    return [Reading((_join_insertions(edits),), join_lines(FileText(result)))]


def _join_insertions(edits: Iterable[LineEdit]) -> tuple[LineEdit, ...]:
    """Join insertions at one place: several hunks may append to the file."""
    joined: list[LineEdit] = []
    for edit in edits:
        if joined and joined[-1].end == edit.start == edit.end:
            joined[-1] = joined[-1]._replace(new_lines=joined[-1].new_lines + edit.new_lines)
        else:
            joined.append(edit)
    return tuple(joined)


def _find_lines(
    lines: Sequence[bytes], wanted: Sequence[bytes], at: int, *, is_at_end: bool
) -> int | None:
    if not wanted:
        return len(lines)
    first = max(at, len(lines) - len(wanted)) if is_at_end else at
    for compare in _COMPARISONS:
        stripped = [compare(line) for line in wanted]
        for place in range(first, len(lines) - len(wanted) + 1):
            if compare(lines[place]) == stripped[0]:
                window = lines[place : place + len(wanted)]
                if [compare(line) for line in window] == stripped:
                    return place
    return None
