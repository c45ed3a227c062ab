"""A run that is over: its line for people, and the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.core.plural import plural
from moot.surfaces.terminal.answer import DONE, REFUSED, visible

if TYPE_CHECKING:
    from moot.api.runs import RunEnd, RunEnding

INTERRUPTED = 130


def ended_line(ended: RunEnding | RunEnd) -> str:
    """How it ended, after how many turns, and what it cost.

    A run that is `settled` has nothing left to ask; that says nothing of what the vote came to.
    """
    from moot.api.runs import StopReason, in_words

    how = "every turn is taken" if ended.stop is StopReason.SETTLED else ended.stop.value
    detail = f": {visible(ended.detail)}" if ended.detail else ""
    return f"{how}{detail} ({plural(ended.turns, 'turn')}, {in_words(ended.cost)})"


def exit_code(ended: RunEnding | RunEnd) -> int:
    """0 if there was nothing left to do here; 1 if it was stopped before; 130 if interrupted."""
    from moot.api.runs import StopReason

    codes = {
        StopReason.SETTLED: DONE,
        StopReason.WAITING: DONE,
        StopReason.INTERRUPTED: INTERRUPTED,
    }
    return codes.get(ended.stop, REFUSED)
