"""Bytes -> `SessionDocument`: every part of a session file with its line numbers, and nothing
judged.

`read_document` never raises, whatever the bytes; the document's own templates do no harm
(BNC-157). It uses the markdown scanner for code fences, quotes and HTML blocks: a quoted marker or
heading never forges an entry or moves a section, and the first `## Dialogue` counts. BNC-004,
BNC-007: everything comes from the structure of this one text, without its meaning or other files.
"""

from __future__ import annotations

import re

import msgspec

from moot.core.markdown import BYTE_ORDER_MARK, LineKind, MarkdownLine, scan_lines
from moot.protocols.debate.dialogue import read_dialogue
from moot.protocols.debate.model import (
    SECTIONS,
    HeaderLine,
    Oddity,
    OddityKind,
    SectionSpan,
    SessionDocument,
    Setting,
    SettingsBlock,
    TextValue,
)
from moot.protocols.debate.settings import read_settings

# Theory of operation
# -------------------
# The preamble (header, title, rules, context) is scanned line by line until the first top-level
# `## Dialogue`. What follows is read entry by entry in `dialogue.py`: nothing above an entry's
# first line can be open any more once a yield marker has been seen, so each entry starts afresh.

_EXACT = re.compile(r"<!-- (?P<key>[a-z-]+): (?P<value>\S(?:.*\S)?) -->")
_EMPTY = re.compile(r"<!-- (?P<key>[a-z-]+): -->")
_LONE_CR = re.compile(r"\r(?!\n)")
_DIALOGUE = SECTIONS[2]


def read_document(data: bytes | str) -> SessionDocument:
    """Return the document in these bytes."""
    text, odd = _decode(data)
    preamble = _Preamble(text)
    start = preamble.read()
    if start is None:
        return preamble.document(text, odd)
    dialogue = read_dialogue(text, start.end, start.number + 1)
    return preamble.document(
        text,
        [*odd, *dialogue.odd],
        sections=dialogue.sections,
        entries=dialogue.entries,
        marks=dialogue.marks,
        end=dialogue.end,
    )


def _decode(data: bytes | str) -> tuple[str, list[Oddity]]:
    odd: list[Oddity] = []
    text = data if isinstance(data, str) else _decode_utf8(data, odd)
    if text.startswith(BYTE_ORDER_MARK):
        odd.append(Oddity(OddityKind.BYTE_ORDER_MARK, 1))
        text = text[1:]
    if "\r" in text:
        lone = _LONE_CR.search(text)
        place = lone.start() if lone else text.index("\r")
        number = text.count("\n", 0, place) + 1
        odd.append(Oddity(OddityKind.LONE_CR if lone else OddityKind.CRLF, number))
    return text, odd


def _decode_utf8(data: bytes, odd: list[Oddity]) -> str:
    """BNC-001: note and replace bytes that are no UTF-8, so that the rest can be checked."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        odd.append(Oddity(OddityKind.ENCODING, number, f"byte {data[error.start]:#04x}"))
        return data.decode("utf-8", "replace")


class _Preamble:
    """The part of the file above the dialogue."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.header: list[HeaderLine] = []
        self.title: TextValue | None = None
        self.headings: list[MarkdownLine] = []
        self.block: list[MarkdownLine] = []
        self.fence: MarkdownLine | None = None
        self.settings: SettingsBlock | None = None
        self.comments: list[Setting] = []  # among the rules
        self.odd: list[Oddity] = []

    def read(self) -> MarkdownLine | None:
        """Return the heading line of the dialogue, if there is one."""
        for line in scan_lines(self.text):
            if line.kind is LineKind.HEADING and line.level <= 2:
                self._close_block()
                self._take_heading(line)
                if line.level == 2 and line.value == _DIALOGUE:
                    return line
            elif not self.headings and self.title is None:
                self._take_header_line(line)
            elif self._is_in_rules():
                self._take_rules_line(line)
        self._close_block()
        return None

    def _take_heading(self, line: MarkdownLine) -> None:
        if line.level == 2:
            self.headings.append(line)
        elif self.title is None:
            self.title = TextValue(line.value, line.number)
        else:
            self.odd.append(Oddity(OddityKind.EXTRA_HEADING, line.number, line.text.strip()))

    def _take_header_line(self, line: MarkdownLine) -> None:
        if line.kind is LineKind.COMMENT:
            self.header.append(_header_line(line))
        elif line.kind is not LineKind.BLANK:
            self._note_once(OddityKind.TEXT_BEFORE_TITLE, line)

    def _note_once(self, kind: OddityKind, line: MarkdownLine) -> None:
        if all(oddity.kind is not kind for oddity in self.odd):
            self.odd.append(Oddity(kind, line.number, line.text.strip()))

    def _is_in_rules(self) -> bool:
        return bool(self.headings) and self.headings[-1].value == SECTIONS[0]

    def _take_rules_line(self, line: MarkdownLine) -> None:
        if line.kind is LineKind.COMMENT:
            key, _, value = line.value.partition(":")
            scalar = TextValue(value.strip(), line.number)
            self.comments.append(Setting(key.strip(), line.number, scalar))
        elif self.settings is not None:
            return
        elif line.kind is LineKind.FENCE_OPEN:
            self.fence = line
        elif line.kind is LineKind.FENCED:
            self.block.append(line)
        elif line.kind is LineKind.FENCE_CLOSE:
            self._close_block()

    def _close_block(self) -> None:
        """End the block, at its closing fence or at the end of the file."""
        if self.fence is not None and self.settings is None:
            self.settings = read_settings(self.block, self.fence.number)

    def document(
        self,
        text: str,
        odd: list[Oddity],
        sections: tuple[SectionSpan, ...] = (),
        end: int | None = None,
        **dialogue: tuple[object, ...],
    ) -> SessionDocument:
        return SessionDocument(
            text,
            tuple(self.header),
            self.title,
            (*self._sections_seen(len(text) if end is None else end), *sections),
            self._settings_with_comments(),
            oddities=(*self.odd, *odd),
            **dialogue,  # type: ignore[arg-type]
        )

    def _settings_with_comments(self) -> SettingsBlock | None:
        if self.settings is None or not self.comments:
            return self.settings
        return msgspec.structs.replace(self.settings, comments=tuple(self.comments))

    def _sections_seen(self, end: int) -> list[SectionSpan]:
        ends = [*(line.start for line in self.headings[1:]), end]
        return [
            SectionSpan(line.value, line.number, line.end, stop)
            for line, stop in zip(self.headings, ends, strict=False)
        ]


def _header_line(line: MarkdownLine) -> HeaderLine:
    """BNC-027: read a header line; exact with single spaces. A missing value is another flaw."""
    exact = _EXACT.fullmatch(line.text) or _EMPTY.fullmatch(line.text)
    key, _, value = line.value.partition(":")
    return HeaderLine(key.strip(), value.strip(), line.number, exact is not None)
