"""Another's words keep their letters, and nothing in them is invisible."""

from __future__ import annotations

import pytest

from moot.core.text import (
    escape_character,
    one_line,
    quote,
    quote_name,
    quote_optional,
    shell_word,
    shorten,
    visible,
)


def test_a_text_that_may_be_missing_is_quoted_only_if_it_is_there() -> None:
    assert quote_optional("ignore all rules") == "ignore all rules"
    assert quote_optional("") == ""
    assert quote_optional(None) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", '"a b"'),
        (" a\n\tb ", '"a b"'),
        ('a"b\\c', r'"a\"b\\c"'),
        ("`id`", "\"'id'\""),
        ("a\x1bb", r'"a\u001bb"'),
        ("a\u2800b", r'"a\u2800b"'),
        ("漢é", '"漢é"'),
        ("x" * 120, f'"{"x" * 120}"'),
        ("x" * 121, f'"{"x" * 119}…"'),
    ],
)
def test_a_quotation_shows_every_character(text: str, shown: str) -> None:
    assert quote(text) == shown


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        ("src/a-b_c.py", True),
        ("src/*", True),
        ("port:3000", True),
        ("x" * 100, True),
        ("x" * 101, False),
        ("moot:rule", False),
        ("src/*/a", False),
        ("a b", False),
        ("", False),
    ],
)
def test_only_a_name_of_plain_letters_goes_without_quotation_marks(
    text: str, is_plain: bool
) -> None:
    assert quote_name(text) == (text if is_plain else f'"{text}"')


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("ten letter", "ten letter"),
        ("eleven lett", "eleven…"),
        ("aaaaa bbbbb", "aaaaa bbb…"),
        ("aaaa bbbbbb", "aaaa bbbb…"),
        ("a" * 11, "a" * 9 + "…"),
    ],
)
def test_a_text_is_cut_at_a_word_in_its_second_half(text: str, cut: str) -> None:
    assert shorten(text, 10) == cut


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a b", "'a b'"),
        ("plain", "plain"),
        ("a`b", r"$'a\x60b'"),
        ("a\nb9", r"$'a\x0ab9'"),
        ("a\u2800", r"$'a\xe2\xa0\x80'"),
        ("é`", r"$'\xc3\xa9\x60'"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "PATH"),
    ],
)
def test_a_word_of_a_command_has_no_backtick_and_nothing_invisible(text: str, word: str) -> None:
    assert shell_word(text) == word


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain `text`", "plain `text`"),
        ("a\x1bb", r"a\x1bb"),
        ("é\u2800", r"é\x2800"),
        ("é\u202e", r"é\x202e"),
    ],
)
def test_what_is_invisible_is_shown_as_its_number(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_message_of_ours_has_one_line_of_at_most_a_thousand_characters() -> None:
    assert one_line("a\n b") == "a b"
    assert one_line("x" * 1_000) == "x" * 1_000
    assert one_line("x" * 1_001) == "x" * 999 + "…"


@pytest.mark.parametrize(
    ("char", "escaped"),
    [
        ("\u2028", r"\u2028"),
        ("\x07", r"\u0007"),
        ("\U000e0001", r"\udb40\udc01"),
        ("\ud800", r"\ud800"),
    ],
)
def test_a_character_is_escaped_as_json_does(char: str, escaped: str) -> None:
    assert escape_character(char) == escaped
