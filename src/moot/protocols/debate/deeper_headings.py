"""Headings of an answer, set deep enough for an entry (4.5: level 3 or below).

Models like to begin an argument with `## What we know`. The document keeps levels 1 and 2 for the
session itself; an argument is not lost for that. All headings of the answer move together, so that
their order among each other stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moot.core.markdown import LineKind, MarkdownLine, scan_lines

_DEEPEST: Final = 6
_FIRST_FREE: Final = 3


def deepen_headings(text: str) -> str:
    """The text with its largest heading on level 3; as it is if none is larger."""
    lines = list(scan_lines(text))
    levels = [line.level for line in lines if line.kind in (LineKind.HEADING, LineKind.SETEXT)]
    down = _FIRST_FREE - min(levels, default=_FIRST_FREE)
    return "".join(_write_lines(lines, down)) if down > 0 else text


def _write_lines(lines: list[MarkdownLine], down: int) -> Iterator[str]:
    paragraph: list[MarkdownLine] = []
    for line in lines:
        if line.kind is LineKind.TEXT:
            paragraph.append(line)
            continue
        if line.kind is LineKind.SETEXT:
            title = " ".join(each.text.strip() for each in paragraph)
            yield f"{_marks(line.level + down)} {title}{line.ending}"
        else:
            yield from (each.text + each.ending for each in paragraph)
            yield _deeper(line, down) if line.kind is LineKind.HEADING else line.text + line.ending
        paragraph = []
    yield from (each.text + each.ending for each in paragraph)


def _deeper(line: MarkdownLine, down: int) -> str:
    return f"{_marks(line.level + down)} {line.value}".rstrip() + line.ending


def _marks(level: int) -> str:
    return "#" * min(_DEEPEST, level)
