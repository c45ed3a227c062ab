"""A run on a terminal: a table that is redrawn, with a clock that moves.

For each participant: what it is, whether it is thinking and for how long, or what it said last in
one line, its stance and its cost.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Final

from moot.api.runs import NO_COST, CallEnding, CallOutcome, Cost, Nature, ParticipantKind, in_words
from moot.surfaces.cli.runs.call_place import call_place
from moot.surfaces.terminal.answer import visible
from moot.surfaces.terminal.durations import short_duration

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

    from moot.api.runs import Due, Standing

REDRAWN_A_SECOND: Final = 4
MOST_SHOWN: Final = 400
_HEADS: Final = ("participant", "what it is", "now", "stance", "cost")


class BoardRow:
    """One participant on the board. `since` is when it was asked; None if it is not thinking."""

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
        again = " once more" if self.attempt > 1 else ""
        return f"thinking{again} … {short_duration(at - since)}"


class Board:
    """For a person who watches."""

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
        """What it is about is known only now: a question gets its id when it is recorded."""
        self._title, self._patience = title, patience

    def on_asking(self, due: Due, nature: Nature, attempt: int) -> None:
        row = self._rows.setdefault(due.who, BoardRow(nature))
        row.since, row.attempt = time.monotonic(), attempt
        self._place, self._until = call_place(due.what, due.subject), None
        if nature.kind is ParticipantKind.HUMAN:
            self._typing.add(due.who)
        self._show()

    def on_heard(self, due: Due, seconds: float) -> None:
        """Nothing is redrawn here: the clock does it, and this is another thread."""
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
        told = f"waiting until the time of {due.who}'s turn is up"
        self._place = f"{told}. {self._patience}".strip(" .")
        self._show()

    def close(self) -> None:
        with self._lock:
            live, self._live = self._live, None
        if live is not None:
            live.stop()

    def _show(self) -> None:
        """A table that is redrawn would write over what a person is typing: then there is none."""
        if self._typing:
            self.close()
            return
        with self._lock:
            if self._live is None:
                self._live = _started(self)

    def __rich__(self) -> Table:
        """The table of this moment; drawn by the clock's own thread, so it takes no lock."""
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
