"""The headings and fenced blocks at the top level of a markdown text, found quickly.

`find_outline` gives exactly what a walk through all lines gives (`find_outline_by_line`; the tests
compare the two), many times faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from moot.core.markdown import BYTE_ORDER_MARK, LineKind, MarkdownLine, scan_lines

# Theory of operation
# -------------------
# A heading, a fence or a comment that starts in the first column is at the top level unless a fence
# or an HTML block is open: a list item or a quote cannot hold it. Right behind a heading, a closing
# fence or the end of a comment nothing is open; we call such a place a *rest*. So one search from
# rest to rest finds them all, and no other line has to be read.
#
# Whatever else could begin a heading or a block (the same signs behind one to three spaces, any
# other line that starts with `<`) depends on what is open around it. There the line scanner takes
# over, from the last rest to the next one. A text with a lone CR is left to the scanner altogether.


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

_SIGNS = r"""
    (?P<hashes>\#{1,6}+)(?=[ \t\r\n]|\Z)(?P<title>[^\r\n]*+)
  | (?P<bar>`{3,}+(?![^\r\n]*`)|~{3,}+)(?P<info>[^\r\n]*+)
  | (?P<comment><!--)
  | (?P<odd><|[ ]{1,3}(?:\#|```|~~~|<))
"""
_HERE = re.compile(_SIGNS, re.VERBOSE)
_NEXT = re.compile(rf"\n(?=[#`~<\ ])(?:{_SIGNS})", re.VERBOSE)
_LONE_CR = re.compile(r"\r(?!\n)")


def find_outline(text: str) -> Iterator[HeadingOrBlock]:
    """Headings and blocks, in order."""
    if "\r" in text and _LONE_CR.search(text):
        return find_outline_by_line(text)
    return _Walk(text).marks()


def find_outline_by_line(text: str, start: int = 0, number: int = 1) -> Iterator[HeadingOrBlock]:
    """The same, line by line."""
    opening: MarkdownLine | None = None
    last: MarkdownLine | None = None
    for last in scan_lines(text, start, None, number):
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


@lru_cache(maxsize=16)  # nearly every text has one kind of fence
def _closing_fence(bar: str) -> re.Pattern[str]:
    return re.compile(rf"\n {{0,3}}{bar[0]}{{{len(bar)},}}+[ \t]*+(?=\r?\n|\Z)")


class _Walk:
    """The search from rest to rest; `at` is the start of line `number`, where nothing is open."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith(BYTE_ORDER_MARK) else 0
        self.number = 1

    def marks(self) -> Iterator[HeadingOrBlock]:
        text, size = self.text, len(self.text)
        while self.at < size:
            match = _HERE.match(text, self.at) or _NEXT.search(text, self.at)
            if match is None:
                return
            kind = match.lastgroup
            if kind == "title":
                yield self._read_heading(match)
            elif kind == "info":
                yield self._read_fence(match)
            elif kind == "comment":
                self._go_to(match.start("comment"))
                self._skip_comment()
            else:
                mark = next(find_outline_by_line(text, self.at, self.number), None)
                if mark is None:
                    return
                self._continue_after(mark)
                yield mark

    def _read_heading(self, match: re.Match[str]) -> Heading:
        start = match.start("hashes")
        self._go_to(start)
        title = match["title"].strip(" \t")
        end = self._line_end(match.end())
        if title.endswith("#"):  # closing #s are not part of it: the scanner knows when
            title = next(scan_lines(self.text, start, end, self.number)).value
        heading = Heading(len(match["hashes"]), title, self.number, start, end)
        self._continue_after(heading)
        return heading

    def _read_fence(self, match: re.Match[str]) -> Block:
        bar, info = match.group("bar", "info")
        text, start = self.text, match.start("bar")
        last = _closing_fence(bar).search(text, match.end())
        end = self._line_end(last.end()) if last else len(text)
        self._go_to(start)
        block = Block(info.strip(" \t"), self.number, start, end, last is not None)
        self._go_to(end)
        return block

    def _skip_comment(self) -> None:
        end = self.text.find("-->", self.at)
        self._go_to(self._line_end(end) if end >= 0 else len(self.text))

    def _continue_after(self, mark: HeadingOrBlock) -> None:
        self._go_to(mark.end)

    def _go_to(self, place: int) -> None:
        self.number += self.text.count("\n", self.at, place)
        self.at = place

    def _line_end(self, place: int) -> int:
        end = self.text.find("\n", place)
        return len(self.text) if end < 0 else end + 1
