"""Whose turn it is on a stream: lines that were overtaken, or write a file as well, line up.

For fairness alone: what is recorded is safe without it. Among those who wait the next is of the
machine that had its turn longest ago, so that one with many lines, or one that asks again and
again, keeps nobody out. A turn is short and cannot be made longer; a few commands may follow each
other in it, for passing it on takes longer than most of them. Whoever's turn has come is woken
alone: with sixteen waiting, waking all of them for each turn took longer than the turns. Whoever is
next can be told, to read what is new while it waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Final

TURN_SECONDS: Final = 0.5
# So many commands may follow each other in one turn: the same for all, so that all get as much.
MOST_IN_A_TURN: Final = 8
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
        self.has_come = False
        self.is_next = False  # whoever has the turn now is the last one before
        self.wants_early = False  # to be woken when it is next, and not only when it has come
        self.is_woken = threading.Event()

    @property
    def is_done(self) -> bool:
        return self.has_come or (self.is_next and self.wants_early)


class Turns:
    """Threads may share it. `who` is a line, `machine` the number of whose line it is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, tuple[object, float]] = {}  # stream -> who, until when
        self._waiting: list[_Waiting] = []
        # who may go on in its turn -> how many commands it has recorded in it
        self._kept: dict[object, int] = {}
        self._number = 0
        self._served: dict[int, int] = {}  # machine -> when it had its last turn, by number

    def take(
        self, who: object, machine: int, streams: Sequence[str], *, early: bool = False
    ) -> bool:
        """Wait for one's turn; then nobody else moves these streams for a moment. False if it has
        not come in time; with `early` also if one is only next, and has to come again: its place
        in the line stays its own."""
        with self._lock:
            if self._has(who, streams):  # it has come since one was told early
                return True
        return self._line_up(who, machine, streams, holds=True, early=early)

    def wait(self, who: object, machine: int, streams: Sequence[str]) -> None:
        """Wait until nobody else has them, and nobody who waits comes before."""
        with self._lock:
            if not self._held or self._has(who, streams):
                return
        self._line_up(who, machine, streams, holds=False)

    def keep(self, who: object) -> bool:
        """Something was recorded in this turn. True if more may follow: then whoever has it either
        goes on at once, or it is taken away with `release`."""
        with self._lock:
            count = self._kept.get(who, 0) + 1
            is_held = any(holder is who for holder, _ in self._held.values())
            if not is_held or count >= MOST_IN_A_TURN:
                return False
            self._kept[who] = count
            return True

    def is_kept(self, who: object) -> bool:
        return who in self._kept

    def release(self, who: object) -> None:
        """It has no turn, and no place in the line."""
        with self._lock:
            self._kept.pop(who, None)
            was_waiting = len(self._waiting)
            self._waiting = [one for one in self._waiting if one.who is not who]
            held = {name: held for name, held in self._held.items() if held[0] is not who}
            if len(held) < len(self._held) or len(self._waiting) < was_waiting:
                self._held = held
                self._let_in()

    def _line_up(
        self,
        who: object,
        machine: int,
        streams: Sequence[str],
        *,
        holds: bool,
        early: bool = False,
    ) -> bool:
        end = time.monotonic() + WAIT_SECONDS
        with self._lock:
            mine = self._enter(who, machine, streams, holds)
            mine.wants_early = early
            mine.is_woken.clear()
            is_behind = len(self._waiting) > 1 and any(name in self._held for name in streams)
            if not is_behind:
                self._let_in()
        while not mine.is_done:
            now = time.monotonic()
            if now >= end:
                break
            # A turn whose holder died is over by itself; somebody has to look.
            if not mine.is_woken.wait(min(end - now, TURN_SECONDS)):
                with self._lock:
                    self._let_in()
        if not mine.is_done:
            with self._lock:
                if mine in self._waiting:
                    self._waiting.remove(mine)
                    self._let_in()
        return mine.has_come

    def _enter(self, who: object, machine: int, streams: Sequence[str], holds: bool) -> _Waiting:
        """One's place in the line: the one that was kept, or a new one at its end."""
        for one in self._waiting:
            if one.who is who and one.streams == frozenset(streams) and one.holds is holds:
                return one
        self._number += 1
        mine = _Waiting(self._number, who, machine, streams, holds)
        self._waiting.append(mine)
        return mine

    def _has(self, who: object, streams: Sequence[str]) -> bool:
        return all(name in self._held and self._held[name][0] is who for name in streams)

    def _let_in(self) -> None:
        """Wake everyone whose turn it is now, and whoever comes after them and wants to know."""
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
                one.has_come = True
            else:
                one.is_next = one.streams.isdisjoint(wanted_before)
                wanted_before |= one.streams
            if one.is_done:
                one.is_woken.set()

    def _is_turn_of(self, one: _Waiting, wanted_before: set[str]) -> bool:
        holders = [self._held[name][0] for name in one.streams if name in self._held]
        if any(holder is one.who for holder in holders):
            return True
        return not holders and one.streams.isdisjoint(wanted_before)

    def _rank(self, waiting: _Waiting) -> tuple[int, int]:
        return self._served.get(waiting.machine, 0), waiting.number
