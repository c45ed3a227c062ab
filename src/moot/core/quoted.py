"""Text that another party chose, and how Moot quotes it in a sentence of its own.

A path, a branch, a work id, a subject or a plan is data to be shown, never an instruction to
follow: a model must not take a colleague's text for Moot's. A result's field that may hold such a
text has the type `Quoted`, so that every surface can mark it. A sentence that reaches a model is
`OwnText`, which only `say` makes: it quotes every value that is not `OwnText` itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NewType

Quoted = NewType("Quoted", str)

# Letters, marks and symbols that show nothing: a name with one of them looks like another name.
# Grapheme joiner, Hangul fillers, Khmer inherent vowels, the blank of Braille.
BLANK_LETTERS: Final = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
MOST_CHARACTERS: Final = 120
MOST_IN_COMMAND: Final = 200
# A path, a folder (`src/*`), an id or a resource (`port:3000`) of these letters is shown as it is:
# it has no blank, so it cannot be read as a sentence.
_PLAIN: Final = re.compile(r"(?!moot:)(?:[a-z]{1,20}:)?[A-Za-z0-9_./@+-]{1,100}\*?")


class OwnText(str):
    """Text that Moot wrote, in which every part that another party chose is quoted."""

    __slots__ = ()


def quote_optional(text: str | None) -> Quoted | None:
    """The same for a text that may be missing."""
    return None if text is None else Quoted(text)


def say(template: str, **values: str | int) -> OwnText:
    """Fill in `template`, a text of ours. Values that are not `OwnText` are quoted as names."""
    safe = {name: _make_safe(value) for name, value in values.items()}
    return OwnText(template.format(**safe))


def join(separator: str, parts: Iterable[OwnText]) -> OwnText:
    """Join those that are not empty."""
    return OwnText(separator.join(filter(None, parts)))


def _make_safe(value: str | int) -> str | int:
    return value if isinstance(value, OwnText | int) else quote_name(value)


def quote(text: str, most: int = MOST_CHARACTERS) -> OwnText:
    """Return the text in quotation marks, on one line, cut at a word, nothing in it invisible.

    A backtick becomes an apostrophe: it would begin or end the code span of a command near it.
    """
    line = shorten(" ".join(text.split()), most).replace("`", "'")
    shown = "".join(map(_escape, line))
    return OwnText(f'"{shown}"')


def quote_name(text: str) -> OwnText:
    """Return a path, branch or id: as it is if it consists of plain letters, else quoted."""
    return OwnText(text) if _PLAIN.fullmatch(text) else quote(text)


def quote_names(names: Iterable[str]) -> OwnText:
    """Return the names one after the other, with commas."""
    return OwnText(", ".join(map(quote_name, names)))


def quote_lines(text: str) -> OwnText:
    """Return a longer text with `> ` before each of its lines, however they are broken."""
    return OwnText("\n".join(f"> {visible(line)}" for line in text.splitlines()))


def shorten(text: str, most: int) -> str:
    """Cut the text at a word, so that with its mark it has at most `most` characters."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    at_word = cut.rpartition(" ")[0]
    return f"{at_word if len(at_word) > most // 2 else cut}…"


def shell_word(text: str, instead: str = "PATH") -> OwnText:
    """Return the text as one word of a shell command inside backticks.

    What would end the code span or break the line is escaped as bash and zsh read it. A word that
    is too long to be shown becomes the placeholder `instead`.
    """
    if len(text) > MOST_IN_COMMAND:
        return OwnText(instead)
    if "`" not in text and is_visible(text):
        from shlex import quote as quote_for_shell

        return OwnText(quote_for_shell(text))
    data = text.encode("utf-8", "surrogateescape")
    plain = "".join(chr(b) if chr(b).isalnum() and b < 128 else f"\\x{b:02x}" for b in data)
    return OwnText(f"$'{plain}'")


def one_line(text: str, most: int = 1_000) -> OwnText:
    """Return a message of ours on one line. Its parts were quoted where it was made."""
    return OwnText(visible(shorten(" ".join(text.split()), most)))


def visible(text: str) -> str:
    """Return the text with control and invisible characters shown, so that nothing obeys them."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if is_visible(char) else f"\\x{ord(char):02x}" for char in text)


def is_visible(text: str) -> bool:
    return text.isprintable() and not any(char in BLANK_LETTERS for char in text)


def _escape(char: str) -> str:
    """As JSON does, and invisible characters too."""
    if char in '"\\':
        return f"\\{char}"
    return char if is_visible(char) else escape_character(char)


def escape_character(char: str) -> str:
    """Return the character as JSON escapes it: half a character has such a form too."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))
