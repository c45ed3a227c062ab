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

from moot.core.markdown import LineKind, MarkdownLine, scan_lines
from moot.protocols.debate.entry_reader import is_status_line, read_comment_key, read_entry
from moot.protocols.debate.model import (
    FIELDS,
    SECTIONS,
    YIELD_MARKER,
    CommentMark,
    DebateEntry,
    EntryField,
    Oddity,
    OddityKind,
    SectionSpan,
)


class Dialogue(msgspec.Struct, frozen=True):
    """`end` is where the section ends: with the file, or at a section that should stand above."""

    entries: tuple[DebateEntry, ...]
    marks: tuple[CommentMark, ...]
    sections: tuple[SectionSpan, ...]
    odd: tuple[Oddity, ...]
    end: int


def read_dialogue(text: str, start: int, number: int, quickly: bool = True) -> Dialogue:
    """The dialogue that begins at this offset, on line `number`."""
    return _Walk(text, _quick_for(text) if quickly else None).read(start, number)


_OWN_KEYS = frozenset({"entry", "turn", "yield"})
_OWN_COMMENT = re.compile(
    r"[ ]{0,3}<!--[ \t]*(?:entry|turn|yield|bounce-protocol|created|session-id)\b"
)
# Inside such a line's block a marker is content, unless the block was never closed.
_SWALLOWING = frozenset({LineKind.FENCED, LineKind.COMMENT_PART, LineKind.HTML})
# Nearly all lines are these, and none of them ends or opens anything.
_QUIET = frozenset(
    {LineKind.TEXT, LineKind.BLANK, LineKind.NESTED, LineKind.INDENTED, LineKind.BREAK}
)
_COMMENT, _COMMENT_PART = LineKind.COMMENT, LineKind.COMMENT_PART
# After an entry's own marker comes the end of the file, or the whole head of another entry.
_LINE_END = r"[ \t]*(?:\r\n?|\n)"
_THEN_NEXT = re.compile(
    rf"[ \t]*(?:\Z|{_LINE_END}(?:{_LINE_END})*(?:\Z"
    rf"|<!-- entry: [0-9a-f-]{{36}} -->{_LINE_END}<!-- turn: [0-9]+ round: [0-9]+ -->{_LINE_END}"
    r"[^\r\n]*\[author: ))"
)


class _Walk:
    def __init__(self, text: str, quick: _Quick | None) -> None:
        self.text = text
        self.quick = quick
        self.entries: list[DebateEntry] = []
        self.marks: list[CommentMark] = []
        self.headings: list[MarkdownLine] = []
        self.odd: list[Oddity] = []
        self.marker = -1  # the next marker from here, looked for once
        self.stray = False  # the line above was stray text too: one note is enough

    def read(self, start: int, number: int) -> Dialogue:
        while start < len(self.text):
            entry = self._read_quickly(self.quick, start, number) if self.quick else None
            if entry is not None:
                self.stray = False
                self.entries.append(entry)
                number += self.text.count("\n", start, entry.end)
                start = entry.end
            else:
                start, number = self._read_plainly(start, number)
        return Dialogue(
            tuple(self.entries), tuple(self.marks), self._sections(), tuple(self.odd), self._end()
        )

    def _read_quickly(self, quick: _Quick, start: int, number: int) -> DebateEntry | None:
        if self.marker < start:
            self.marker = self.text.find(quick.marker, start)
            if self.marker < 0:  # without a marker there is nothing to be quick about
                self.quick = None
        return quick.entry(self.text, start, self.marker, number, len(self.entries))

    def _read_plainly(self, start: int, number: int) -> tuple[int, int]:
        """Read on until an entry has ended; gives the place after it."""
        if (torn := _torn_head(self.text, start)) >= 0:
            number += self.text.count("\n", start, torn)
            self.entries.append(_torn_entry(self.text, torn, number, len(self.entries)))
            return len(self.text), number + 1
        lines = scan_lines(self.text, start, None, number)
        for line in lines:
            if _begins_entry(line):
                return self._read_entry(line, lines)
            self._take_between_entries(line)
        return len(self.text), number

    def _take_between_entries(self, line: MarkdownLine) -> None:
        """A line that belongs to no entry. BNC-127: comments of other keys are no flaw."""
        key = read_comment_key(line)
        if line.kind is LineKind.HEADING and line.level == 2 and line.value in SECTIONS:
            self.headings.append(line)
        elif key and key not in _OWN_KEYS:
            value = line.value.partition(":")[2].strip()
            self.marks.append(CommentMark(key, value, line.number, len(self.entries), line.end))
        elif line.kind is LineKind.COMMENT_PART and _OWN_COMMENT.match(line.text):
            self.odd.append(Oddity(OddityKind.MULTILINE_COMMENT, line.number, line.text.strip()))
        elif line.kind is not LineKind.BLANK and not self.headings:
            if not self.stray:
                self.odd.append(Oddity(OddityKind.STRAY_TEXT, line.number, line.text.strip()))
            self.stray = True

    def _read_entry(self, first: MarkdownLine, lines: Iterator[MarkdownLine]) -> tuple[int, int]:
        """Gather the lines of an entry until its marker, the next entry or the end."""
        self.stray = False
        swallowed = _Swallowed()
        gathered = [first]
        for line in lines:
            kind = line.kind
            if kind is _COMMENT and read_comment_key(line) == "entry":
                self._add(gathered, yielded=False)
                return line.start, line.number
            gathered.append(line)
            if kind in _QUIET:
                continue
            own = kind is _COMMENT and read_comment_key(line) == "yield"
            if own or swallowed.take(line, self.text):
                self._add(gathered, yielded=True, recovered=0 if own else swallowed.opened)
                return line.end, line.number + 1
        return self._unended(gathered, swallowed)

    def _unended(self, gathered: list[MarkdownLine], swallowed: _Swallowed) -> tuple[int, int]:
        """The file ended first; a block that is still open may have swallowed the marker."""
        if swallowed.fallback is None or swallowed.last != gathered[-1].number:
            self._add(gathered, yielded=False)
            return len(self.text), gathered[-1].number + 1
        while gathered[-1] is not swallowed.fallback:
            gathered.pop()
        self._add(gathered, yielded=True, recovered=swallowed.opened)
        return gathered[-1].end, gathered[-1].number + 1

    def _add(self, lines: list[MarkdownLine], yielded: bool, recovered: int = 0) -> None:
        self.entries.append(read_entry(self.text, lines, len(self.entries), yielded, recovered))
        for line in lines[:-1] if yielded else lines:
            if line.kind is _COMMENT_PART and _OWN_COMMENT.match(line.text):
                self.odd.append(
                    Oddity(OddityKind.MULTILINE_COMMENT, line.number, line.text.strip())
                )

    def _sections(self) -> tuple[SectionSpan, ...]:
        ends = [*(line.start for line in self.headings[1:]), len(self.text)]
        pairs = zip(self.headings, ends, strict=False)
        return tuple(SectionSpan(line.value, line.number, line.end, end) for line, end in pairs)

    def _end(self) -> int:
        return self.headings[0].start if self.headings else len(self.text)


_FIRST_LINE = "<!-- entry: "
_LAST_LINE = re.compile(r"\s*(<[^\r\n]*)\Z")


def _torn_head(text: str, start: int) -> int:
    """Where a first line stands that its writer never finished, and nothing else; or -1.

    BNC-100, BNC-102: a file that broke off there ends with an incomplete entry, not stray text.
    """
    line = _LAST_LINE.match(text, start)
    if line is None:
        return -1
    torn = line[1]
    begun = _FIRST_LINE.startswith(torn) or (torn.startswith(_FIRST_LINE) and "-->" not in torn)
    return line.start(1) if begun else -1


def _torn_entry(text: str, start: int, line: int, index: int) -> DebateEntry:
    """An entry of which nothing can be said but that it was begun."""
    return DebateEntry(
        index,
        line,
        start,
        len(text),
        "",
        None,
        None,
        "",
        "",
        "",
        (),
        "",
        line,
        False,
        has_head=False,
    )


def _begins_entry(line: MarkdownLine) -> bool:
    return read_comment_key(line) in ("entry", "turn") or is_status_line(line)


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
        self.fallback: MarkdownLine | None = None

    def take(self, line: MarkdownLine, text: str) -> bool:
        """Is this line, inside an open block, the entry's own marker?"""
        if line.kind not in _SWALLOWING:
            self.opened = line.number if line.kind is LineKind.FENCE_OPEN else 0
            self.heads, self.fallback, self.last = 0, None, line.number
            return False
        if self.last != line.number - 1:
            self.opened, self.heads, self.fallback = line.number, 0, None
        self.last = line.number
        if line.text.startswith("<!-- entry:"):
            self.heads += 1
        if line.text.rstrip(" \t") != YIELD_MARKER:
            return False
        ends = _THEN_NEXT.match(text, line.end - len(line.ending)) is not None
        if self.heads:
            self.heads -= 1
            self.fallback = self.fallback or (line if ends else None)
            return False
        return ends


# The quick way -----------------------------------------------------------------------------------


class _Quick:
    """The patterns of the quick way, for one kind of line end."""

    def __init__(self, eol: str) -> None:
        self.eol = eol
        self.marker = eol + YIELD_MARKER
        self.head = re.compile(
            rf"(?:{eol})*<!-- entry: (?P<id>[^\s<>]+) -->{eol}"
            rf"<!-- turn: (?P<turn>[1-9][0-9]{{0,8}}) round: (?P<round>[1-9][0-9]{{0,8}}) -->{eol}"
            r"(?P<at>[0-9][^\s\[\]]*) \[author: (?P<author>[^\s\[\]]+)\] "
            rf"\[status: (?P<status>[a-z_]+)\]{eol}"
            + "".join(rf"{name}:[ \t]+(?P<{name}>\S[^\r\n]*){eol}" for name in FIELDS)
            + eol
        )
        # A line that may begin a fence or an HTML block, at any depth of lists and quotes; a
        # heading that is too big; an underline that makes one of a paragraph.
        self.loud = re.compile(
            r"\n[ \t>*+\-0-9.)]*+(?:<|```|~~~)"
            rf"|\n {{0,3}}(?:#{{1,2}}(?:[ \t]|{eol}|\Z)|(?:=++|-++)[ \t]*+(?:{eol}|\Z))"
        )
        # A code block at the left edge, and its end: there it interrupts whatever stood above.
        self.fence = re.compile(rf"\n(```|~~~)(?![`~])[^`\r\n]*(?={eol})")
        self.closing = {
            mark: re.compile(rf"\n {{0,3}}{mark}{mark[0]}*[ \t]*(?={eol})")
            for mark in ("```", "~~~")
        }
        self.blank_lines = re.compile(rf"(?:[ \t]*{eol})*")

    def entry(
        self, text: str, start: int, closed: int, number: int, index: int
    ) -> DebateEntry | None:
        """The entry here, if it has the usual form to the letter; None sends it the plain way.

        `closed` is where the next marker's line begins, with the line end before it.
        """
        head = self.head.match(text, start) if closed >= 0 else None
        if head is None:
            return None
        opened, end, step = head.end(), closed + len(self.marker), len(self.eol)
        # The blank line under the fields ends just before the body: begin there.
        if closed < opened - step or text[end : end + step] not in (self.eol, ""):
            return None
        if self._is_loud(text, opened - 1, closed):
            return None
        return self._make_entry(text, head, closed, min(end + step, len(text)), number, index)

    def _is_loud(self, text: str, start: int, end: int) -> bool:
        """Could a line here change what the lines below it mean? Plain code blocks cannot."""
        beyond = end + len(self.eol)
        while (line := self.loud.search(text, start, end)) is not None:
            fence = self.fence.match(text, line.start(), end)
            closing = self.closing[fence[1]].search(text, fence.end(), beyond) if fence else None
            if closing is None:
                return True
            start = closing.end()
        return False

    def _make_entry(
        self, text: str, head: re.Match[str], closed: int, end: int, number: int, index: int
    ) -> DebateEntry:
        (id_, turn, round_, at, author, status, *values) = head.groups()
        opened, step = head.end(), len(self.eol)
        first = head.start("id") - len("<!-- entry: ")
        line = number + (first - head.start()) // step
        fields = tuple(
            EntryField(name, value.strip(" \t"), line + 3 + offset)
            for offset, (name, value) in enumerate(zip(FIELDS, values, strict=True))
        )
        body = text[opened:closed]
        blank = self.blank_lines.match(body)
        above = blank.end() if blank else 0
        body_line = line + 9 + body.count("\n", 0, above)
        body = self._strip_blank_lines(body[above:])
        if not body:
            body_line = line + 9 + text.count("\n", opened, closed + step)
        return DebateEntry(
            index, line, first, end, id_, int(turn), int(round_), at, author, status,
            fields, body, body_line, True,
        )  # fmt: skip

    def _strip_blank_lines(self, body: str) -> str:
        """Less the blank lines at its end; the last line keeps its own blanks."""
        full = len(body.rstrip(" \t\r\n"))
        cut = body.find(self.eol, full)
        if not full:
            return ""
        return body if cut < 0 else body[:cut]


_LF: Final = _Quick("\n")
_CRLF: Final = _Quick("\r\n")


def _quick_for(text: str) -> _Quick | None:
    """The quick way for a text with one kind of line end; none for a mixed one."""
    if "\r" not in text:
        return _LF
    pairs = text.count("\r\n")
    return _CRLF if pairs == text.count("\n") == text.count("\r") else None
