"""Participants' markdown on a page: set where it is harmless, text where it is not, never lost."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.pages.markup import (
    MOST_BRACKETS,
    MOST_CHARACTERS,
    join_markup,
    markdown_elements,
    plain_line,
)
from moot.pages.text import HIDDEN
from tests.sampling import examples

ALLOWED = {
    *("p", "div", "ul", "ol", "li", "blockquote", "em", "strong", "s", "a", "code", "pre", "hr"),
    *("table", "thead", "tbody", "tr", "th", "td", "span"),
}
ATTRIBUTES = {"class", "dir", "href", "rel", "start", "role", "tabindex", "aria-label"}
VOID = {"hr"}

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>\n\n<div onclick='x'>\n\n</div></blockquote></section>",
    "[x](javascript:alert(1)) [y](JaVaScRiPt:alert(1)) <javascript:alert(1)>",
    "[x](data:text/html;base64,PHNjcmlwdD4=) [y](vbscript:x) [z](file:///etc/passwd)",
    "[x](//evil.example) [y](/etc) [z](#here) [w](page.html)",
    "[bank](https://bank.example@evil.example/login)",
    '[x](https://ok.example "</a><script>")',
    "![i](https://evil.example/i.png)",
    "```\n</code></pre><script>alert(1)</script>\n```\n</pre>",
    "```html onload=alert(1)\nnever closed",
    "~~~\n```\n~~~\n```\n",
    "&lt;script&gt; &#60;script&#62; &#8238;bidi &#0; &nosuch;",
    "\u202eright to left\u202c \u2066isolate\u2069 \u200bzero",
    "> " * 200 + "deep",
    "- " * 200 + "deep",
    "*" * 3_000,
    "[" * 3_000,
    "`" * 3_001,
    "| a | b |\n|---|---|\n| <b>x</b> | `|` |",
    "[a]: javascript:alert(1)\n\n[a]",
    "W" * 1_000_000,
    "\x00\x07\x1b[31m\ud800",
]


class Strict(HTMLParser):
    """Every element is known, closes in order, and leads only where it may."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text = ""
        self.addresses: list[str] = []
        self.names: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        assert {name for name, _ in attrs} <= ATTRIBUTES
        self.names.append(tag)
        self.addresses += [str(value) for name, value in attrs if name == "href"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")


def drawn(text: str) -> Strict:
    html = join_markup(*markdown_elements(text)).html
    assert not HIDDEN.search(html)
    parsed = Strict(html)
    for address in parsed.addresses:
        assert re.fullmatch(r"https?://[A-Za-z0-9.-]+(:\d+)?([/?#][!-~]*)?", address)
    return parsed


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_markdown_stays_harmless(text: str) -> None:
    drawn(text)


def test_what_is_not_http_leads_nowhere_and_is_still_read() -> None:
    for address in ("javascript:alert(1)", "ftp://x.example/f", "/etc/passwd", "page.html", "#a"):
        parsed = drawn(f"[name]({address})")
        assert parsed.addresses == []
        assert "name" in parsed.text
        assert address in parsed.text


def test_a_link_says_where_it_leads() -> None:
    parsed = drawn("[your bank](https://evil.example/login)")
    assert parsed.addresses == ["https://evil.example/login"]
    assert parsed.text.strip() == "your bank (evil.example)"
    assert drawn("<https://ok.example/a>").text.strip() == "https://ok.example/a"
    assert drawn("[bank](https://bank.example@evil.example/)").addresses == []


def test_ordinary_markdown_is_set() -> None:
    text = (
        "# Head\n\n**sure** *so* ~~not~~ `x < 1`\n\n1. one\n2. two\n\n```py\na = '<b>'\n```\n---\n"
    )
    parsed = drawn(text + "\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> said")
    for name in ("strong", "em", "s", "code", "ol", "li", "pre", "hr", "table", "td", "blockquote"):
        assert name in parsed.names
    assert "h1" not in parsed.names
    for words in ("Head", "x < 1", "a = '<b>'", "py", "said"):
        assert words in parsed.text


def test_what_is_too_long_or_too_deep_is_shown_as_it_was_written() -> None:
    for text in (
        "**" + "a" * MOST_CHARACTERS,
        "[" * (MOST_BRACKETS + 1) + "**b**",
        ">" * 60 + " **deep**",
        "- " * 60 + "**deep**",
    ):
        parsed = drawn(text)
        assert "strong" not in parsed.names
        assert parsed.text.strip() == text.strip()


markdownish = st.text("#>-+=*_`~[]()<>!|\\&;:/.1w@$ \n\tax{}^\"'", max_size=120)
pieces = st.lists(
    st.one_of(markdownish, st.text(max_size=20), st.sampled_from(HOSTILE[:-2])), max_size=6
).map("\n".join)


@given(pieces)
@settings(deadline=None, max_examples=examples(300))
def test_any_text_stays_inside_its_frame(text: str) -> None:
    drawn(text)
    assert "\n" not in plain_line(text, 80)
    assert len(plain_line(text, 80)) <= 80


words = st.lists(st.text("abcdefghijk", min_size=3, max_size=6), min_size=1, max_size=12)
marks = st.sampled_from(
    ["\n\n", "\n", " ", "\n- ", "\n> ", "\n# ", "**", " `", "\n```\n", "[", "]:"]
)


@given(words, st.lists(marks, min_size=12, max_size=12))
@settings(deadline=None, max_examples=examples(300))
def test_no_word_is_lost(said: list[str], between: list[str]) -> None:
    text = "".join(mark + word for mark, word in zip(between, said, strict=False))
    shown = drawn(text).text
    assert [word for word in said if word not in shown] == []


def test_a_line_for_a_list_has_no_marks() -> None:
    assert plain_line("# Take **Postgres**\n\n- it `is` there", 80) == "Take Postgres it is there"
    assert plain_line("a" * 100, 10) == "aaaaaaaaa…"
