"""A run while it goes on: a table on a terminal, plain lines elsewhere; both on standard error.

Who is asked, in which round, what was said and how it ended, what it has cost so far. Scripted
voices are labelled.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from moot.api.runs import CallEnding, CallOutcome, in_words
from moot.surfaces.cli.runs.call_place import call_place
from moot.surfaces.telemetry.switch import started_telemetry
from moot.surfaces.terminal.answer import say_aside, visible

if TYPE_CHECKING:
    from moot.api.runs import Due, Nature, Standing
    from moot.surfaces.cli.runs.live_board import Board

MOST_DETAIL = 160


@contextmanager
def watching(title: str, patience: str = "") -> Iterator[Any]:
    """Something that looks on, for as long as the run takes (AGT-080).

    `patience` is for whoever has to wait for a turn's time to be up: what else can be done.
    """
    telemetry = started_telemetry()
    with _watching_for_person(title, patience) as watch:
        if telemetry is None:
            yield watch
            return
        from moot.surfaces.telemetry.participants import ParticipantSpans

        yield ParticipantSpans(telemetry, watch)


@contextmanager
def _watching_for_person(title: str, patience: str) -> Iterator[Lines | Board]:
    if not sys.stderr.isatty():
        yield Lines(patience)
        return
    from moot.surfaces.cli.runs.live_board import Board

    board = Board(title, patience)
    try:
        yield board
    finally:
        board.close()


def ending_line(outcome: CallOutcome) -> str:
    """One call in one line: what was said, or what failed."""
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
    """For logs and pipes."""

    def __init__(self, patience: str = "") -> None:
        self._patience = patience

    def entitle(self, title: str, patience: str) -> None:
        """What it is about is known only now; lines have no title."""
        del title
        self._patience = patience

    def on_asking(self, due: Due, nature: Nature, attempt: int) -> None:
        again = " once more" if attempt > 1 else ""
        place = call_place(due.what, due.subject)
        _say(f"asking {due.who}, {visible(nature.label)}: {visible(place)}{again}")

    def on_heard(self, due: Due, seconds: float) -> None:
        """Its line comes with what it said."""

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
