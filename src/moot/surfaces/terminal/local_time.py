"""Times for a person at a terminal: short, and in local time.

In a pipe or a file, in JSON and with `--utc` they stay as on record: in full, in UTC.
"""

from __future__ import annotations

import os
import re
import sys
from datetime import UTC, datetime
from typing import Final

from moot.core.clock import MONTHS

VARIABLE: Final = "MOOT_UTC"
_ON_RECORD: Final = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z")
# What `shorten` makes of a time.
SHORT: Final = re.compile(r"(?:\d{4} )?(?:[A-Z][a-z]{2} [ \d]\d )?\d\d:\d\d\b")


def in_local_time(text: str) -> str:
    """Replace each recorded time in the text by short local time, if a person reads it."""
    if "T" not in text or os.environ.get(VARIABLE) or not sys.stdout.isatty():
        return text
    now = datetime.now().astimezone()
    return _ON_RECORD.sub(lambda found: _localize(found[0], now), text)


def _localize(text: str, now: datetime) -> str:
    try:
        return shorten(datetime.fromisoformat(text).astimezone(now.tzinfo), now)
    except (ValueError, OverflowError):
        return text


def shorten(moment: datetime, now: datetime) -> str:
    """Return `16:42` for today, `Feb 18 16:42` for this year, else also the year."""
    clock = f"{moment.hour:02}:{moment.minute:02}"
    if moment.date() == now.date():
        return clock
    day = f"{MONTHS[moment.month - 1]} {moment.day:2} {clock}"
    return day if moment.year == now.year else f"{moment.year} {day}"


def span_since(text: str | None, now_millis: int) -> str:
    """Return how long ago a recorded time is: `8 s`, `3 min`, `5 h`, `2 d`; `-` for None."""
    if text is None:
        return "-"
    then = datetime.fromisoformat(text)
    seconds = max(0, round(now_millis / 1000 - then.replace(tzinfo=UTC).timestamp()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def short_duration(seconds: float) -> str:
    """Return a duration in words: `8 s`, `2 min 5 s`, `3 h 20 min`."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    if not minutes:
        return f"{whole} s"
    hours, left = divmod(minutes, 60)
    return f"{minutes} min {rest} s" if not hours else f"{hours} h {left} min"
