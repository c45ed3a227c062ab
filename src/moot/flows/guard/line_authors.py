"""Which lines of a file which session wrote, from the versions that were seen of it, oldest first.

A line belongs to the session after whose edit it first stood there. What stood in the file before,
or came in between without an agent's edit, belongs to nobody. Lines are compared as they are.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class LineAuthor(NamedTuple):
    """An agent and the session of its tool."""

    agent: str
    session: str


class LineRange(NamedTuple):
    """Lines `first` to `last`, counted from 1, both included, and what they hold."""

    author: LineAuthor
    first: int
    last: int
    text: str


def find_ranges(versions: Iterable[tuple[LineAuthor | None, str]]) -> tuple[LineRange, ...]:
    """The ranges of the last version that somebody is known to have written."""
    lines, authors = list[str](), list[LineAuthor | None]()
    for author, text in versions:
        newer = text.splitlines(keepends=True)
        authors = _carry_over(lines, newer, authors, author)
        lines = newer
    return tuple(_join(lines, authors))


def _carry_over(
    older: Sequence[str],
    newer: Sequence[str],
    authors: Sequence[LineAuthor | None],
    author: LineAuthor | None,
) -> list[LineAuthor | None]:
    """What is the same keeps its author; what is new gets `author`."""
    carried: list[LineAuthor | None] = [author] * len(newer)
    matcher = difflib.SequenceMatcher(None, older, newer, autojunk=False)
    for block in matcher.get_matching_blocks():
        carried[block.b : block.b + block.size] = authors[block.a : block.a + block.size]
    return carried


def _join(lines: Sequence[str], authors: Sequence[LineAuthor | None]) -> Iterable[LineRange]:
    first = 0
    for at in range(1, len(authors) + 1):
        if at < len(authors) and authors[at] == authors[first]:
            continue
        author = authors[first]
        if author is not None:
            yield LineRange(author, first + 1, at, "".join(lines[first:at]))
        first = at
