"""A body as the rules see it: its title, its level-2 sections, its fenced blocks.

Only headings and fences at the top level count (BRN-083); everything in code, quotes, lists or
comments is text. Names of sections are compared without case and without a final `(optional)`.
`MessageBody` takes any text and never raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final

import msgspec

from moot.core.markdown import LineKind, MarkdownLine, fences, scan_lines
from moot.protocols.mail.types import MessageType

# The headings and fenced blocks at the top level of a markdown text.


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


_NOTE = re.compile(r"\((?:optional|if applicable)\)\Z", re.IGNORECASE)
_NOTHING = re.compile(r'(?:\s++|<!--(?:(?!-->).)*+-->|\{[^{}"\n]*+\})*+\Z', re.DOTALL)
_HOLE = re.compile(r'\{[^{}"\n]*+\}')
_BLANKS = re.compile(r"\s+")


def section_key(heading: str) -> str:
    """Return what headings of one section share: without case, spacing and `(optional)`."""
    if heading.isalpha():
        return heading.casefold()
    return " ".join(_NOTE.sub("", heading).split()).casefold()


def is_unfilled(text: str) -> bool:
    """True if the text says nothing: blank, comments, or only `{template text}`."""
    # A letter or a digit at the start says something already.
    return not text[:1].isalnum() and _NOTHING.match(text) is not None


def find_template_text(text: str) -> str:
    """Return the first `{...}` of a text that holds nothing else, or an empty string."""
    hole = _HOLE.search(text) if is_unfilled(text) else None
    return hole[0] if hole else ""


class BodySection:
    """One section: its `name` as it was written, and `text`, everything below its heading."""

    __slots__ = ("heading", "key", "text")

    def __init__(self, heading: Heading, text: str) -> None:
        self.heading = heading
        self.key = section_key(heading.value)
        self.text = text

    @property
    def name(self) -> str:
        return self.heading.value

    @property
    def line(self) -> int:
        return self.heading.number

    @property
    def filled_text(self) -> str:
        """The text without the white space around it; empty if nothing was filled in."""
        return "" if is_unfilled(self.text) else self.text.strip()

    @property
    def plain_value(self) -> str:
        """`filled_text` on one line without markup around it: for names and fixed words."""
        words = _BLANKS.sub(" ", unwrap_text_block(self.filled_text))
        return words.strip("`*_ ").removeprefix("- ").strip("`*_ ")


class MessageBody:
    """The parts of one body; the first section of a name is the one that counts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.titles: list[Heading] = []
        self.sections: list[BodySection] = []
        self.others: list[Heading] = []  # of level 3 and below
        self.blocks: list[Block] = []
        self._read()

    def _read(self) -> None:
        open_heading: Heading | None = None
        for mark in find_outline(self.text):
            if isinstance(mark, Block):
                self.blocks.append(mark)
            elif mark.level > 2:
                self.others.append(mark)
            else:
                self._close(open_heading, mark.start)
                open_heading = mark if mark.level == 2 else None
                if mark.level == 1:
                    self.titles.append(mark)
        self._close(open_heading, len(self.text))

    def _close(self, heading: Heading | None, end: int) -> None:
        if heading is not None:
            self.sections.append(BodySection(heading, self.text[heading.end : end]))

    @cached_property
    def _first(self) -> dict[str, BodySection]:
        return {part.key: part for part in reversed(self.sections)}

    @property
    def title(self) -> Heading | None:
        return self.titles[0] if self.titles else None

    def find_section(self, name: str) -> BodySection | None:
        """Return the first section of this name."""
        return self._first.get(section_key(name))

    def text_of(self, name: str) -> str:
        """Return what the section says; empty if it is missing, blank or unfilled."""
        part = self.find_section(name)
        return part.filled_text if part else ""

    def read_code(self, block: Block) -> str:
        """Return the code of a block, less the indentation of its fence."""
        return next(fences(self.text, block.start, block.end, block.number)).code


def unwrap_text_block(text: str) -> str:
    """Return the code of a text that is one `text` block and nothing more; else the text itself."""
    body = MessageBody(text)
    if len(body.blocks) != 1 or body.blocks[0].info != TEXT_FENCE:
        return text
    (block,) = body.blocks
    alone = not text[: block.start].strip() and not text[block.end :].strip()
    return body.read_code(block).strip("\r\n") if alone and block.closed else text


TEXT_FENCE = "text"


# The few facts of a body that the record needs: the item, its taker, the title, the version.

_VERSION: Final = re.compile(r"\bv([0-9]+)\b")
_MAX_CHARACTERS: Final = 200
_MAX_DIGITS: Final = 9  # digits; no thread has so many versions


class MessageFacts(msgspec.Struct, frozen=True):
    """`item` is work that is blocked, or that `taker` claims or gets; `title` is a question."""

    item: str = ""
    taker: str = ""
    title: str = ""
    version: int | None = None


def read_facts(kind: MessageType | None, text: str) -> MessageFacts:
    """Read what a message of this type says; types without such facts give empty ones."""
    read = _READERS.get(kind) if kind is not None else None
    return read(MessageBody(text)) if read is not None else MessageFacts()


def _read_work(taker: str) -> Callable[[MessageBody], MessageFacts]:
    """Read the item, and who takes it from the section of this name."""
    return lambda body: MessageFacts(
        item=_read_section(body, "Item"), taker=_read_section(body, taker).lstrip("@")
    )


def _read_section(body: MessageBody, section: str) -> str:
    part = body.find_section(section)
    return part.plain_value[:_MAX_CHARACTERS] if part is not None else ""


def _read_title(body: MessageBody) -> MessageFacts:
    """Read the title of the thread: the Research Question, else the heading (BRN-012)."""
    question = " ".join(body.text_of("Research Question").split())
    heading = body.title.value.strip() if body.title is not None else ""
    return MessageFacts(
        title=(question or ("" if is_unfilled(heading) else heading))[:_MAX_CHARACTERS]
    )


def _read_version(body: MessageBody) -> MessageFacts:
    """Return the version that the title or the summary names (D-18)."""
    title = body.title.value if body.title is not None else ""
    match = _VERSION.search(title) or _VERSION.search(body.text_of("Summary"))
    return MessageFacts(version=int(match[1][:_MAX_DIGITS]) if match else None)


_READERS: Final[dict[MessageType, Callable[[MessageBody], MessageFacts]]] = {
    MessageType.KICKOFF: _read_title,
    MessageType.COMPILED: _read_version,
    MessageType.CLAIM: _read_work("Agent"),
    MessageType.HANDOFF: _read_work("To"),
    MessageType.BLOCKED: lambda body: MessageFacts(item=_read_section(body, "Item")),
}
