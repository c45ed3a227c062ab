"""One entry from its lines (section 4): marks, status line, fields, body, whatever is missing.

The lines come from the markdown scanner, so that a heading or a comment in a code block is only
code. Everything that could be read is kept; what was odd about it is noted beside it. BNC-008: an
entry is read the same whoever wrote it, by hand or with any tool.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moot.core.markdown import LineKind, MarkdownLine
from moot.protocols.debate.model import YIELD_MARKER, DebateEntry, EntryField, Oddity, OddityKind

_POSITION = re.compile(r"turn:[ \t]*([0-9]{1,9})[ \t]+round:[ \t]*([0-9]{1,9})")
_EXACT_POSITION = re.compile(r"<!-- turn: [0-9]+ round: [0-9]+ -->")
# BNC-072: the time may stand in brackets or bare. BNC-013: there is one author.
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


def is_status_line(line: MarkdownLine) -> bool:
    return line.kind is _TEXT and _STATUS.match(line.text) is not None


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
        """R20 for the comment, A-39 for blanks behind it."""
        if line.text != exact:
            only_blanks = line.text.rstrip(" \t") == exact
            self.note(
                OddityKind.TRAILING_SPACE if only_blanks else OddityKind.COMMENT_FORM,
                line,
                line.text,
            )

    def _peek(self) -> MarkdownLine | None:
        """The next line that is not blank; blank ones have no place in an entry's head."""
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
                fields[-1] = _continue_value(fields[-1], line)
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


def _continue_value(field: EntryField, line: MarkdownLine) -> EntryField:
    return EntryField(field.name, f"{field.value}\n{line.text.strip()}", field.line)
