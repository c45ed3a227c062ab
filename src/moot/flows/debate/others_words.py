"""Others' words in a session's file: one line in its title, a quotation in its Context (XPR-09).

No line of them can be a heading, a fence or a mark of the protocol, and nothing in them that a
terminal would obey gets into the file.
"""

from __future__ import annotations

from typing import Final

from moot.core.markdown import escape_comments, write_quote

MOST_TITLE: Final = 150


def make_title(text: str) -> str:
    line = " ".join(escape_comments(_printable(text)).split())
    return line if len(line) <= MOST_TITLE else f"{line[: MOST_TITLE - 1]}…"


def quote_lines(text: str) -> str:
    """Inside a quotation from the first line to the last; a blank line must follow it."""
    return write_quote(_printable(text).strip("\n") + "\n")


def _printable(text: str) -> str:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in plain)
