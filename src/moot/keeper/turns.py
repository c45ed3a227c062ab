"""Whose turn it is on a stream: lines that were overtaken, or write a file as well, line up.

For fairness alone: what is recorded is safe without it. Among those who wait the next is of the
machine that had its turn longest ago, so that one with many lines, or one that asks again and
again, keeps nobody out. A turn is short and cannot be made longer; at its beginning several
commands may follow each other, for passing it on takes longer than most of them. Whoever's turn has
come is woken alone: with sixteen waiting, waking all of them for each turn took longer than the
turns.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Final

TURN_SECONDS: Final = 0.5
# For so long after its turn began a line may go on with another command.
SEVERAL_SECONDS: Final = 0.02
# Shorter than a machine waits for an answer: whoever has waited in vain asks once more.
WAIT_SECONDS: Final = 4.0


class _Waiting:
    """Somebody who waits for streams; `number` is the order in which they came. `holds`: once it
    is their turn nobody else may move these streams for a moment."""

    def __init__(
        self, number: int, who: object, machine: int, streams: Sequence[str], holds: bool
    ) -> None:
        self.number = number
        self.who = who
        self.machine = machine
        self.streams = frozenset(streams)
        self.holds = holds
        self.has_come = threading.Event()


class Turns:
    """Threads may share it. `who` is a line, `machine` the number of whose line it is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, tuple[object, float]] = {}  # stream -> who, until when
        self._waiting: list[_Waiting] = []
        self._kept: set[object] = set()  # who has recorded something, and may go on
        self._number = 0
        self._served: dict[int, int] = {}  # machine -> when it had its last turn, by number

    def take(self, who: object, machine: int, streams: Sequence[str]) -> bool:
        """Wait for one's turn; then nobody else moves these streams for a moment. False if it has
        not come in time."""
        return self._line_up(who, machine, streams, holds=True)

    def wait(self, who: object, machine: int, streams: Sequence[str]) -> None:
        """Wait until nobody else has them, and nobody who waits comes before."""
        with self._lock:
            if not self._held or self._has(who, streams):
                return
        self._line_up(who, machine, streams, holds=False)

    def keep(self, who: object) -> bool:
        """Something was recorded in this turn. True if there is time for more: then whoever has it
        either goes on at once, or it is taken away with `release`."""
        with self._lock:
            latest = time.monotonic() + TURN_SECONDS - SEVERAL_SECONDS
            ends = [until for holder, until in self._held.values() if holder is who]
            if not ends or min(ends) < latest:
                return False
            self._kept.add(who)
            return True

    def is_kept(self, who: object) -> bool:
        return who in self._kept

    def release(self, who: object) -> None:
        with self._lock:
            self._kept.discard(who)
            if any(holder is who for holder, _ in self._held.values()):
                self._held = {name: held for name, held in self._held.items() if held[0] is not who}
                self._let_in()

    def _line_up(self, who: object, machine: int, streams: Sequence[str], holds: bool) -> bool:
        end = time.monotonic() + WAIT_SECONDS
        with self._lock:
            self._number += 1
            mine = _Waiting(self._number, who, machine, streams, holds)
            is_behind = bool(self._waiting) and any(name in self._held for name in streams)
            self._waiting.append(mine)
            if not is_behind:
                self._let_in()
        while not mine.has_come.is_set():
            now = time.monotonic()
            if now >= end:
                break
            # A turn whose holder died is over by itself; somebody has to look.
            if not mine.has_come.wait(min(end - now, TURN_SECONDS)):
                with self._lock:
                    self._let_in()
        if not mine.has_come.is_set():
            with self._lock:
                if mine in self._waiting:
                    self._waiting.remove(mine)
                    self._let_in()
        return mine.has_come.is_set()

    def _has(self, who: object, streams: Sequence[str]) -> bool:
        return all(name in self._held and self._held[name][0] is who for name in streams)

    def _let_in(self) -> None:
        """Wake everyone whose turn it is now."""
        now = time.monotonic()
        self._held = {name: held for name, held in self._held.items() if held[1] > now}
        wanted_before: set[str] = set()  # by those who wait and come first
        for one in sorted(self._waiting, key=self._rank):
            if self._is_turn_of(one, wanted_before):
                self._waiting.remove(one)
                self._number += 1
                self._served[one.machine] = self._number
                if one.holds:
                    for stream in one.streams:
                        self._held.setdefault(stream, (one.who, now + TURN_SECONDS))
                one.has_come.set()
            else:
                wanted_before |= one.streams

    def _is_turn_of(self, one: _Waiting, wanted_before: set[str]) -> bool:
        holders = [self._held[name][0] for name in one.streams if name in self._held]
        if any(holder is one.who for holder in holders):
            return True
        return not holders and one.streams.isdisjoint(wanted_before)

    def _rank(self, waiting: _Waiting) -> tuple[int, int]:
        return self._served.get(waiting.machine, 0), waiting.number
