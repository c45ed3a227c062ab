"""The dialogue, entry by entry (section 4): marks, status line, fields, body, whatever is missing.

The lines come from the markdown scanner, so that a heading or a comment in a code block is only
code. Everything that could be read is kept, together with its oddities. BNC-008: an entry is read
in the same way, whether a person or a tool wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from moot.core.markdown import LineKind, MarkdownLine, scan_lines
from moot.protocols.debate.model import (
    SECTIONS,
    YIELD_MARKER,
    CommentMark,
    DebateEntry,
    EntryField,
    Oddity,
    OddityKind,
    SectionSpan,
)

_POSITION = re.compile(r"turn:[ \t]*([0-9]{1,9})[ \t]+round:[ \t]*([0-9]{1,9})")
_EXACT_POSITION = re.compile(r"<!-- turn: [0-9]+ round: [0-9]+ -->")
# BNC-072: the time is in brackets or bare. BNC-013: there is one author.
_STATUS = re.compile(
    r"(?:\[(?P<boxed>[^\[\]]*)\]|(?P<bare>[^\s\[\]]+))"
    r"[ \t]+\[author:[ \t]*(?P<author>[^\[\]]*?)[ \t]*\][ \t]+"
    r"\[status:[ \t]*(?P<status>[^\[\]]*?)[ \t]*\][ \t]*\Z"
)
_LIKE_STATUS = re.compile(r"\[(?:author|status):")
# BNC-147: only the first colon divides; a value may hold more of them.
_FIELD = re.compile(r"(?P<name>[a-z][a-z0-9_-]*):(?:[ \t]+(?P<value>.*))?\Z")
_HEADINGS = {
    LineKind.HEADING: OddityKind.HEADING_IN_BODY,
    LineKind.SETEXT: OddityKind.SETEXT_IN_BODY,
}
_BLANK, _TEXT = LineKind.BLANK, LineKind.TEXT
SUMMARY_LINES: Final = 2


def read_comment_key(line: MarkdownLine) -> str:
    """`entry`, `turn`, `yield` or any other key of a comment line; empty for other lines."""
    if line.kind is not LineKind.COMMENT:
        return ""
    return line.value.partition(":")[0].strip()


def read_entry(
    text: str, lines: Sequence[MarkdownLine], index: int, yielded: bool, recovered: int = 0
) -> DebateEntry:
    """BNC-067: the entry that these lines are, its marker (if it was yielded) the last of them.

    `recovered` is the line of a block that was never closed and so ended at the marker (A-36).
    """
    reading = _Reading(text, lines[:-1] if yielded else lines)
    if yielded and not recovered:
        reading.note_form(lines[-1], YIELD_MARKER)
    if recovered:
        reading.odd.append(Oddity(OddityKind.UNCLOSED_BLOCK, recovered))
    return reading.entry(index, lines[-1].end, yielded)


class _Reading:
    """What has been read of one entry so far; `at` is the next line to look at."""

    def __init__(self, text: str, lines: Sequence[MarkdownLine]) -> None:
        self.text = text
        self.lines = lines
        self.at = 0
        self.odd: list[Oddity] = []

    def entry(self, index: int, end: int, yielded: bool) -> DebateEntry:
        first = self.lines[0]
        id_ = self._read_id()
        turn, round_ = self._read_position()
        at, author, status, has_head = self._read_status_line()
        fields = self._read_fields()
        body, body_line = self._read_body()
        return DebateEntry(
            index, first.number, first.start, end, id_, turn, round_, at, author, status,
            fields, body, body_line, yielded, has_head, tuple(self.odd),
        )  # fmt: skip

    def note(self, kind: OddityKind, line: MarkdownLine, text: str = "") -> None:
        self.odd.append(Oddity(kind, line.number, text))

    def note_form(self, line: MarkdownLine, exact: str) -> None:
        """Note a comment that is not exact (R20), or has blanks after it (A-39)."""
        if line.text != exact:
            only_blanks = line.text.rstrip(" \t") == exact
            self.note(
                OddityKind.TRAILING_SPACE if only_blanks else OddityKind.COMMENT_FORM,
                line,
                line.text,
            )

    def _peek(self) -> MarkdownLine | None:
        """Return the next line that is not blank; blank ones have no place in an entry's head."""
        at = self.at
        while at < len(self.lines) and self.lines[at].kind is LineKind.BLANK:
            at += 1
        return self.lines[at] if at < len(self.lines) else None

    def _take(self, line: MarkdownLine) -> None:
        if self.lines[self.at] is not line:
            self.note(OddityKind.BLANK_IN_HEAD, self.lines[self.at])
        while self.lines[self.at] is not line:
            self.at += 1
        self.at += 1

    def _read_id(self) -> str:
        """BNC-068."""
        line = self.lines[0]
        if read_comment_key(line) != "entry":
            return ""
        self.at = 1
        value = line.value.partition(":")[2].strip()
        self.note_form(line, f"<!-- entry: {value} -->" if value else "<!-- entry: -->")
        return value

    def _read_position(self) -> tuple[int | None, int | None]:
        """BNC-070, BNC-071: first the turn in its round, then the round, both from 1."""
        line = self._peek()
        if line is None or read_comment_key(line) != "turn":
            return None, None
        self._take(line)
        read = _POSITION.fullmatch(line.value)
        if read is None or not int(read[1]) or not int(read[2]):
            self.note(OddityKind.BAD_POSITION, line, line.text.strip())
            return None, None
        if not _EXACT_POSITION.fullmatch(line.text):
            self.note_form(line, f"<!-- turn: {int(read[1])} round: {int(read[2])} -->")
        return int(read[1]), int(read[2])

    def _read_status_line(self) -> tuple[str, str, str, bool]:
        line = self._peek()
        read = _STATUS.match(line.text) if line is not None else None
        if line is None or read is None:
            if line is not None and _LIKE_STATUS.search(line.text):
                self._take(line)
                self.note(OddityKind.BAD_STATUS_LINE, line, line.text)
            return "", "", "", False
        self._take(line)
        at = read["boxed"] if read["boxed"] is not None else read["bare"]
        return at.strip(), read["author"], read["status"], True

    def _read_fields(self) -> tuple[EntryField, ...]:
        fields: list[EntryField] = []
        summary_lines = 0
        for line in self.lines[self.at :]:
            read = _FIELD.match(line.text) if line.kind is _TEXT else None
            if read is not None:
                fields.append(EntryField(read["name"], (read["value"] or "").strip(), line.number))
                summary_lines = 1 if read["name"] == "summary" else 0
            elif summary_lines and line.kind is _TEXT:
                # a line without a key right below the summary goes on with it.
                last = fields[-1]
                value = f"{last.value}\n{line.text.strip()}"
                fields[-1] = EntryField(last.name, value, last.line)
                summary_lines += 1
                # BNC-085
                if summary_lines == SUMMARY_LINES + 1:
                    self.note(OddityKind.LONG_SUMMARY, line)
            else:
                break
            self.at += 1
        return tuple(fields)

    def _read_body(self) -> tuple[str, int]:
        """BNC-090, BNC-091: anything but headings of level 1 and 2; the scanner knows code."""
        rest = self.lines[self.at :]
        if rest and rest[0].kind is not _BLANK:
            self.note(OddityKind.NO_BLANK_LINE, rest[0])
        for line in rest:
            odd = _HEADINGS.get(line.kind)
            if odd is not None and line.level <= 2:
                self.note(odd, line, line.text.strip())
        not_blank = [line for line in rest if line.kind is not _BLANK]
        if not not_blank:
            return "", self.lines[-1].number + 1
        first, last = not_blank[0], not_blank[-1]
        return self.text[first.start : last.start] + last.text, first.number


class Dialogue(msgspec.Struct, frozen=True):
    """`end` is where the section ends: with the file, or at a section that belongs above it."""

    entries: tuple[DebateEntry, ...]
    marks: tuple[CommentMark, ...]
    sections: tuple[SectionSpan, ...]
    odd: tuple[Oddity, ...]
    end: int


def read_dialogue(text: str, start: int, number: int) -> Dialogue:
    """Return the dialogue that begins at this offset, on line `number`."""
    return _Walk(text).read(start, number)


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
    def __init__(self, text: str) -> None:
        self.text = text
        self.entries: list[DebateEntry] = []
        self.marks: list[CommentMark] = []
        self.headings: list[MarkdownLine] = []
        self.odd: list[Oddity] = []
        self.stray = False  # the line above was stray text too: one note is enough

    def read(self, start: int, number: int) -> Dialogue:
        while start < len(self.text):
            start, number = self._read_on(start, number)
        end = self.headings[0].start if self.headings else len(self.text)
        return Dialogue(
            tuple(self.entries), tuple(self.marks), self._sections(), tuple(self.odd), end
        )

    def _read_on(self, start: int, number: int) -> tuple[int, int]:
        """Read until an entry has ended; return the place after it."""
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
        """Take a line that belongs to no entry. BNC-127: comments of other keys are allowed."""
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
        """Add an entry that the file's end cut off; an open block may have swallowed its marker."""
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


_FIRST_LINE = "<!-- entry: "
_LAST_LINE = re.compile(r"\s*(<[^\r\n]*)\Z")


def _torn_head(text: str, start: int) -> int:
    """Return where an unfinished first line begins, if nothing else follows; else -1.

    BNC-100, BNC-102: a file that broke off there ends with an incomplete entry, not stray text.
    """
    line = _LAST_LINE.match(text, start)
    if line is None:
        return -1
    torn = line[1]
    is_cut = _FIRST_LINE.startswith(torn) or (torn.startswith(_FIRST_LINE) and "-->" not in torn)
    return line.start(1) if is_cut else -1


def _torn_entry(text: str, start: int, line: int, index: int) -> DebateEntry:
    """Return an entry of which only the beginning of its first line is there."""
    return DebateEntry(
        index, line, start, len(text), "", None, None, "", "", "",
        (), "", line, False, has_head=False,
    )  # fmt: skip


def _begins_entry(line: MarkdownLine) -> bool:
    is_status_line = line.kind is _TEXT and _STATUS.match(line.text) is not None
    return is_status_line or read_comment_key(line) in ("entry", "turn")


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
        """True if this line, inside an open block, is the entry's own marker."""
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
