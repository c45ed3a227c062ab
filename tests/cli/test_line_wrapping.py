"""At a terminal sentences are broken between words; commands and paths never; a pipe gets all."""

from __future__ import annotations

import io
import os
import pty
import struct
import termios
from collections.abc import Iterator
from fcntl import ioctl
from typing import TextIO

import pytest

from moot.surfaces.terminal.listing import wrapped


@pytest.fixture
def narrow() -> Iterator[TextIO]:
    """A terminal of 20 columns."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 9, 20, 0, 0))
    with open(theirs, "w", encoding="utf-8") as stream:
        yield stream
    os.close(ours)


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("short", ["short"]),
        ("", [""]),
        ("exactly twenty wide.", ["exactly twenty wide."]),
        ("a sentence that does not fit", ["a sentence that does", "  not fit"]),
        ("    indented and too long", ["    indented and too", "    long"]),
        ("type `moot run --adopt alice` then", ["type", "  `moot run --adopt alice`", "  then"]),
        ("(`moot a b c d e f g h i j k`); x", ["(`moot a b c d e f g h i j k`);", "  x"]),
        ("/a/path/that/is/longer/than/it", ["/a/path/that/is/longer/than/it"]),
        ("a ` that stands alone here", ["a ` that stands", "  alone here"]),
        ("\x1b[31merror\x1b[0m [code] fits.", ["\x1b[31merror\x1b[0m [code] fits."]),
    ],
)
def test_lines_end_where_the_terminal_does(narrow: TextIO, line: str, lines: list[str]) -> None:
    assert list(wrapped(line, narrow)) == lines


def test_a_cell_goes_on_below_itself(narrow: TextIO) -> None:
    assert list(wrapped("key    a value that is long", narrow, " " * 7)) == [
        "key    a value that",
        "       is long",
    ]


def test_no_word_is_lost(narrow: TextIO) -> None:
    text = "one `two three` four " * 9
    assert " ".join(wrapped(text, narrow)).split() == text.split()


def test_into_a_pipe_all_is_written_as_it_is() -> None:
    line = "a sentence that does not fit into twenty columns at all"
    assert list(wrapped(line, io.StringIO())) == [line]
