"""A run in progress: a table on a terminal, plain lines elsewhere; both on standard error.

It shows who is asked, in which round, each answer, how each call ended and the cost so far. The
table is redrawn, with a running clock. Scripted participants are labelled.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from moot.api.runs.limits import (
    NO_COST,
    CallEnding,
    CallOutcome,
    Cost,
    Nature,
    ParticipantKind,
    in_words,
)
from moot.surfaces.terminal.answer import say_aside, visible
from moot.surfaces.terminal.local_time import short_duration
from moot.usage.telemetry.switch import started_telemetry

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

    from moot.api.runs.limits import Due, Nature, Standing


def call_place(what: str, subject: str) -> str:
    """Return `vote (rep_2: version 1)`, or only the subject if it already names the act."""
    plain = what.replace("_", " ")
    return subject if plain in subject else f"{plain} ({subject})"


MOST_DETAIL = 160


@contextmanager
def watching(title: str, patience: str = "") -> Iterator[Any]:
    """Show the run as long as it takes (AGT-080).

    `patience` is shown while the run waits for a turn to time out: it says what else the user can
    do.
    """
    telemetry = started_telemetry()
    with _watching_for_person(title, patience) as watch:
        if telemetry is None:
            yield watch
            return
        from moot.usage.telemetry.spans import ParticipantSpans

        yield ParticipantSpans(telemetry, watch)


@contextmanager
def _watching_for_person(title: str, patience: str) -> Iterator[Lines | Board]:
    if not sys.stderr.isatty():
        yield Lines(patience)
        return

    board = Board(title, patience)
    try:
        yield board
    finally:
        board.close()


def ending_line(outcome: CallOutcome) -> str:
    """Describe one call in one line: the answer, or what failed."""
    place = visible(call_place(outcome.what, outcome.subject))
    line = f"{outcome.agent}: {place}: {outcome.ending.value}"
    cost = f" [{in_words(outcome.cost)}]" if outcome.cost.calls else ""
    if outcome.ending is CallEnding.ANSWERED:
        stance, words = visible(outcome.stance), visible(_cut(outcome.words))
        said = ", ".join(filter(None, (stance, words)))
        return f"{line}{cost}{f': {said}' if said else ''}"
    more = f" ({visible(_cut(outcome.detail))})" if outcome.detail else ""
    return f"{line}{more}{cost}"


def _cut(text: str) -> str:
    return text if len(text) <= MOST_DETAIL else f"{text[: MOST_DETAIL - 1]}…"


class Lines:
    """Plain lines for logs and pipes."""

    def __init__(self, patience: str = "") -> None:
        self._patience = patience

    def entitle(self, title: str, patience: str) -> None:
        """Set the hint for waiting; lines have no title."""
        del title
        self._patience = patience

    def on_asking(self, due: Due, nature: Nature, attempt: int) -> None:
        again = ", second try" if attempt > 1 else ""
        place = call_place(due.what, due.subject)
        _say(f"asking {due.who}, {visible(nature.label)}: {visible(place)}{again}")

    def on_call_ended(self, due: Due, seconds: float) -> None:
        """Do nothing: `on_outcome` prints the answer."""

    def on_outcome(self, outcome: CallOutcome) -> None:
        _say(ending_line(outcome))

    def on_progress(self, due: Due, standing: Standing) -> None:
        """Do nothing: the line of the call shows it."""

    def on_waiting(self, due: Due, seconds: float) -> None:
        _say(f"waiting {seconds:.0f} s until {due.who}'s turn times out")
        if self._patience:
            _say(self._patience)
            self._patience = ""


def _say(line: str) -> None:
    say_aside(line)  # standard output is for the answer


REDRAWN_A_SECOND: Final = 4
MOST_SHOWN: Final = 400
_HEADS: Final = ("participant", "what it is", "now", "stance", "cost")


class BoardRow:
    """One participant on the board. `since` is when it was asked; None if no answer is awaited."""

    def __init__(self, nature: Nature) -> None:
        self.nature = nature
        self.words = ""
        self.stance = ""
        self.since: float | None = None
        self.attempt = 1
        self.cost: Cost = NO_COST

    def now(self, at: float) -> str:
        since = self.since  # another thread may end it meanwhile
        if since is None:
            return self.words
        again = ", second try" if self.attempt > 1 else ""
        return f"thinking{again} … {short_duration(at - since)}"


class Board:
    """A live table for a person at a terminal."""

    def __init__(self, title: str, patience: str = "") -> None:
        self._title = title
        self._patience = patience
        self._began = time.monotonic()
        self._rows: dict[str, BoardRow] = {}
        self._place = ""
        self._until: float | None = None
        self._typing: set[str] = set()
        self._lock = threading.Lock()
        self._live: Live | None = None

    def entitle(self, title: str, patience: str) -> None:
        """Set the title, known only now: a question gets its id when it is recorded."""
        self._title, self._patience = title, patience

    def on_asking(self, due: Due, nature: Nature, attempt: int) -> None:
        row = self._rows.setdefault(due.who, BoardRow(nature))
        row.since, row.attempt = time.monotonic(), attempt
        self._place, self._until = call_place(due.what, due.subject), None
        if nature.kind is ParticipantKind.HUMAN:
            self._typing.add(due.who)
        self._show()

    def on_call_ended(self, due: Due, seconds: float) -> None:
        """Update the row only: this is another thread, and the clock's thread redraws."""
        row = self._rows[due.who]
        row.words, row.since = f"answered after {short_duration(seconds)}", None

    def on_outcome(self, outcome: CallOutcome) -> None:
        self._typing.discard(outcome.agent)
        row = self._rows[outcome.agent]
        row.since, row.cost = None, row.cost + outcome.cost
        if outcome.ending is CallEnding.ANSWERED:
            row.words = outcome.words or outcome.subject
            row.stance = outcome.stance or row.stance
        else:
            row.words = f"{outcome.ending.value}: {outcome.detail}"
        self._show()

    def on_progress(self, due: Due, standing: Standing) -> None:
        self._place = _where(due, standing())
        self._show()

    def on_waiting(self, due: Due, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        waiting = f"waiting until {due.who}'s turn times out"
        self._place = f"{waiting}. {self._patience}".strip(" .")
        self._show()

    def close(self) -> None:
        with self._lock:
            live, self._live = self._live, None
        if live is not None:
            live.stop()

    def _show(self) -> None:
        """Start the table, unless a person is typing: redrawing it would overwrite their text."""
        if self._typing:
            self.close()
            return
        with self._lock:
            if self._live is None:
                self._live = _started(self)

    def __rich__(self) -> Table:
        """Return the current table; the clock's own thread draws it, so it takes no lock."""
        from rich.markup import escape
        from rich.table import Table

        at = time.monotonic()
        table = Table(
            title=escape(visible(self._title)), caption=escape(visible(self._caption(at)))
        )
        for head in _HEADS:
            is_text = head == "now"
            table.add_column(head, no_wrap=is_text, overflow="ellipsis" if is_text else "fold")
        for name, row in list(self._rows.items()):
            now = row.now(at)[:MOST_SHOWN]
            cells = (name, row.nature.label, now, row.stance, in_words(row.cost))
            table.add_row(*(escape(visible(cell)) for cell in cells))
        return table

    def _caption(self, at: float) -> str:
        left = self._until
        remaining = "" if left is None else f" · {short_duration(max(0.0, left - at))} left"
        return f"{self._place}{remaining} · {short_duration(at - self._began)} so far"


def _started(board: Board) -> Live:
    from rich.console import Console
    from rich.live import Live

    live = Live(board, console=Console(stderr=True), refresh_per_second=REDRAWN_A_SECOND)
    live.start(refresh=True)
    return live


def _where(due: Due, standing: dict[str, Any]) -> str:
    score = standing.get("score")
    place = f"round {standing['round']}" if "round" in standing else due.subject
    return f"{place} · score {score:.2f}" if isinstance(score, float) else place
