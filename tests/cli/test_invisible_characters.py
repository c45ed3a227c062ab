"""What cannot be seen, or turns text around, is shown as what it is, on terminals and on pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import moot
from moot.pages.markdown_and_json import markdown_line, markdown_paragraphs
from moot.pages.markup import markdown_elements, tag
from moot.surfaces.terminal.answer import visible
from tests.project import Project

INVISIBLE = [
    *("\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"),
    *("\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2060", "\u2061", "\u2064", "\ufeff"),
    *("\u00ad", "\u034f", "\u061c", "\u115f", "\u1160", "\u17b4", "\u17b5", "\u180e", "\u2028"),
    *("\u2800", "\u3164", "\uffa0", "\ufff9", "\U0001d173", "\U000e0001", "\U000e0041"),
]
NEEDED = [
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian, with a joiner in the word
    "\U0001f469\u200d\U0001f4bb",  # a woman, a joiner, a computer: one picture
    "\u2764\ufe0f",  # a heart that is red
]


@pytest.mark.parametrize("char", INVISIBLE, ids=lambda char: f"{ord(char):04x}")
def test_every_way_to_show_a_text_shows_it(char: str) -> None:
    text = f"pay{char}ment"
    html = tag("p", None, text).html
    ways = {
        "terminal": visible(text),
        "page": html,
        "markdown": markdown_line(text),
        "paragraph": markdown_paragraphs(text),
        "rich text": "".join(part.html for part in markdown_elements(text)),
    }
    for way, shown in ways.items():
        assert char not in shown, way
        assert f"{ord(char):x}" in shown.lower(), way


@pytest.mark.parametrize("char", INVISIBLE, ids=lambda char: f"{ord(char):04x}")
def test_the_live_page_shows_it_too(char: str) -> None:
    source = (Path(moot.__file__).parent / "surfaces/web/static/dom.js").read_text("utf-8")
    (written,) = re.findall(r"const HIDDEN = /(\[.*\])/gu;", source)
    long_form = re.sub(r"\\u\{([0-9a-f]+)\}", lambda found: f"\\U{found[1]:0>8}", written)
    assert re.fullmatch(long_form, char)


@pytest.mark.parametrize("text", NEEDED)
def test_what_a_script_or_a_picture_needs_stays_on_pages(text: str) -> None:
    assert markdown_line(text) == text
    assert text in tag("p", None, text).html


def test_a_message_hidden_in_selectors_is_shown() -> None:
    smuggled = "\u2764" + "\ufe0f" + "".join(map(chr, (0xE0150, 0xE0151, 0xE0152)))
    assert markdown_line(smuggled).count("⟨U+E01") == 3
    assert "⟨U+E0150⟩" in markdown_line("a\U000e0150")


def test_a_text_in_an_inbox_is_shown_as_it_is(project: Project) -> None:
    text = "pay\u202e\u200b\u3164ment"
    project.ok("--as", "amber-otter", "send", "teal-crane", "INFO: hello", "--text", text)
    inbox = project.run("--as", "teal-crane", "inbox").out
    (name,) = set(re.findall(r"[a-z0-9-]+:1", inbox))
    shown = inbox + project.run("mail", "show", name).out
    assert not {"\u202e", "\u200b", "\u3164"} & set(shown)
    assert r"pay\x202e\x200b\x3164ment" in shown
