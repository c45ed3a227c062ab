"""The headings and fenced blocks at the top level of a markdown text."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from moot.core.markdown import LineKind, MarkdownLine, scan_lines


class Heading(msgspec.Struct, frozen=True, gc=False):
    """`## value` on line `number`; `end` is where the next line starts."""

    level: int
    value: str
    number: int
    start: int
    end: int


class Block(msgspec.Struct, frozen=True, gc=False):
    """A fenced block, from its opening to behind its closing line."""

    info: str
    number: int
    start: int
    end: int
    closed: bool


HeadingOrBlock = Heading | Block


def find_outline(text: str) -> Iterator[HeadingOrBlock]:
    """Yield headings and blocks, in order."""
    opening: MarkdownLine | None = None
    last: MarkdownLine | None = None
    for last in scan_lines(text):
        if last.kind is LineKind.HEADING:
            yield Heading(last.level, last.value, last.number, last.start, last.end)
        elif last.kind is LineKind.FENCE_OPEN:
            opening = last
        elif last.kind is LineKind.FENCE_CLOSE and opening is not None:
            yield _build_block(opening, last, closed=True)
            opening = None
    if opening is not None and last is not None:
        yield _build_block(opening, last, closed=False)


def _build_block(opening: MarkdownLine, last: MarkdownLine, closed: bool) -> Block:
    return Block(opening.value, opening.number, opening.start, last.end, closed)
