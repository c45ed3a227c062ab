"""Merge a whole-file write with what others wrote since the agent last read the file.

A tool that writes a whole file writes what the model remembers. Of the versions seen, now and new
this module makes one that has both changes, line by line. It merges everything or nothing, and
decides nothing about owners: the resulting edits go through `rules.py` like any others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from moot.lines.line_diff import diff_lines, list_new_ranges
from moot.lines.segments import LineEdit
from moot.lines.text import FileText


class MergedWrite(NamedTuple):
    """The merged content, and the edits that make it out of the file as it is now."""

    text: FileText
    edits: tuple[LineEdit, ...]


class WriteConflict(NamedTuple):
    """Both sides changed the same place: the lines from `start` up to `end` of the file as it is
    now, which the agent has to read again."""

    start: int
    end: int


class _Change(NamedTuple):
    """Lines of the version that was seen, and what they became."""

    start: int
    end: int
    lines: tuple[bytes, ...]
    at: int  # where the new lines begin


def merge_write(seen: FileText, now: FileText, new: FileText) -> MergedWrite | WriteConflict:
    """Merge `new`, which the agent made out of `seen`, into `now`."""
    theirs, ours = _list_changes(seen.lines, now.lines), _list_changes(seen.lines, new.lines)
    moved, place = 0, 0
    edits: list[LineEdit] = []
    merged: list[bytes] = []
    copied = 0
    for change in ours:
        while place < len(theirs) and _is_before(theirs[place], change):
            earlier = theirs[place]
            moved += len(earlier.lines) - (earlier.end - earlier.start)
            place += 1
        if place < len(theirs) and not _is_before(change, theirs[place]):
            other = theirs[place]
            if (other.start, other.end, other.lines) == (change.start, change.end, change.lines):
                continue  # both made the same change
            return WriteConflict(other.at, other.at + len(other.lines))
        edit = LineEdit(change.start + moved, change.end + moved, len(change.lines))
        edits.append(edit)
        merged += now.lines[copied : edit.start]
        merged += change.lines
        copied = edit.end
    merged += now.lines[copied:]
    has_newline = now if seen.has_final_newline == new.has_final_newline else new
    return MergedWrite(FileText(merged, has_newline.has_final_newline), tuple(edits))


def _list_changes(old: Sequence[bytes], new: Sequence[bytes]) -> list[_Change]:
    ranges = list_new_ranges(diff_lines(old, new))
    return [
        _Change(edit.start, edit.end, tuple(new[start:end]), start) for edit, start, end in ranges
    ]


def _is_before(first: _Change, second: _Change) -> bool:
    """True if the place of the first is before that of the second.

    Two insertions at one place are neither before nor after each other: which lines come first
    cannot be known.
    """
    return first.end <= second.start and (first.start, first.end) < (second.start, second.end)
