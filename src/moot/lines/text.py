"""Bytes as lines, and back. A line ends at a newline byte and nowhere else, as in git.

`bytes.splitlines` and `str.splitlines` also split at carriage returns, form feeds and others, so
their line numbers differ from those of git and of the coding tools.

A line is kept without its newline. Whether the last line has one belongs to the file, not to that
line: otherwise two agents that append to a file without a final newline would always change the
same line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

Line = TypeVar("Line")


class FileText(NamedTuple):
    """The lines of a file without their newlines, and whether the last line has one."""

    lines: Sequence[bytes]
    has_final_newline: bool = True


def split_lines(data: bytes) -> FileText:
    """Split the content of a file into its lines. An empty file has no lines."""
    if not data:
        return FileText(())
    lines = data.split(b"\n")
    if lines[-1]:
        return FileText(lines, has_final_newline=False)
    lines.pop()
    return FileText(lines)


def join_lines(text: FileText) -> bytes:
    """Return the content of a file with these lines.

    An empty last line needs its newline: without it the line would not exist.
    """
    content = b"\n".join(text.lines)
    if text.lines and (text.has_final_newline or not text.lines[-1]):
        content += b"\n"
    return content


def trim_equal_ends(old: Sequence[Line], new: Sequence[Line]) -> tuple[int, int, int]:
    """Return how many lines are equal at the beginning, and where the equal lines at the end begin
    in `old` and in `new`."""
    shorter, head = min(len(old), len(new)), 0
    while head < shorter and old[head] == new[head]:
        head += 1
    old_end, new_end = len(old), len(new)
    while old_end > head and new_end > head and old[old_end - 1] == new[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    return head, old_end, new_end
