"""What participants wrote in markdown, as elements of the page.

The library only reads: each of its tokens becomes an element by `tag`, which knows no script, no
image and no handler. Raw HTML is off and stays text; a link leads somewhere only over http(s), and
says where to. What the library would leave out (definitions of links) or could take long over (a
megabyte, a thousand open brackets, quotes in quotes in quotes) is shown as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Final

from moot.pages.markup import Attributes, Child, Markup, join_markup, tag
from moot.pages.text import one_line, show_hidden_characters, split_paragraphs

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST_CHARACTERS: Final = 16_000
MOST_BRACKETS: Final = 600
MOST_NESTING: Final = 14
# Whoever reads "your bank" should see where it leads; a name before `@` would only mislead.
_WEB_ADDRESS: Final = re.compile(r"https?://([A-Za-z0-9.-]+)(:[0-9]{1,5})?([/?#][!-~]*)?")
# The page has its own headings: those of a text are set as strong lines.
_ELEMENTS: Final = {
    "paragraph": ("p", None),
    "heading": ("p", "head"),
    "bullet_list": ("ul", None),
    "ordered_list": ("ol", None),
    "list_item": ("li", None),
    "blockquote": ("blockquote", None),
    "em": ("em", None),
    "strong": ("strong", None),
    "s": ("s", None),
    "table": ("table", None),
    "thead": ("thead", None),
    "tbody": ("tbody", None),
    "tr": ("tr", None),
    "th": ("th", None),
    "td": ("td", None),
}


def markdown_elements(text: str, look: str = "text") -> list[Markup]:
    """The text in one frame; none if there is no text."""
    shown = show_hidden_characters(text)
    if not shown.strip():
        return []
    tokens = _read(shown)
    if tokens is None:
        return [tag("p", {"class": look, "dir": "auto"}, part) for part in split_paragraphs(text)]
    frame = {"class": f"md {look}", "dir": "auto"}
    return [tag("div", frame, *_Elements().build(tokens))]


def plain_line(text: str, most: int) -> str:
    """One line of the text without its markup, cut at `most` characters: for a row of a list."""
    tokens = _read(show_hidden_characters(text)[:MOST_CHARACTERS])
    words = text if tokens is None else " ".join(_texts(tokens))
    line = one_line(words)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MOST_NESTING})
    return parser.enable(["table", "strikethrough"]).disable(["reference"])


def _read(text: str) -> list[Token] | None:
    """The tokens of a text; None if it is better shown as it was written."""
    if len(text) > MOST_CHARACTERS or text.count("[") > MOST_BRACKETS:
        return None
    tokens = _parser().parse(text)
    inner = (child for token in tokens for child in token.children or ())
    # Beyond its depth the library drops the text: then none of it is taken from there.
    deepest = max((token.level for token in (*tokens, *inner)), default=0)
    return None if deepest >= MOST_NESTING - 2 else tokens


def _texts(tokens: Iterable[Token]) -> Iterable[str]:
    for token in tokens:
        if token.type == "inline":
            yield "".join(
                " " if child.type.endswith("break") else child.content
                for child in token.children or ()
            )
        elif token.content:
            yield token.content


class _Elements:
    """Open elements, innermost last; each gathers its children until it closes."""

    def __init__(self) -> None:
        self._open: list[tuple[Token | None, list[Child]]] = [(None, [])]

    def build(self, tokens: Iterable[Token]) -> list[Child]:
        for token in tokens:
            self._take(token)
        return self._open[0][1]

    def _take(self, token: Token) -> None:
        if token.nesting > 0:
            self._open.append((token, []))
        elif token.nesting < 0:
            opened, children = self._open.pop()
            assert opened is not None
            self._add(_element(opened, children))
        elif token.type == "inline":
            for child in token.children or ():
                self._take(child)
        else:
            self._add(_leaf(token))

    def _add(self, child: Child) -> None:
        self._open[-1][1].append(child)


def _element(token: Token, children: list[Child]) -> Markup:
    kind = token.type.removesuffix("_open")
    if token.hidden:  # a paragraph of a tight list
        return join_markup(*children)
    if kind == "link":
        return _link(token, children)
    name, look = _ELEMENTS[kind]
    start = token.attrs.get("start") if kind == "ordered_list" else None
    element = tag(name, {"class": look, "start": None if start is None else str(start)}, *children)
    if kind == "table":
        reach: Attributes = {
            "class": "scroll",
            "role": "group",
            "tabindex": 0,
            "aria-label": "Table",
        }
        return tag("div", reach, element)
    return element


def _link(token: Token, children: list[Child]) -> Markup:
    address = one_line(str(token.attrs.get("href", "")))
    title = one_line(str(token.attrs.get("title") or ""))
    found = _WEB_ADDRESS.fullmatch(address)
    where = title if found is None else " · ".join(filter(None, (found[1], title)))
    shown = join_markup(*children)
    if found is None:
        told = " · ".join(filter(None, (address, where)))
        return join_markup(shown, tag("span", {"class": "note"}, f" ({told})"))
    away = {"href": address, "rel": "noopener noreferrer nofollow"}
    if found[1] in shown.html and not title:
        return tag("a", away, shown)
    return join_markup(tag("a", away, shown), tag("span", {"class": "note"}, f" ({where})"))


def _leaf(token: Token) -> Child:
    match token.type:
        case "text" | "text_special":
            return token.content
        case "softbreak" | "hardbreak":
            return "\n"
        case "code_inline":
            return tag("code", None, token.content)
        case "fence" | "code_block":
            return _code_block(token)
        case "hr":
            return tag("hr")
        case "image":
            address = one_line(str(token.attrs.get("src", "")))
            return tag("span", {"class": "note"}, f"{token.content} (picture: {address})")
        case _:
            return token.content


def _code_block(token: Token) -> Markup:
    language = one_line(token.info)
    label = tag("p", {"class": "meta"}, language) if language else None
    code = tag("pre", None, tag("code", None, token.content.rstrip("\n")))
    return join_markup(label, code)
