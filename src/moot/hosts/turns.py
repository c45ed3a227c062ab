"""Whose turn it is on a stream: connections that were overtaken, or write a file as well, queue.

For fairness alone: what is recorded is safe without it. Among those who wait the next is of the
machine that had its turn longest ago, so that one with many connections, or one that asks again and
again, keeps nobody out. A turn is short and cannot be made longer; a few commands may follow each
other in it, for passing it on takes longer than most of them. Nobody is kept waiting in here:
a connection that queues says what to call, which is called once. The next one can be told early,
to read what is new meanwhile.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Final

TURN_SECONDS: Final = 0.5
# So many commands may follow each other in one turn: the same for all, so that all get as much.
MOST_IN_A_TURN: Final = 12
# Shorter than a machine waits for an answer: a machine that has waited in vain asks again.
WAIT_SECONDS: Final = 4.0

# Is told whether the turn has come.
Tell = Callable[[bool], None]


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
        self.until = math.inf  # when it is told even if its turn has not come
        self.tell: Tell | None = None  # None: it has been told that it is next, and will come again
        self.wants_early = False  # to be told when it is next, and not only when its turn has come
        self.is_next = False  # the connection that has the turn now is the last one before


class Turns:
    """One thread's. `who` is a connection, `machine` the number of whose connection it is. What is
    to be told is called by `tell_all`, not in between: what it calls may end a
    connection, or queue again."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[object, float]] = {}  # stream -> who, until when
        self._waiting: list[_Waiting] = []
        self._to_tell: list[tuple[Tell, bool]] = []
        # who may go on in its turn -> how many commands it has recorded in it
        self._kept: dict[object, int] = {}
        self._number = 0
        self._served: dict[int, int] = {}  # machine -> when it had its last turn, by number

    def take(
        self, who: object, machine: int, streams: Sequence[str], tell: Tell, *, early: bool = False
    ) -> None:
        """Queue for a turn: once it has come nobody else moves these streams for a moment. Told
        False if it has not come in time; with `early` also if one is only next, and has to come
        again: its place in the queue stays its own."""
        if self._has(who, streams):  # it has come since one was told early
            self._to_tell.append((tell, True))
        else:
            self._line_up(who, machine, streams, tell, holds=True, early=early)

    def wait(self, who: object, machine: int, streams: Sequence[str], tell: Tell) -> None:
        """Be told when nobody else has them and nobody who waits comes before; or after a while."""
        if not self._held or self._has(who, streams):
            self._to_tell.append((tell, True))
        else:
            self._line_up(who, machine, streams, tell, holds=False)

    def tell_all(self) -> bool:
        """Tell everybody whose turn has come; False if there was nobody to tell."""
        to_tell, self._to_tell = self._to_tell, []
        for tell, has_come in to_tell:
            tell(has_come)
        return bool(to_tell)

    def look(self) -> None:
        """End the turns and the waiting whose time is over."""
        now = time.monotonic()
        if now < self.ends_at():
            return
        for one in [one for one in self._waiting if one.until <= now]:
            self._waiting.remove(one)
            self._say(one, False)
        self._let_in()

    def ends_at(self) -> float:
        """When to look again, if nothing else happens before."""
        if not self._waiting:
            return math.inf
        over = min((until for _, until in self._held.values()), default=math.inf)
        return min(over, *(one.until for one in self._waiting))

    def keep(self, who: object) -> bool:
        """Note that something was recorded in this turn. True if more may follow: then its holder
        goes on at once, or `release` takes it away."""
        count = self._kept.get(who, 0) + 1
        is_held = any(holder is who for holder, _ in self._held.values())
        if not is_held or count >= MOST_IN_A_TURN:
            return False
        self._kept[who] = count
        return True

    def is_kept(self, who: object) -> bool:
        return who in self._kept

    def release(self, who: object) -> None:
        """It has no turn, and no place in the queue."""
        self._kept.pop(who, None)
        if not self._held and not self._waiting:
            return
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
        tell: Tell,
        *,
        holds: bool,
        early: bool = False,
    ) -> None:
        mine = self._enter(who, machine, streams, holds)
        mine.tell, mine.wants_early = tell, early
        mine.until = time.monotonic() + WAIT_SECONDS
        is_behind = len(self._waiting) > 1 and any(name in self._held for name in streams)
        if not is_behind:
            self._let_in()
        elif mine.is_next and early:
            self._say(mine, False)

    def _enter(self, who: object, machine: int, streams: Sequence[str], holds: bool) -> _Waiting:
        """One's place in the queue: the one that was kept, or a new one at its end."""
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
        """Tell all whose turn it is now, and the next ones if they want to know early."""
        now = time.monotonic()
        self._held = {name: held for name, held in self._held.items() if held[1] > now}
        while self._let_one_in(now):
            pass
        wanted_before: set[str] = set()  # by those who wait and come first
        for one in sorted(self._waiting, key=self._rank):
            one.is_next = one.streams.isdisjoint(wanted_before)
            wanted_before |= one.streams
            if one.is_next and one.wants_early:
                self._say(one, False)

    def _let_one_in(self, now: float) -> bool:
        """Have the first one told whose turn it is; its machine then comes last. False if it is
        nobody's."""
        wanted_before: set[str] = set()
        for one in sorted(self._waiting, key=self._rank):
            if self._is_turn_of(one, wanted_before):
                self._waiting.remove(one)
                self._number += 1
                self._served[one.machine] = self._number
                if one.holds:
                    for stream in one.streams:
                        self._held.setdefault(stream, (one.who, now + TURN_SECONDS))
                self._say(one, True)
                return True
            wanted_before |= one.streams
        return False

    def _say(self, one: _Waiting, has_come: bool) -> None:
        if one.tell is not None:
            self._to_tell.append((one.tell, has_come))
            one.tell, one.until = None, math.inf

    def _is_turn_of(self, one: _Waiting, wanted_before: set[str]) -> bool:
        holders = [self._held[name][0] for name in one.streams if name in self._held]
        if any(holder is one.who for holder in holders):
            return True
        return not holders and one.streams.isdisjoint(wanted_before)

    def _rank(self, waiting: _Waiting) -> tuple[int, int]:
        return self._served.get(waiting.machine, 0), waiting.number
