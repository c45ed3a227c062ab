"""The only way anything becomes HTML here: elements are built, never written.

`tag` escapes every string it is given, as child or as attribute; only what `tag` itself built
passes unchanged. It knows a closed list of elements and attributes, and no script, image, event
handler or style attribute is on it, so a page cannot hold one even by mistake. An address leads
over http(s) or to a page in the same folder, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Final

from moot.pages.model import Tone
from moot.pages.text import SIGNS, one_line, show_hidden_characters, split_paragraphs

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


# A line break follows these, so that the source can be read and compared.
_BLOCKS: Final = _names(
    "html head title meta style body header main footer nav section figure figcaption details "
    "summary div h1 h2 p blockquote ul ol li dl dt dd table caption thead tbody tr pre hr svg"
)
_INLINE: Final = _names("th td span strong em s a bdi code time g line rect path text tspan desc")
_VOID: Final = _names("meta hr")
_ELEMENTS: Final = _BLOCKS | _INLINE
_ATTRIBUTES: Final = _names(
    "lang dir class id title scope charset name content http-equiv role tabindex aria-label "
    "aria-labelledby aria-hidden data-label x y x1 y1 x2 y2 d rx width height viewBox overflow "
    "stroke-dasharray text-anchor transform href rel start datetime"
)
# Over the web, or to a page that was written beside this one.
_ADDRESS: Final = re.compile(r"https?://[A-Za-z0-9][!-~]*|[A-Za-z0-9_-][A-Za-z0-9._-]*\.(html|md)")


@dataclass(frozen=True, slots=True)
class Markup:
    """Finished HTML. Only this module makes one; it is not a `str`, so it cannot be confused."""

    html: str


Child = str | Markup | None
Attributes = Mapping[str, str | int | None]

NOTHING: Final = Markup("")


def tag(name: str, attributes: Attributes | None = None, *children: Child) -> Markup:
    """An element. Strings are escaped, None is left out."""
    if name not in _ELEMENTS:
        raise ValueError(f"the page has no element {name!r}")
    start = name + "".join(_attribute(key, value) for key, value in (attributes or {}).items())
    end = "\n" if name in _BLOCKS else ""
    if name in _VOID:
        return Markup(f"<{start}>{end}")
    return Markup(f"<{start}>{join_markup(*children).html}</{name}>{end}")


def join_markup(*children: Child) -> Markup:
    """Children side by side, without an element around them."""
    return Markup("".join(_child(child) for child in children))


def stylesheet(css: str) -> Markup:
    """The page's one style element. CSS is the only text that is not escaped: it is ours."""
    if "<" in css:
        raise ValueError("a stylesheet must not hold '<'")
    return Markup(f"<style>{css}</style>\n")


def document(*children: Child) -> str:
    """A whole HTML document."""
    return "<!DOCTYPE html>\n" + tag("html", {"lang": "en"}, *children).html


def _child(child: Child) -> str:
    if child is None:
        return ""
    return child.html if isinstance(child, Markup) else escape(show_hidden_characters(child))


def _attribute(name: str, value: str | int | None) -> str:
    if name not in _ATTRIBUTES:
        raise ValueError(f"the page has no attribute {name!r}")
    if name == "href" and not _ADDRESS.fullmatch(str(value)):
        raise ValueError(f"a page does not lead to {value!r}")
    return "" if value is None else f' {name}="{escape(show_hidden_characters(str(value)))}"'


# The small things that stand inside a line: a chip with its sign, an identifier, a digest.

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


def chip(tone: Tone, text: str) -> Markup:
    look = "neutral" if tone == "plain" else tone
    return tag("span", {"class": f"chip {look}", "dir": "auto"}, *with_tone_sign(tone, text))


def with_tone_sign(tone: Tone, text: str) -> tuple[Child, Child]:
    """A text behind the sign of its tone."""
    sign = SIGNS[tone]
    mark = tag("span", {"class": "sign", "aria-hidden": "true"}, sign) if sign else None
    return mark, tag("bdi", None, one_line(text))


def code_element(text: str) -> Markup:
    """An identifier in fixed width; a digest is cut into two halves, or four quarters."""
    line = one_line(text)
    return tag("code", {"class": "digest" if _DIGEST.fullmatch(line) else "id"}, line)


# What participants wrote in markdown. The library only reads: each of its tokens becomes an element
# by `tag`, which knows no script, no image and no handler. Raw HTML stays text; a link leads
# somewhere only over http(s), and says where to. What the library would leave out or could take
# long over is shown as it was written.

MOST_CHARACTERS: Final = 16_000
MOST_BRACKETS: Final = 600
MOST_NESTING: Final = 14
# A reader of "your bank" should see where it leads; a name before `@` would only mislead.
_WEB_ADDRESS: Final = re.compile(r"https?://([A-Za-z0-9.-]+)(:[0-9]{1,5})?([/?#][!-~]*)?")
# The page has its own headings: those of a text are set as strong lines.
_MARKDOWN_ELEMENTS: Final = {
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
    name, look = _MARKDOWN_ELEMENTS[kind]
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
