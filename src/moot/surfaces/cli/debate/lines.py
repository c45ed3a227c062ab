"""What `moot debate` says to a person, and how it reads a number."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from moot.core.text import plural

if TYPE_CHECKING:
    from moot.api.debates.writing import DebateProgress

MOST_SAID = 160
STATES = {
    "not-started": "not started",
    "active": "going on",
    "entry-open": "an entry is being written",
    "waiting-human": "timed out; waits for its operator",
    "ended:consensus": "ended by consensus",
    "ended:deadlock": "ended in deadlock: everyone deferred",
    "ended:max-rounds": "ended after the last round",
    "ended:closed-by-operator": "closed by its operator",
}


def entries(count: int) -> str:
    return plural(count, "entry", "entries")


def in_short(text: str) -> str:
    """As much of it as a line can bear; the file has all of it."""
    return text if len(text) <= MOST_SAID else f"{text[: MOST_SAID - 1]}…"


def moved(progress: DebateProgress, done: str = "written") -> Iterable[str]:
    yield f"{entries(len(progress.entries))} {done}; {STATES[progress.state]}"
    if progress.next:
        yield f"next: {progress.next}, until {progress.deadline}"


def restored(file: str, lost: str) -> str:
    """What had become of a file that was put back from its record."""
    return f"{file} was {lost.replace('-', ' ')}: it was put back from the record"


def standing(after: dict[str, Any]) -> str:
    """Where a session stands after a run, in one line."""
    score = "no score" if after["score"] is None else f"score {after['score']:.2f}"
    sides = ", ".join(
        f"{name}: {', '.join(after[key])}"
        for key, name in (("approvers", "approve"), ("rejecters", "reject"), ("neutral", "neutral"))
        if after[key]
    )
    return f"round {after['round']}, {after['state']}, {score}{f' ({sides})' if sides else ''}"


def number(text: str) -> Decimal:
    """A decimal from 0 to 1, exactly as typed."""
    from moot.api.debates.writing import DECIMAL_PATTERN

    if not DECIMAL_PATTERN.fullmatch(text) or Decimal(text) > 1:
        raise click.BadParameter(f"{text!r} is not a number from 0.0 to 1.0")
    return Decimal(text)
