"""`moot debate verify` and `watch`: the file against its record, and the file as it grows.

`watch` shows each entry in columns, then whose turn it is and how much time is left. On a terminal
the last line is redrawn every moment; into a pipe one line is written for each turn.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.debates import proof
from moot.core.findings import Finding
from moot.surfaces.cli.debate import lines
from moot.surfaces.cli.debate.lines import shorten
from moot.surfaces.terminal.answer import (
    DONE,
    REFUSED,
    UNPROVEN,
    finding_line,
    paint,
    print_line,
    table,
    visible,
)
from moot.surfaces.terminal.derive import Values, derive
from moot.surfaces.terminal.listing import terminal_columns
from moot.surfaces.terminal.local_time import short_duration
from moot.surfaces.terminal.progress import StatusLine
from moot.surfaces.terminal.shell import Shell
from moot.surfaces.terminal.verdict import plain

if TYPE_CHECKING:
    from moot.api.debates.proof import DebateTurn
    from moot.api.debates.reading import EntryView

_VERDICTS = {
    "valid": ("INTACT", "green"),
    "unproven": ("UNPROVEN", "yellow"),
    "truncated": ("CUT SHORT", "red"),
    "tampered": ("CHANGED", "red"),
}


_EXITS = {"valid": DONE, "unproven": UNPROVEN}


@derive("debate.verify", proof.verify, """
    FILE:path
    --trust TRUST  Use this trust file (default: the one in your key folder).
""", exits=lambda verdict: _EXITS.get(verdict.verdict, REFUSED))  # fmt: skip
def verify(verdict: proof.DebateVerdict, file: Path) -> Iterator[str]:
    """Check that every byte of a session file is what its authors signed, or what was observed.

    Moot compares the file with the record in this workspace, and names what was changed, removed,
    inserted or moved, with its line and entry. The exit code is 0 if everything holds, 1 if not, 3
    if the file contains something that the record does not prove. Checking writes nothing.

    Examples:
      moot debate verify api-design.md
      moot debate verify api-design.md --json
    """
    word, colour = _VERDICTS.get(verdict.verdict, (verdict.verdict.upper(), "red"))
    yield f"{paint(word, colour)}: {file}: {verdict.integrity}"
    rows = [
        (name, plain(getattr(verdict, name)))
        for name in ("authenticity", "completeness", "custody")
    ]
    yield from table(rows)
    for finding in verdict.findings:
        yield finding_line(msgspec.convert({**finding, "hint": finding["hint"] or ""}, Finding))


@contextmanager
def _viewing(shell: Shell, _values: Values) -> Iterator[Values]:
    """Show entries and turns as they come, except with --json."""
    if shell.json:
        yield {}
        return
    view = WatchView()
    try:
        yield {"receive": view.show_entry, "receive_turn": view.show_turn}
    finally:
        view.close()


@derive("debate.watch", proof.watch, """
    FILE:path
    --seconds N:0..  Stop after N seconds (0: look once).
""", within=_viewing)  # fmt: skip
def watch(debate: proof.WatchedDebate) -> Iterator[str]:
    """Follow a session as it is written, until it ends: each entry, whose turn, how long is left.

    In a workspace entries by other programs, or by hand, are recorded as observed.

    Examples:
      moot debate watch api-design.md
      moot debate watch api-design.md --seconds 0 --json
    """
    yield lines.STATES[debate.state] + (f"; next: {debate.next}" if debate.next else "")


GAP: Final = "  "
# Places, stances and confidences are never wider; names are as wide as they come.
_PLACE: Final = 4
_STANCE: Final = 7
_SURE: Final = 4
_LEAST_TEXT: Final = 24


class WatchView:
    """Prints entries and turns; `close` removes the status line."""

    def __init__(self) -> None:
        self._author = 12
        self._printed_turn = ""
        self._status = StatusLine()

    def show_entry(self, entry: EntryView) -> None:
        self._status.clear()
        self._author = max(self._author, len(visible(entry.author)))
        for line in entry_lines(entry, self._author, terminal_columns()):
            print_line(line, at_once=True)

    def show_turn(self, turn: DebateTurn) -> None:
        if sys.stderr.isatty():
            self._status.show(turn_line(turn))
        elif turn.next is not None and self._printed_turn != (whose := whose_turn(turn)):
            self._printed_turn = whose
            print_line(turn_line(turn), at_once=True)

    def close(self) -> None:
        self._status.clear()


def entry_lines(entry: EntryView, author_width: int, columns: int | None) -> Iterator[str]:
    """Show one entry in columns; its summary wraps in its own column if the width is known."""
    sure = "-" if entry.confidence is None else f"{entry.confidence:g}"
    head = GAP.join(
        (
            f"{entry.round}.{entry.turn}".ljust(_PLACE),
            visible(entry.author).ljust(author_width),
            visible(entry.stance or "-").ljust(_STANCE),
            sure.ljust(_SURE),
        )
    )
    text = visible(shorten(entry.summary))
    room = None if columns is None else columns - len(head) - len(GAP)
    if room is None:
        yield f"{head}{GAP}{text}"
        return
    if room < _LEAST_TEXT:  # a narrow terminal: the text goes below
        yield head.rstrip()
        head, room = " " * _PLACE, max(_LEAST_TEXT, (columns or 0) - _PLACE - len(GAP))
    first, *more = textwrap.wrap(text, room) or [""]
    yield f"{head}{GAP}{first}".rstrip()
    yield from (f"{' ' * len(head)}{GAP}{line}" for line in more)


def whose_turn(turn: DebateTurn) -> str:
    return f"round {turn.round} turn {turn.turn}: {visible(turn.next or 'nobody')}"


def turn_line(turn: DebateTurn) -> str:
    """`round 2 turn 3: blue-hen, 4 min 10 s left`."""
    left = turn.seconds_left
    if left is None:
        return whose_turn(turn)
    if left < 0:
        return f"{whose_turn(turn)}, {short_duration(-left)} over its time"
    return f"{whose_turn(turn)}, {short_duration(left)} left"
