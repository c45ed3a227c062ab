"""Which streams others wrote to just now: there a command lines up before it is decided.

Deciding first and being overtaken costs a decision, a signature and an exchange for nothing; on a
stream that nobody else wants, lining up would cost an exchange for nothing. What was seen a moment
ago says which of the two is likely.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from moot.keeper.questions import News

CROWDED_SECONDS: Final = 1.0


class CrowdedStreams:
    """One process's memory of the streams on which it met others."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def note(self, streams: Iterable[str], news: News) -> None:
        """These streams were waited for; those that others had moved meanwhile are crowded, and all
        of them if somebody else's turn had to end first."""
        until = time.monotonic() + CROWDED_SECONDS
        if news.has_turn is False:
            self._until.update(dict.fromkeys(streams, until))
            return
        moved = {stream for stream, *_ in news.records}
        self._until.update((stream, until) for stream in streams if stream in moved)

    def among(self, streams: Iterable[str]) -> list[str]:
        """All of the streams if one of them is crowded, else none."""
        if not self._until:
            return []
        wanted, now = list(streams), time.monotonic()
        self._until = {stream: until for stream, until in self._until.items() if until > now}
        return wanted if any(stream in self._until for stream in wanted) else []
