"""Text that another party chose, and how Moot quotes it in its own sentences.

A path, a branch, a work id, a subject or a plan is data, never an instruction: a model must not
take a colleague's text for Moot's. Fields of results that may contain such a text have the type
`Quoted`, so that every surface can mark them. A sentence for a model has the type `OwnText`: `say`
makes it and quotes every value that is not `OwnText` itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NewType

Quoted = NewType("Quoted", str)

# Characters that Python calls printable but that show nothing: with one, two names look the same.
# Grapheme joiner, Hangul fillers, Khmer inherent vowels, the Braille blank.
BLANK_LETTERS: Final = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
MOST_CHARACTERS: Final = 120
MOST_IN_COMMAND: Final = 200
# A path, a folder (`src/*`), an id or a resource (`port:3000`) of these characters needs no quotes:
# without a space it cannot be read as a sentence.
_PLAIN: Final = re.compile(r"(?!moot:)(?:[a-z]{1,20}:)?[A-Za-z0-9_./@+-]{1,100}\*?")


class OwnText(str):
    """Text by Moot in which every part that another party chose is quoted."""

    __slots__ = ()


def quote_optional(text: str | None) -> Quoted | None:
    """Mark a text as chosen by another party, if there is one."""
    return None if text is None else Quoted(text)


def say(template: str, **values: str | int) -> OwnText:
    """Fill in `template`, a text by Moot; quote values that are neither `OwnText` nor numbers."""
    safe = {name: _make_safe(value) for name, value in values.items()}
    return OwnText(template.format(**safe))


def join(separator: str, parts: Iterable[OwnText]) -> OwnText:
    """Join the parts that are not empty."""
    return OwnText(separator.join(filter(None, parts)))


def _make_safe(value: str | int) -> str | int:
    return value if isinstance(value, OwnText | int) else quote_name(value)


def quote(text: str, most: int = MOST_CHARACTERS) -> OwnText:
    """Return the text in quotation marks, shortened to one line, invisible characters escaped.

    A backtick becomes an apostrophe: it could begin or end the code span of a nearby command.
    """
    line = shorten(" ".join(text.split()), most).replace("`", "'")
    shown = "".join(map(_escape, line))
    return OwnText(f'"{shown}"')


def quote_name(text: str) -> OwnText:
    """Return a path, branch or id, quoted unless it has only plain characters."""
    return OwnText(text) if _PLAIN.fullmatch(text) else quote(text)


def quote_names(names: Iterable[str]) -> OwnText:
    """Return the names, separated by commas."""
    return OwnText(", ".join(map(quote_name, names)))


def quote_lines(text: str) -> OwnText:
    """Return a text with `> ` before each line; every kind of line break counts."""
    return OwnText("\n".join(f"> {visible(line)}" for line in text.splitlines()))


def shorten(text: str, most: int) -> str:
    """Shorten the text to at most `most` characters, at a word if possible; `…` marks the cut."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    at_word = cut.rpartition(" ")[0]
    return f"{at_word if len(at_word) > most // 2 else cut}…"


def shell_word(text: str, instead: str = "PATH") -> OwnText:
    """Return the text as one shell word that can be shown inside backticks.

    Backticks, line breaks and invisible characters are escaped in the `$'...'` form of bash and
    zsh. If the text is too long to show, return the placeholder `instead`.
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
    """Return a message by Moot on one line. Its parts are already quoted."""
    return OwnText(visible(shorten(" ".join(text.split()), most)))


def visible(text: str) -> str:
    """Return the text with control and invisible characters escaped, so that no terminal acts on
    them."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if is_visible(char) else f"\\x{ord(char):02x}" for char in text)


def is_visible(text: str) -> bool:
    return text.isprintable() and not any(char in BLANK_LETTERS for char in text)


def _escape(char: str) -> str:
    """Escape a character as JSON does, and invisible characters too."""
    if char in '"\\':
        return f"\\{char}"
    return char if is_visible(char) else escape_character(char)


def escape_character(char: str) -> str:
    """Return the character as JSON escapes it; this works for a lone surrogate, too."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))


def plural(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 event`, `2 events`. Pass `many` for irregular plurals."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
