"""The dialogue, entry by entry (section 4): the plain way through, and a quick one beside it.

The quick way recognises a whole entry of the usual form with one pattern, if nothing in its body
could change what a line means. It is an optimisation only: whatever it does not recognise goes
the plain way, and both must agree on every text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from moot.core.markdown import Kind, Line, scan
from moot.debate.entryreader import comment_key, entry_from, is_status_line
from moot.debate.model import (
    FIELDS,
    SECTIONS,
    YIELD,
    Entry,
    Field,
    Mark,
    Odd,
    Oddity,
    SectionSeen,
)


class Dialogue(msgspec.Struct, frozen=True):
    """`end` is where the section ends: with the file, or at a section that should stand above."""

    entries: tuple[Entry, ...]
    marks: tuple[Mark, ...]
    sections: tuple[SectionSeen, ...]
    odd: tuple[Oddity, ...]
    end: int


def read_dialogue(text: str, start: int, number: int, quickly: bool = True) -> Dialogue:
    """The dialogue that begins at this offset, on line `number`."""
    return _Walk(text, quickly and "\r" not in text).read(start, number)


_OWN_KEYS = frozenset({"entry", "turn", "yield"})
_OWN_COMMENT = re.compile(
    r"[ ]{0,3}<!--[ \t]*(?:entry|turn|yield|bounce-protocol|created|session-id)\b"
)
# Inside such a line's block a marker is content, unless the block was never closed.
_SWALLOWING = frozenset({Kind.FENCED, Kind.COMMENT_PART, Kind.HTML})
# Nearly all lines are these, and none of them ends or opens anything.
_QUIET = frozenset({Kind.TEXT, Kind.BLANK, Kind.NESTED, Kind.INDENTED, Kind.BREAK})
_COMMENT, _COMMENT_PART = Kind.COMMENT, Kind.COMMENT_PART
# After an entry's own marker comes the end of the file, or the whole head of another entry.
_LINE_END = r"[ \t]*(?:\r\n?|\n)"
_THEN_NEXT = re.compile(
    rf"[ \t]*(?:\Z|{_LINE_END}(?:{_LINE_END})*(?:\Z"
    rf"|<!-- entry: [0-9a-f-]{{36}} -->{_LINE_END}<!-- turn: [0-9]+ round: [0-9]+ -->{_LINE_END}"
    r"[^\r\n]*\[author: ))"
)


class _Walk:
    def __init__(self, text: str, quickly: bool) -> None:
        self.text = text
        self.quickly = quickly
        self.entries: list[Entry] = []
        self.marks: list[Mark] = []
        self.headings: list[Line] = []
        self.odd: list[Oddity] = []
        self.marker = -1  # the next marker from here, looked for once
        self.stray = False  # the line above was stray text too: one note is enough

    def read(self, start: int, number: int) -> Dialogue:
        while start < len(self.text):
            found = self._quickly(start, number) if self.quickly else None
            if found is not None:
                self.stray = False
                self.entries.append(found)
                number += self.text.count("\n", start, found.end)
                start = found.end
            else:
                start, number = self._plainly(start, number)
        return Dialogue(
            tuple(self.entries), tuple(self.marks), self._sections(), tuple(self.odd), self._end()
        )

    def _quickly(self, start: int, number: int) -> Entry | None:
        if self.marker < start:
            self.marker = self.text.find(_MARKER, start)
            self.quickly = self.marker >= 0  # without a marker there is nothing to be quick about
        return quick_entry(self.text, start, self.marker, number, len(self.entries))

    def _plainly(self, start: int, number: int) -> tuple[int, int]:
        """Read on until an entry has ended; gives the place after it."""
        lines = scan(self.text, start, None, number)
        for line in lines:
            if _begins_entry(line):
                return self._entry(line, lines)
            self._between(line)
        return len(self.text), number

    def _between(self, line: Line) -> None:
        """A line that belongs to no entry."""
        key = comment_key(line)
        if line.kind is Kind.HEADING and line.level == 2 and line.value in SECTIONS:
            self.headings.append(line)
        elif key and key not in _OWN_KEYS:
            value = line.value.partition(":")[2].strip()
            self.marks.append(Mark(key, value, line.number, len(self.entries), line.end))
        elif line.kind is Kind.COMMENT_PART and _OWN_COMMENT.match(line.text):
            self.odd.append(Oddity(Odd.MULTILINE_COMMENT, line.number, line.text.strip()))
        elif line.kind is not Kind.BLANK and not self.headings:
            if not self.stray:
                self.odd.append(Oddity(Odd.STRAY_TEXT, line.number, line.text.strip()))
            self.stray = True

    def _entry(self, first: Line, lines: Iterator[Line]) -> tuple[int, int]:
        """Gather the lines of an entry until its marker, the next entry or the end."""
        self.stray = False
        swallowed = _Swallowed()
        gathered = [first]
        for line in lines:
            kind = line.kind
            if kind is _COMMENT and comment_key(line) == "entry":
                self._add(gathered, yielded=False)
                return line.start, line.number
            gathered.append(line)
            if kind in _QUIET:
                continue
            own = kind is _COMMENT and comment_key(line) == "yield"
            if own or swallowed.take(line, self.text):
                self._add(gathered, yielded=True, recovered=0 if own else swallowed.opened)
                return line.end, line.number + 1
        return self._unended(gathered, swallowed)

    def _unended(self, gathered: list[Line], swallowed: _Swallowed) -> tuple[int, int]:
        """The file ended first; a block that is still open may have swallowed the marker."""
        if swallowed.fallback is None or swallowed.last != gathered[-1].number:
            self._add(gathered, yielded=False)
            return len(self.text), gathered[-1].number + 1
        while gathered[-1] is not swallowed.fallback:
            gathered.pop()
        self._add(gathered, yielded=True, recovered=swallowed.opened)
        return gathered[-1].end, gathered[-1].number + 1

    def _add(self, lines: list[Line], yielded: bool, recovered: int = 0) -> None:
        self.entries.append(entry_from(self.text, lines, len(self.entries), yielded, recovered))
        for line in lines[:-1] if yielded else lines:
            if line.kind is _COMMENT_PART and _OWN_COMMENT.match(line.text):
                self.odd.append(Oddity(Odd.MULTILINE_COMMENT, line.number, line.text.strip()))

    def _sections(self) -> tuple[SectionSeen, ...]:
        ends = [*(line.start for line in self.headings[1:]), len(self.text)]
        pairs = zip(self.headings, ends, strict=False)
        return tuple(SectionSeen(line.value, line.number, line.end, end) for line, end in pairs)

    def _end(self) -> int:
        return self.headings[0].start if self.headings else len(self.text)


def _begins_entry(line: Line) -> bool:
    return comment_key(line) in ("entry", "turn") or is_status_line(line)


class _Swallowed:
    """Markers inside a fence or HTML block of a body (A-36).

    Quoted entries bring their own markers: each closes a quoted head. A marker with no head above
    it in the block is the entry's own if a new entry or the end of the file follows, and the
    block was never closed. `fallback` is the first marker that would do if the file ends here.
    """

    def __init__(self) -> None:
        self.opened = 0
        self.heads = 0
        self.last = 0  # the block's latest line: a line elsewhere begins another block
        self.fallback: Line | None = None

    def take(self, line: Line, text: str) -> bool:
        """Is this line, inside an open block, the entry's own marker?"""
        if line.kind not in _SWALLOWING:
            self.opened = line.number if line.kind is Kind.FENCE_OPEN else 0
            self.heads, self.fallback, self.last = 0, None, line.number
            return False
        if self.last != line.number - 1:
            self.opened, self.heads, self.fallback = line.number, 0, None
        self.last = line.number
        if line.text.startswith("<!-- entry:"):
            self.heads += 1
        if line.text.rstrip(" \t") != YIELD:
            return False
        ends = _THEN_NEXT.match(text, line.end - len(line.ending)) is not None
        if self.heads:
            self.heads -= 1
            self.fallback = self.fallback or (line if ends else None)
            return False
        return ends


# The quick way -----------------------------------------------------------------------------------

_HEAD: Final = re.compile(
    r"\n*<!-- entry: (?P<id>[^\s<>]+) -->\n"
    r"<!-- turn: (?P<turn>[1-9][0-9]{0,8}) round: (?P<round>[1-9][0-9]{0,8}) -->\n"
    r"(?P<at>[0-9][^\s\[\]]*) \[author: (?P<author>[^\s\[\]]+)\] \[status: (?P<status>[a-z_]+)\]\n"
    + "".join(rf"{name}:[ \t]+(?P<{name}>\S[^\n]*)\n" for name in FIELDS)
    + r"\n"
)
# A line that may begin a fence or an HTML block, at any depth of lists and quotes; a heading
# that is too big; an underline that makes one of a paragraph.
_LOUD: Final = re.compile(
    r"\n[ \t>*+\-0-9.)]*+(?:<|```|~~~)"
    r"|\n {0,3}(?:#{1,2}(?:[ \t]|\n|\Z)|(?:=++|-++)[ \t]*+(?:\n|\Z))"
)
# A code block at the left edge, and its end: there it interrupts whatever stood above.
_FENCE: Final = re.compile(r"\n(```|~~~)(?![`~])[^`\n]*(?=\n)")
_CLOSING: Final = {
    "```": re.compile(r"\n {0,3}```+[ \t]*(?=\n)"),
    "~~~": re.compile(r"\n {0,3}~~~+[ \t]*(?=\n)"),
}
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*\n)*")
_MARKER: Final = "\n" + YIELD


def quick_entry(text: str, start: int, closed: int, number: int, index: int) -> Entry | None:
    """The entry here, if it has the usual form to the letter; None sends it the plain way.

    `closed` is where the next marker's line begins, with the line end before it.
    """
    head = _HEAD.match(text, start) if closed >= 0 else None
    if head is None:
        return None
    opened, end = head.end(), closed + len(_MARKER)
    # The blank line under the fields ends just before the body: begin there.
    if closed < opened - 1 or text[end : end + 1] not in ("\n", ""):
        return None
    if _is_loud(text, opened - 1, closed):
        return None
    return _quick(text, head, opened, closed, end + 1 if end < len(text) else end, number, index)


def _is_loud(text: str, start: int, end: int) -> bool:
    """Could a line here change what the lines below it mean? Plain code blocks cannot."""
    while (found := _LOUD.search(text, start, end)) is not None:
        fence = _FENCE.match(text, found.start(), end)
        closing = _CLOSING[fence[1]].search(text, fence.end(), end + 1) if fence else None
        if closing is None:
            return True
        start = closing.end()
    return False


def _quick(
    text: str, head: re.Match[str], opened: int, closed: int, end: int, number: int, index: int
) -> Entry:
    (id_, turn, round_, at, author, status, *values) = head.groups()
    first = head.start("id") - len("<!-- entry: ")
    line = number + first - head.start()
    fields = tuple(
        Field(name, value.strip(" \t"), line + 3 + offset)
        for offset, (name, value) in enumerate(zip(FIELDS, values, strict=True))
    )
    body = text[opened:closed]
    blank = _BLANK_LINES.match(body)
    above = blank.end() if blank and body[: blank.end()].strip(" \t\n") == "" else 0
    body_line = line + 9 + body.count("\n", 0, above)
    body = _unpadded(body[above:])
    if not body:
        body_line = line + 9 + text.count("\n", opened, closed + 1)
    return Entry(
        index, line, first, end, id_, int(turn), int(round_), at, author, status,
        fields, body, body_line, True,
    )  # fmt: skip


def _unpadded(body: str) -> str:
    """Less the blank lines at its end; the last line keeps its own blanks."""
    full = len(body.rstrip(" \t\n"))
    cut = body.find("\n", full)
    if not full:
        return ""
    return body if cut < 0 else body[:cut]
