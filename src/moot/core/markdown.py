"""What each line of a markdown text is: heading, fenced code, comment, quoted text, prose.

This is the block structure of CommonMark at the top level of a document, read line by line, and
not a renderer: it knows nothing of inline markup. Only a line at the top level can be a heading,
a fence or a comment; every line in a block quote or a list item is `NESTED`, so that quoted text
cannot forge structure. Every str is accepted and nothing here raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum, StrEnum, auto
from itertools import chain, repeat

import msgspec

# Theory of operation
# -------------------
# Lines end at LF, CR LF or a lone CR and nowhere else: str.splitlines would also cut at U+2028,
# form feeds and others, and so let one line pose as two. A leading byte order mark belongs to no
# line.
#
# `_Blocks` holds what is open in one container: the document, a block quote or a list item. It
# has at most one open leaf (a fence or an HTML block), or a paragraph, or an inner container. A
# line descends through the containers that continue in it; at the first level where it does not
# fit, `_start` decides what the line begins. The caller only sees the result of the top level.
# Inner levels are tracked only to know where they end: an unindented line after "- text" still
# belongs to that item, but after "- ```" it does not.
#
# Where this differs from CommonMark, on purpose:
# - A setext heading (text underlined with === or ---) is reported on its underline, as `SETEXT`,
#   and starts no section: it is known only after the lines of its paragraph were yielded.
#   Link reference definitions are prose here, so an underline below one counts.
# - An HTML block that lasts until a blank line (<details>, <div>) may contain whole one-line
#   comments, and these are `COMMENT`: a marker right below </details> is still a marker.
# - Containers more than `MAX_DEPTH` deep are prose of the innermost one, to bound the work.

MAX_DEPTH = 20
BYTE_ORDER_MARK = "\ufeff"


class LineKind(StrEnum):
    """What a line is at the top level of its document."""

    BLANK = auto()  # nothing but spaces and tabs, outside code, HTML blocks and comments
    TEXT = auto()  # a line of a paragraph
    HEADING = auto()  # "## text": `level` 1 to 6, `value` is its text without closing #s
    SETEXT = auto()  # the === (`level` 1) or --- (`level` 2) under a paragraph, making it a heading
    BREAK = auto()  # a thematic break: ***, ---, ___
    FENCE_OPEN = auto()  # ``` or ~~~; `value` is the info string
    FENCED = auto()  # a line of fenced code, blank ones too
    FENCE_CLOSE = auto()
    INDENTED = auto()  # code by four spaces of indentation
    COMMENT = auto()  # one whole comment alone on its line; `value` is its text
    COMMENT_PART = auto()  # a line of a comment that spans lines, or shares its line with text
    HTML = auto()  # a line of any other HTML block
    NESTED = auto()  # anything inside a block quote or a list item, their markers included


class MarkdownLine(msgspec.Struct, frozen=True, gc=False):
    """One line; `text[line.start:line.end]` is `line.text + line.ending`."""

    number: int
    start: int
    text: str
    ending: str
    kind: LineKind
    level: int = 0
    value: str = ""

    @property
    def end(self) -> int:
        """The offset at which the next line starts."""
        return self.start + len(self.text) + len(self.ending)


class MarkdownSection(msgspec.Struct, frozen=True):
    """A heading and what follows it: `body` is `text[start:end]` and begins at line `number`."""

    heading: MarkdownLine
    number: int
    start: int
    end: int
    body: str


class Fence(msgspec.Struct, frozen=True):
    """A fenced block; `number`, `start` and `end` are of the whole block, fences included.

    `code` keeps its own line endings, less the indentation that the opening fence had.
    """

    info: str
    code: str
    number: int
    start: int
    end: int
    closed: bool


# Reading ------------------------------------------------------------------------------------------


def scan_lines(
    text: str, start: int = 0, end: int | None = None, number: int = 1
) -> Iterator[MarkdownLine]:
    """Yield the lines of `text[start:end]`, lazily; the first one has the number `number`.

    The scan begins at the top level. So after an unclosed fence, a caller can stop reading and scan
    again from any line, at little cost.
    """
    if start == 0 and text.startswith(BYTE_ORDER_MARK):
        start = 1
    feed = _Blocks().feed
    chunks = _chunks(text, start, len(text) if end is None else end)
    lines = chain.from_iterable(map(_split, chunks))
    for here, (content, ending) in enumerate(lines, number):
        mark = feed(_untab(content, 0) if "\t" in content else content, 0)
        yield MarkdownLine(here, start, content, ending, mark.kind, mark.level, mark.value)
        start += len(content) + len(ending)


def _chunks(text: str, start: int, end: int) -> Iterator[str]:
    """Cut the text after line endings into pieces of many lines, which are fast to split."""
    while start < end:
        near = min(start + _CHUNK, end)
        # With no LF in sight, a CR that is not the last character is not half of a CR LF.
        stop = text.rfind("\n", start, near) + 1 or text.rfind("\r", start, near - 1) + 1
        if not stop:
            ending = _ENDING.search(text, near, end)
            stop = ending.end() if ending else end
        yield text[start:stop]
        start = stop


# Small, so that a caller that stops early has read little too much.
_CHUNK = 4096
_ENDING = re.compile(r"\r\n?|\n")
_LINE = re.compile(r"(?!\Z)([^\r\n]*+)(\r\n?|\n?)")


def _split(chunk: str) -> Iterable[tuple[str, str]]:
    """Return the lines of a chunk, each with its ending."""
    if "\r" in chunk:
        return _LINE.findall(chunk)
    lines = chunk.split("\n")
    last = lines.pop()
    return chain(zip(lines, repeat("\n")), [(last, "")] if last else ())


def sections(text: str, level: int = 2) -> Iterator[MarkdownSection]:
    """Yield the sections under headings of this level; each ends at the next heading of this or a
    higher level."""
    heading: MarkdownLine | None = None
    for line in scan_lines(text):
        if line.kind is LineKind.HEADING and line.level <= level:
            if heading is not None:
                yield _section(text, heading, line.start)
            heading = line if line.level == level else None
    if heading is not None:
        yield _section(text, heading, len(text))


def _section(text: str, heading: MarkdownLine, end: int) -> MarkdownSection:
    return MarkdownSection(heading, heading.number + 1, heading.end, end, text[heading.end : end])


def fences(text: str, start: int = 0, end: int | None = None, number: int = 1) -> Iterator[Fence]:
    """Yield the top-level fenced blocks of `text[start:end]`, an unclosed last one too."""
    block: list[MarkdownLine] = []
    for line in scan_lines(text, start, end, number):
        if line.kind in _FENCE_LINES:
            block.append(line)
        elif line.kind is LineKind.FENCE_CLOSE:
            yield _fence(block[0], block[1:], line)
            block.clear()
    if block:
        yield _fence(block[0], block[1:], None)


_FENCE_LINES = frozenset((LineKind.FENCE_OPEN, LineKind.FENCED))


def _fence(opening: MarkdownLine, lines: list[MarkdownLine], closing: MarkdownLine | None) -> Fence:
    indent = _indent(opening.text)
    code = "".join(_dedent(line.text, indent) + line.ending for line in lines)
    last = closing or (lines[-1] if lines else opening)
    return Fence(
        opening.value, code, opening.number, opening.start, last.end, closed=closing is not None
    )


def _dedent(text: str, indent: int) -> str:
    """Remove the indentation of the opening fence, at most three columns."""
    spaces = min(indent, _indent(text))
    if spaces < indent and text.startswith("\t", spaces):
        # A tab reaches to the fourth column; keep the rest of it as spaces.
        return " " * (4 - indent) + text[spaces + 1 :]
    return text[spaces:]


# Writing ------------------------------------------------------------------------------------------


def write_fence(text: str, info: str = "") -> str:
    """Return the text as a fenced block that no line of it can close.

    Readers that do not know fences still see markers in it. If such a reader may get the document,
    call `escape_comments` first.
    """
    info = _ENDING.sub(" ", info).strip(" \t")
    # The info string of a backtick fence may not contain a backtick.
    mark = "~" if "`" in info else "`"
    longest = max(map(len, re.findall(f"{mark}+", text)), default=0)
    bar = mark * max(3, longest + 1)
    gap = " " if info.startswith(mark) else ""
    return f"{bar}{gap}{info}\n{_end_line(text)}{bar}\n"


def write_quote(text: str) -> str:
    """Return the text as a block quote; its comments become visible text.

    Unescaped, a comment that never ends would hide the rest of a rendered page. Put a blank line
    after the quote, or the prose that follows becomes part of it.
    """
    lines = _LINE.findall(escape_comments(text))
    return _end_line("".join((f"> {line}" if line else ">") + ending for line, ending in lines))


def escape_comments(text: str) -> str:
    """Escape every `<!--`, so that no reader takes it for a comment, inside or outside fences."""
    return text.replace("<!--", "&lt;!--")


def _end_line(text: str) -> str:
    return text + "\n" if text and text[-1] not in "\r\n" else text


# What a line can begin ----------------------------------------------------------------------------


class _Mark(msgspec.Struct, frozen=True, gc=False):
    """What one line is: its kind, and level and value if the kind has them."""

    kind: LineKind
    level: int = 0
    value: str = ""


class _OpenFence(msgspec.Struct, frozen=True):
    bar: str
    info: str

    def take(self, rest: str) -> tuple[_Mark, bool]:
        """Say what a line inside the fence is, and whether the fence ends with it."""
        if self.bar not in rest or _indent(rest) > 3:
            return _FENCED, False
        run = rest.strip(" \t")
        closes = len(run) >= len(self.bar) and not run.strip(self.bar[0])
        return (_FENCE_CLOSE if closes else _FENCED), closes


class _OpenHtml(msgspec.Struct, frozen=True):
    kind: LineKind
    # What the last line contains; None: the block ends before a blank line.
    last: re.Pattern[str] | None

    def take(self, rest: str) -> tuple[_Mark, bool]:
        """Say what a line of the HTML block is, and whether the block ends with it."""
        if self.last is not None:
            return _Mark(self.kind), self.last.search(rest) is not None
        if not rest.strip(" \t"):
            return _BLANK, True
        comment = _comment(rest.lstrip(" ")) if _indent(rest) <= 3 else None
        return comment or _Mark(self.kind), False


class _Container(msgspec.Struct, frozen=True, gc=False):
    """A block quote or list item that begins, and the rest of its first line."""

    width: int
    content: str
    column: int


class _Before(Enum):
    """What the line would otherwise continue, which decides what may interrupt it."""

    NOTHING = auto()
    PARAGRAPH = auto()
    INNER_PARAGRAPH = auto()  # of a container whose marker or indentation this line lacks


# Local names for speed: reading an enum's member costs as much as a comparison.
_NOTHING, _PARAGRAPH, _INNER = _Before.NOTHING, _Before.PARAGRAPH, _Before.INNER_PARAGRAPH
_HEADING, _COMMENT = LineKind.HEADING, LineKind.COMMENT
_Start = _Mark | _OpenFence | _OpenHtml | _Container

_BLANK = _Mark(LineKind.BLANK)
_TEXT = _Mark(LineKind.TEXT)
_BREAK = _Mark(LineKind.BREAK)
_FENCED = _Mark(LineKind.FENCED)
_FENCE_CLOSE = _Mark(LineKind.FENCE_CLOSE)
_INDENTED = _Mark(LineKind.INDENTED)
_NESTED = _Mark(LineKind.NESTED)

# The width of a block quote, which has a marker on every line in place of an indentation.
_QUOTE = -1


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _untab(text: str, column: int) -> str:
    """Expand leading tabs into spaces, in text that starts at this column."""
    if "\t" not in text:
        return text
    content = text.lstrip(" \t")
    white = text[: len(text) - len(content)]
    reached = column
    for char in white:
        reached += 4 - reached % 4 if char == "\t" else 1
    return " " * (reached - column) + content


_WHITE = frozenset(" \t")


def _heading(body: str, _before: _Before) -> _Mark | None:
    level = len(body) - len(body.lstrip("#"))
    if level > 6 or body[level : level + 1] not in ("", " ", "\t"):
        return None
    title = body[level:].strip(" \t")
    # Closing #s need a space before them.
    unclosed = title.rstrip("#")
    if not unclosed or unclosed[-1] in _WHITE:
        title = unclosed.rstrip(" \t")
    return _Mark(_HEADING, level, title)


def _setext(body: str, before: _Before) -> _Mark | None:
    if before is not _PARAGRAPH or body.rstrip(" \t").strip(body[0]):
        return None
    return _Mark(LineKind.SETEXT, 1 if body[0] == "=" else 2)


def _break(body: str, _before: _Before) -> _Mark | None:
    mark = body[0]
    return _BREAK if body.count(mark) >= 3 and not body.strip(mark + " \t") else None


def _fence_open(body: str, _before: _Before) -> _OpenFence | None:
    match = _FENCE.match(body)
    return _OpenFence(match["bar"], match["info"].strip(" \t")) if match else None


_FENCE = re.compile(r"(?P<bar>`{3,}+(?=[^`]*\Z)|~{3,}+)(?P<info>.*)", re.DOTALL)


def _comment(body: str, _before: _Before = _NOTHING) -> _Mark | None:
    whole = body.rstrip(" \t")
    if not whole.startswith("<!--") or whole.find("-->", 4) != len(whole) - 3:
        return None
    value = whole[4:-3]
    # A browser ends a comment at --!> too, and at once in <!--> and <!--->.
    if value.startswith((">", "->")) or "--!>" in value:
        return None
    return _Mark(_COMMENT, 0, value.strip(" \t"))


def _html(body: str, before: _Before) -> _OpenHtml | None:
    for opening, block in _HTML_BLOCKS:
        if opening.match(body):
            return block
    # A lone tag of any other name opens a block too, but interrupts no paragraph.
    if before is _NOTHING and _ANY_TAG.match(body):
        return _ANY_TAG_BLOCK
    return None


_RAW = "script|pre|style|textarea"
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details"
    "|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head"
    "|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p"
    "|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)


def _html_block(
    opening: str, last: str | None, kind: LineKind = LineKind.HTML
) -> tuple[re.Pattern[str], _OpenHtml]:
    flags = re.IGNORECASE | re.ASCII
    return re.compile(opening, flags), _OpenHtml(kind, re.compile(last, flags) if last else None)


# CommonMark 0.31, section 4.6: the start and end conditions 1 to 6.
_HTML_BLOCKS = (
    _html_block(rf"<(?:{_RAW})(?=[ \t>]|\Z)", rf"</(?:{_RAW})>"),
    _html_block(r"<!--", r"-->", LineKind.COMMENT_PART),
    _html_block(r"<\?", r"\?>"),
    _html_block(r"<![a-z]", r">"),
    _html_block(r"<!\[CDATA\[", r"\]\]>"),
    _html_block(rf"</?(?:{_BLOCK_TAGS})(?=[ \t]|/?>|\Z)", None),
)
# Condition 7. The quantifiers are possessive, so that no tag takes more than linear time.
_ANY_TAG = re.compile(
    r"""
    <(?: [a-z][a-z0-9-]*+
         (?: [ \t]++ [a-z_:][a-z0-9_.:-]*+
             (?: [ \t]*+ = [ \t]*+ (?: [^\x00-\x20"'=<>`]++ | '[^']*+' | "[^"]*+" ) )?+
         )*+
         [ \t]*+ /?
       | / [a-z][a-z0-9-]*+ [ \t]*+
     )> [ \t]*+ \Z
    """,
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)
_ANY_TAG_BLOCK = _OpenHtml(LineKind.HTML, None)


def _quote(body: str, _before: _Before, indent: int, column: int) -> _Container:
    column += indent + 1
    content = _untab(body[1:], column)
    # One space after the marker belongs to the marker.
    spaced = content.startswith(" ")
    return _Container(_QUOTE, content[spaced:], column + spaced)


def _item(body: str, before: _Before, indent: int, column: int) -> _Container | None:
    match = _ITEM.match(body)
    if match is None:
        return None
    offset = indent + match.end()
    after = _untab(body[match.end() :], column + offset)
    spaces = _indent(after)
    empty = spaces == len(after)
    # Only an item with text, numbered 1 if at all, interrupts a paragraph: prose has many lines
    # that start with a number.
    if before is _PARAGRAPH and (empty or int(match["number"] or 1) != 1):
        return None
    # With five spaces or more, one belongs to the marker and the rest is indented code.
    padding = 1 if empty or spaces > 4 else spaces
    width = offset + padding
    return _Container(width, after[padding:], column + width)


_ITEM = re.compile(r"(?:[-+*]|(?P<number>[0-9]{1,9})[.)])(?=[ \t]|\Z)")

# Which functions to try, by the line's first character; leaves before containers. The first that
# recognises the line decides.
_LEAVES: dict[str, tuple[Callable[[str, _Before], _Mark | _OpenFence | _OpenHtml | None], ...]] = {
    "#": (_heading,),
    "`": (_fence_open,),
    "~": (_fence_open,),
    "<": (_comment, _html),
    "=": (_setext,),
    "-": (_setext, _break),
    "*": (_break,),
    "_": (_break,),
}
_CONTAINERS: dict[str, Callable[[str, _Before, int, int], _Container | None]] = {
    ">": _quote,
    **dict.fromkeys("-+*0123456789", _item),
}
# First characters of lines that may be more than prose; "" is for the empty line.
_MAY_BE_MARKUP = _WHITE | {"", *_LEAVES, *_CONTAINERS}


def _start(rest: str, column: int, before: _Before) -> _Start | None:
    """Return what a line begins, or None if it is prose."""
    body = rest.lstrip(" ")
    indent = len(rest) - len(body)
    if indent > 3:
        return _INDENTED if before is _NOTHING else None
    first = body[0]
    for recognise in _LEAVES.get(first, ()):
        leaf = recognise(body, before)
        if leaf is not None:
            return leaf
    container = _CONTAINERS.get(first)
    return container(body, before, indent, column) if container else None


# What is open -------------------------------------------------------------------------------------


class _Blocks:
    """The open blocks of one container; `width` is the indentation that its lines need."""

    __slots__ = ("depth", "inner", "leaf", "paragraph", "rested", "vacant", "width")

    def __init__(self, depth: int = 0, width: int = 0) -> None:
        self.depth = depth
        self.width = width
        self.leaf: _OpenFence | _OpenHtml | None = None
        self.inner: _Blocks | None = None
        self.paragraph = False
        self.rested = False  # the last line was blank
        self.vacant = True  # no line but blank ones so far

    def feed(self, rest: str, column: int) -> _Mark:
        """Read the next line, without the markers of its containers, and return what it is.

        Its leading white space must be spaces; `column` is where it starts in the whole line.
        """
        if self.leaf is not None:
            return self._continue_leaf(self.leaf, rest)
        # A fast path: most lines are prose, as the first character shows.
        if rest[:1] not in _MAY_BE_MARKUP and self.inner is None:
            self.paragraph, self.vacant = True, False
            return _TEXT
        blank = not rest.strip(" \t")
        if self.inner is not None and self.inner.goes_on(rest, column, blank):
            return _BLANK if blank else _NESTED
        if blank:
            self.inner, self.paragraph = None, False
            return _BLANK
        return self._begin(rest, column)

    def goes_on(self, rest: str, column: int, blank: bool) -> bool:
        """Read the line as the next one of this container; False if the container ended before."""
        # A second blank line changes nothing at any depth, and there may be millions of them.
        if blank and self.rested:
            return True
        inside = self._enter(rest, column, blank)
        if inside is None:
            return False
        self.rested = blank
        self.feed(*inside)
        return True

    def _continue_leaf(self, leaf: _OpenFence | _OpenHtml, rest: str) -> _Mark:
        mark, ended = leaf.take(rest)
        if ended:
            self.leaf = None
        return mark

    def _enter(self, rest: str, column: int, blank: bool) -> tuple[str, int] | None:
        """Return the line without this container's marker or indentation, and its column; None if
        the line is outside."""
        indent = _indent(rest)
        if self.width == _QUOTE:
            if indent > 3 or not rest.startswith(">", indent):
                return None
            quoted = _quote(rest[indent:], _NOTHING, indent, column)
            return quoted.content, quoted.column
        if blank:
            # An item can begin with at most one blank line.
            return None if self.vacant else ("", column)
        return (rest[self.width :], column + self.width) if indent >= self.width else None

    def _begin(self, rest: str, column: int) -> _Mark:
        """Read a line that continues neither an open leaf nor an inner container."""
        before = self._before()
        found = _start(rest, column, before)
        if found is None and before is _INNER:
            # A paragraph goes on without the markers of its containers.
            return _NESTED
        if isinstance(found, _Container) and self.depth == MAX_DEPTH:
            found = None
        self.inner, self.paragraph, self.vacant = None, found is None, False
        if found is None:
            return _TEXT
        return found if isinstance(found, _Mark) else self._open(found, rest)

    def _before(self) -> _Before:
        innermost = self
        while innermost.inner is not None:
            innermost = innermost.inner
        if not innermost.paragraph:
            return _NOTHING
        return _PARAGRAPH if innermost is self else _INNER

    def _open(self, found: _OpenFence | _OpenHtml | _Container, rest: str) -> _Mark:
        match found:
            case _Container():
                self.inner = _Blocks(self.depth + 1, found.width)
                self.inner.feed(found.content, found.column)
                return _NESTED
            case _OpenFence():
                self.leaf = found
                return _Mark(LineKind.FENCE_OPEN, 0, found.info)
            case _OpenHtml():
                mark, ended = found.take(rest)
                self.leaf = None if ended else found
                return mark
