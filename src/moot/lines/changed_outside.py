"""A change that no hook saw: an editor, a script, a formatter that runs after each edit.

Its lines are nobody's: Moot never guesses an author. One exception: a formatter that only changes
spacing leaves the author of a line as it is. Spacing means white space, line breaks, the kind of
quotes, and a comma before a closing bracket.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from moot.lines.line_diff import diff_lines, list_new_ranges
from moot.lines.segments import (
    Agent,
    Kind,
    LineEdit,
    Segments,
    apply_edits,
    list_line_authors,
)

_TOKEN: Final = re.compile(rb"\w+|[^\w\s]")
_CLOSING: Final = (b")", b"]", b"}")
# Longer changes count as nobody's without a comparison of their tokens.
LONGEST_COMPARED: Final = 200_000


class _Part(NamedTuple):
    """Old lines whose tokens are those of new lines. Numbers are relative to one edit."""

    old_start: int
    old_end: int
    new_count: int


def apply_outside_change(
    segments: Segments, old: Sequence[bytes], new: Sequence[bytes]
) -> Segments:
    """Return the segments after something outside the hooks made `new` out of `old`."""
    edits = diff_lines(old, new)
    authors = list_line_authors(segments)
    for edit, start, end in reversed(list(list_new_ranges(edits))):
        parts = _match_spacing(old[edit.start : edit.end], new[start:end])
        if parts is None:
            segments = apply_edits(segments, None, [edit])
            continue
        for part in reversed(parts):
            first, last = edit.start + part.old_start, edit.start + part.old_end
            author = _find_author(authors[first:last])
            segments = apply_edits(segments, author, [LineEdit(first, last, part.new_count)])
    return segments


def _find_author(authors: Sequence[tuple[Kind, Agent]]) -> Agent:
    """Return the one agent that inserted all of these lines; None if there is no such agent."""
    inserted_by = {agent if kind is Kind.INSERTED else None for kind, agent in authors}
    return inserted_by.pop() if len(inserted_by) == 1 else None


def _match_spacing(old: Sequence[bytes], new: Sequence[bytes]) -> list[_Part] | None:
    """Split a change of spacing into its smallest parts; None if the tokens differ."""
    if sum(map(len, old)) + sum(map(len, new)) > LONGEST_COMPARED:
        return None
    old_tokens, new_tokens = list(_list_tokens(old)), list(_list_tokens(new))
    if not old_tokens or [token for token, _ in old_tokens] != [token for token, _ in new_tokens]:
        return None
    return list(_cut_parts(old_tokens, new_tokens, len(old), len(new)))


def _list_tokens(lines: Sequence[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield each token with the number of its line; quotes are alike, trailing commas left out."""
    comma: int | None = None
    for number, line in enumerate(lines):
        for token in _TOKEN.findall(line):
            if comma is not None and token not in _CLOSING:
                yield b",", comma
            comma = None
            if token == b",":
                comma = number
            else:
                yield b'"' if token == b"'" else token, number
    if comma is not None:
        yield b",", comma


def _cut_parts(
    old: Sequence[tuple[bytes, int]],
    new: Sequence[tuple[bytes, int]],
    old_count: int,
    new_count: int,
) -> Iterator[_Part]:
    """Cut where a line ends both in the old and in the new text."""
    old_at = new_at = 0
    for (_, old_line), (_, next_old), (_, new_line), (_, next_new) in zip(
        old, old[1:], new, new[1:], strict=False
    ):
        if old_line < next_old and new_line < next_new:
            yield _Part(old_at, old_line + 1, new_line + 1 - new_at)
            old_at, new_at = old_line + 1, new_line + 1
    yield _Part(old_at, old_count, new_count - new_at)
