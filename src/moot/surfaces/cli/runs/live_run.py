"""A run while it goes on: a table on a terminal, plain lines elsewhere; both on standard error.

Who is asked, in which round, how it ended, what it has cost so far. Scripted voices are labelled.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from moot.api.runs import NO_COST, CallEnding, CallOutcome, Cost, Nature, ParticipantKind, in_words
from moot.surfaces.terminal.answer import say_aside, visible

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

    from moot.api.runs import Due, Standing

MOST_DETAIL = 160


@contextmanager
def watching(title: str, patience: str = "") -> Iterator[Lines | Board]:
    """Something that looks on, for as long as the run takes (AGT-080).

    `patience` is for whoever has to wait for a turn's time to be up: what else can be done.
    """
    if not sys.stderr.isatty():
        yield Lines(patience)
        return
    board = Board(title, patience)
    try:
        yield board
    finally:
        board.close()


def ending_line(outcome: CallOutcome) -> str:
    """One call in one line; a failure says what failed."""
    place = visible(_place(outcome.what, outcome.subject))
    said = f"{outcome.agent}: {place}: {outcome.ending.value}"
    more = f" ({visible(outcome.detail[:MOST_DETAIL])})" if outcome.detail else ""
    cost = f" [{in_words(outcome.cost)}]" if outcome.cost.calls else ""
    return f"{said}{more}{cost}"


def _place(what: str, subject: str) -> str:
    """`vote (rep_2: version 1)`; a subject that names what is asked stands alone."""
    plain = what.replace("_", " ")
    return subject if plain in subject else f"{plain} ({subject})"


class Lines:
    """For logs and pipes."""

    def __init__(self, patience: str = "") -> None:
        self._patience = patience

    def entitle(self, title: str, patience: str) -> None:
        """What it is about is known only now; lines have no title."""
        del title
        self._patience = patience

    def on_asking(self, due: Due, nature: Nature, attempt: int) -> None:
        again = " once more" if attempt > 1 else ""
        place = _place(due.what, due.subject)
        _say(f"asking {due.who}, {visible(nature.label)}: {visible(place)}{again}")

    def on_outcome(self, outcome: CallOutcome) -> None:
        _say(ending_line(outcome))

    def on_progress(self, due: Due, standing: Standing) -> None:
        """The line of the call has said it."""

    def on_waiting(self, due: Due, seconds: float) -> None:
        _say(f"waiting {seconds:.0f} s, until the time of {due.who}'s turn is up")
        if self._patience:
            _say(self._patience)
            self._patience = ""


def _say(line: str) -> None:
    say_aside(line)  # stdout is the answer's


class Row:
    """One participant on the board."""

    def __init__(self, nature: Nature) -> None:
        self.nature = nature
        self.now = ""
        self.cost: Cost = NO_COST


class Board:
    """For a person who watches."""

    def __init__(self, title: str, patience: str = "") -> None:
        self._title = title
        self._patience = patience
        self._rows: dict[str, Row] = {}
        self._place = ""
        self._typing: set[str] = set()
        self._lock = threading.Lock()
        self._live: Live | None = None

    def entitle(self, title: str, patience: str) -> None:
        """What it is about is known only now: a question gets its id when it is recorded."""
        self._title, self._patience = title, patience

    def on_asking(self, due: Due, nature: Nature, attempt: int) -> None:
        row = self._rows.setdefault(due.who, Row(nature))
        row.now = "speaking …" if attempt == 1 else "speaking once more …"
        self._place = _place(due.what, due.subject)
        if nature.kind is ParticipantKind.HUMAN:
            self._typing.add(due.who)
        self._show()

    def on_outcome(self, outcome: CallOutcome) -> None:
        self._typing.discard(outcome.agent)
        row = self._rows[outcome.agent]
        row.cost += outcome.cost
        good = outcome.ending is CallEnding.ANSWERED
        row.now = outcome.subject if good else f"{outcome.ending.value}: {outcome.detail[:60]}"
        self._show()

    def on_progress(self, due: Due, standing: Standing) -> None:
        self._place = _where(due, standing())
        self._show()

    def on_waiting(self, due: Due, seconds: float) -> None:
        told = f"waiting {seconds:.0f} s: the time of {due.who}'s turn is not up"
        self._place = f"{told}. {self._patience}".strip(" .")
        self._show()

    def close(self) -> None:
        with self._lock:
            if self._live is not None:
                self._live.stop()
            self._live = None

    def _show(self) -> None:
        """A table that is redrawn would write over what a person is typing: then there is none."""
        if self._typing:
            self.close()
            return
        with self._lock:
            if self._live is None:
                self._live = _started()
            self._live.update(self._table())

    def _table(self) -> Table:
        from rich.markup import escape
        from rich.table import Table

        table = Table(title=escape(visible(self._title)), caption=escape(visible(self._place)))
        for head in ("participant", "what it is", "now", "cost"):
            table.add_column(head)
        for name, row in self._rows.items():
            cells = (name, row.nature.label, row.now, in_words(row.cost))
            table.add_row(*(escape(visible(cell)) for cell in cells))
        return table


def _started() -> Live:
    from rich.console import Console
    from rich.live import Live

    live = Live(console=Console(stderr=True), refresh_per_second=8)
    live.start()
    return live


def _where(due: Due, standing: dict[str, Any]) -> str:
    score = standing.get("score")
    place = f"round {standing['round']}" if "round" in standing else due.subject
    return f"{place} · score {score:.2f}" if isinstance(score, float) else place
