"""The headings and fenced blocks at the top level of a markdown text, found quickly.

`outline` gives exactly what a walk with `moot.core.markdown.scan` gives (`plain_outline`, which the
tests compare it with), at many times its speed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from moot.core.markdown import BYTE_ORDER_MARK, Kind, Line, scan

# Theory of operation
# -------------------
# A heading, a fence or a comment that starts in the first column is at the top level wherever it
# stands, unless a fence or an HTML block is open: it fits into no list item and no quote. Right
# behind a heading, a closing fence or the end of a comment nothing is open at all: a *rest*. So
# one search from rest to rest finds them, and all other lines need no look.
#
# Everything else that could begin a block of ours (the same signs behind one to three spaces, any
# other line that starts with `<`) depends on what is open around it. There the scanner takes over,
# from the last rest to the next one. A text with a lone CR is left to the scanner altogether.


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


Mark = Heading | Block

_SIGNS = r"""
    (?P<hashes>\#{1,6}+)(?=[ \t\r\n]|\Z)(?P<title>[^\r\n]*+)
  | (?P<bar>`{3,}+(?![^\r\n]*`)|~{3,}+)(?P<info>[^\r\n]*+)
  | (?P<comment><!--)
  | (?P<odd><|[ ]{1,3}(?:\#|```|~~~|<))
"""
_HERE = re.compile(_SIGNS, re.VERBOSE)
_NEXT = re.compile(rf"\n(?=[#`~<\ ])(?:{_SIGNS})", re.VERBOSE)
_LONE_CR = re.compile(r"\r(?!\n)")


def outline(text: str) -> Iterator[Mark]:
    """Headings and blocks, in order."""
    if "\r" in text and _LONE_CR.search(text):
        return plain_outline(text)
    return _Walk(text).marks()


def plain_outline(text: str, start: int = 0, number: int = 1) -> Iterator[Mark]:
    """The same, line by line."""
    opening: Line | None = None
    last: Line | None = None
    for last in scan(text, start, None, number):
        if last.kind is Kind.HEADING:
            yield Heading(last.level, last.value, last.number, last.start, last.end)
        elif last.kind is Kind.FENCE_OPEN:
            opening = last
        elif last.kind is Kind.FENCE_CLOSE and opening is not None:
            yield _block(opening, last, closed=True)
            opening = None
    if opening is not None and last is not None:
        yield _block(opening, last, closed=False)


def _block(opening: Line, last: Line, closed: bool) -> Block:
    return Block(opening.value, opening.number, opening.start, last.end, closed)


class _Walk:
    """From rest to rest; `at` is the start of line `number`, and nothing is open there."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith(BYTE_ORDER_MARK) else 0
        self.number = 1

    def marks(self) -> Iterator[Mark]:
        text, size = self.text, len(self.text)
        while self.at < size:
            found = _HERE.match(text, self.at) or _NEXT.search(text, self.at)
            if found is None:
                return
            if found["hashes"]:
                yield self._heading(found)
            elif found["bar"]:
                yield self._fence(found)
            elif found["comment"]:
                self._go_to(found.start("comment"))
                self._pass_comment()
            else:
                mark = next(plain_outline(text, self.at, self.number), None)
                if mark is None:
                    return
                self._rest(mark)
                yield mark

    def _heading(self, found: re.Match[str]) -> Heading:
        start = found.start("hashes")
        self._go_to(start)
        title = found["title"].strip(" \t")
        end = self._line_end(found.end())
        if title.endswith("#"):  # closing #s are not part of it: the scanner knows when
            title = next(scan(self.text, start, end, self.number)).value
        heading = Heading(len(found["hashes"]), title, self.number, start, end)
        self._rest(heading)
        return heading

    def _fence(self, found: re.Match[str]) -> Block:
        start = found.start("bar")
        self._go_to(start)
        bar = found["bar"]
        closing = re.compile(rf"\n {{0,3}}{bar[0]}{{{len(bar)},}}+[ \t]*+(?=\r?\n|\Z)")
        last = closing.search(self.text, found.end())
        end = self._line_end(last.end()) if last else len(self.text)
        block = Block(found["info"].strip(" \t"), self.number, start, end, last is not None)
        self._rest(block)
        return block

    def _pass_comment(self) -> None:
        end = self.text.find("-->", self.at)
        self._go_to(self._line_end(end) if end >= 0 else len(self.text))

    def _rest(self, mark: Mark) -> None:
        self._go_to(mark.end)

    def _go_to(self, place: int) -> None:
        self.number += self.text.count("\n", self.at, place)
        self.at = place

    def _line_end(self, place: int) -> int:
        end = self.text.find("\n", place)
        return len(self.text) if end < 0 else end + 1
