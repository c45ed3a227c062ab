"""A debate while it is written: each entry in its columns, wrapped; whose turn it is, and how long.

On a terminal the last line is redrawn as time runs; into a pipe a line is written when the turn
passes to another.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from moot.surfaces.cli.debate.lines import in_short
from moot.surfaces.terminal.answer import print_line, visible
from moot.surfaces.terminal.durations import short_duration
from moot.surfaces.terminal.listing import terminal_columns
from moot.surfaces.terminal.status_line import StatusLine

if TYPE_CHECKING:
    from moot.api.debates.proof import DebateTurn
    from moot.api.debates.reading import EntryView

GAP: Final = "  "
# Places, stances and confidences are never wider; names are as wide as they come.
_PLACE: Final = 4
_STANCE: Final = 7
_SURE: Final = 4
_LEAST_TEXT: Final = 24


class WatchView:
    """Prints what is received; `close` takes the last line away."""

    def __init__(self) -> None:
        self._author = 12
        self._told = ""
        self._status = StatusLine()

    def show_entry(self, entry: EntryView) -> None:
        self._status.clear()
        self._author = max(self._author, len(visible(entry.author)))
        for line in entry_lines(entry, self._author, terminal_columns()):
            print_line(line, at_once=True)

    def show_turn(self, turn: DebateTurn) -> None:
        if sys.stderr.isatty():
            self._status.show(turn_line(turn))
        elif turn.next is not None and self._told != (whose := whose_turn(turn)):
            self._told = whose
            print_line(turn_line(turn), at_once=True)

    def close(self) -> None:
        self._status.clear()


def entry_lines(entry: EntryView, author_width: int, columns: int | None) -> Iterator[str]:
    """One entry in its columns; what it says is wrapped under itself where lines have an end."""
    sure = "-" if entry.confidence is None else f"{entry.confidence:g}"
    head = GAP.join(
        (
            f"{entry.round}.{entry.turn}".ljust(_PLACE),
            visible(entry.author).ljust(author_width),
            visible(entry.stance or "-").ljust(_STANCE),
            sure.ljust(_SURE),
        )
    )
    text = visible(in_short(entry.summary))
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
