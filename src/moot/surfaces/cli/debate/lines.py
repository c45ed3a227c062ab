"""Lines that several debate commands print, and how they read a number."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from moot.core.text import plural

if TYPE_CHECKING:
    from moot.api.debates.writing import DebateProgress

MAX_CHARACTERS = 160
STATES = {
    "not-started": "not started",
    "active": "in progress",
    "entry-open": "an entry is being written",
    "waiting-human": "timed out; waits for its operator",
    "ended:consensus": "ended by consensus",
    "ended:deadlock": "ended in deadlock: everyone deferred",
    "ended:max-rounds": "ended after the last round",
    "ended:closed-by-operator": "closed by its operator",
}


def count_entries(count: int) -> str:
    return plural(count, "entry", "entries")


def shorten(text: str) -> str:
    """Cut a text to one readable line; the file has all of it."""
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"


def progress_lines(progress: DebateProgress, done: str = "written") -> Iterable[str]:
    yield f"{count_entries(len(progress.entries))} {done}; {STATES[progress.state]}"
    if progress.next:
        yield f"next: {progress.next}, until {progress.deadline}"


def restored_line(file: str, damage: str) -> str:
    """Say that a lost or changed file was restored from its record."""
    return f"{file} was {damage.replace('-', ' ')}: it was restored from the record"


def state_line(after: dict[str, Any]) -> str:
    """Describe the state of a session after a run."""
    score = "no score" if after["score"] is None else f"score {after['score']:.2f}"
    sides = ", ".join(
        f"{name}: {', '.join(after[key])}"
        for key, name in (("approvers", "approve"), ("rejecters", "reject"), ("neutral", "neutral"))
        if after[key]
    )
    return f"round {after['round']}, {after['state']}, {score}{f' ({sides})' if sides else ''}"


def read_share(text: str) -> Decimal:
    """Read a decimal from 0 to 1, exactly as typed."""
    from moot.api.debates.writing import DECIMAL_PATTERN

    if not DECIMAL_PATTERN.fullmatch(text) or Decimal(text) > 1:
        raise click.BadParameter(f"{text!r} is not a number from 0.0 to 1.0")
    return Decimal(text)
