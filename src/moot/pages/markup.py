"""The only way anything becomes HTML here: elements are built, never written.

`tag` escapes every string it is given, as child or as attribute; only what `tag` itself built
passes unchanged. It knows a closed list of elements and attributes, and no script, image, event
handler or style attribute is on it, so a page cannot hold one even by mistake. An address leads
over http(s) or to a page in the same folder, and nowhere else.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Final

from moot.pages.text import show_hidden_characters


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
