"""Turns on streams: connections whose commits were overtaken, or also write a file, queue here.

This is for fairness only; the ledger is safe without it. The next turn goes to the machine whose
last turn is longest ago, so that a machine with many connections, or one that asks again and again,
cannot keep others out. A turn has a fixed, short length. A few commits may follow each other in it,
since passing it on takes longer than most commits. Nothing blocks in here: a connection that queues
passes a callback, which is called once. The next one in the queue can be notified early, to read
new records meanwhile.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Final

TURN_SECONDS: Final = 0.5

MAX_COMMITS_PER_TURN: Final = 12
# Shorter than a machine waits for an answer: without a turn by then it asks again.
WAIT_SECONDS: Final = 4.0

# Called with whether the turn has come.
Notify = Callable[[bool], None]


class _Waiter:
    """A connection that waits for streams; `number` is the order of arrival.

    With `reserves` its turn keeps other connections from moving these streams for a moment.
    """

    def __init__(
        self, number: int, connection: object, machine: int, streams: Sequence[str], reserves: bool
    ) -> None:
        self.number = number
        self.connection = connection
        self.machine = machine
        self.streams = frozenset(streams)
        self.reserves = reserves
        self.until = math.inf  # when it is notified even if its turn has not come
        self.notify: Notify | None = None  # None: was notified early, and will ask again
        self.is_notified_early = False  # also notified when it is next
        self.is_next = False  # first in the queue behind the current turn


class Turns:
    """The queue; used by one thread. `machine` is the number of the connection's machine.

    Only `notify_all` calls callbacks: one may end a connection, or queue again.
    """

    def __init__(self) -> None:
        self._held: dict[str, tuple[object, float]] = {}  # stream -> connection, until when
        self._waiting: list[_Waiter] = []
        self._to_notify: list[tuple[Notify, bool]] = []
        # connection that may commit again in its turn -> how often it has committed in it
        self._commits_in_turn: dict[object, int] = {}
        self._counter = 0
        self._last_turn: dict[int, int] = {}  # machine -> `_counter` at its last turn

    def queue_for_turn(
        self,
        connection: object,
        machine: int,
        streams: Sequence[str],
        notify: Notify,
        *,
        early: bool = False,
    ) -> None:
        """Queue for a turn, in which no other connection moves these streams.

        Notified with False if the turn has not come in time; with `early` also when the connection
        is next. It then queues again and keeps its place.
        """
        if self._has_turn(connection, streams):  # it came after the early notification
            self._to_notify.append((notify, True))
        else:
            self._enqueue(connection, machine, streams, notify, reserves=True, early=early)

    def wait_until_free(
        self, connection: object, machine: int, streams: Sequence[str], notify: Notify
    ) -> None:
        """Be notified when no turn and no earlier waiter blocks these streams, or after a while."""
        if not self._held or self._has_turn(connection, streams):
            self._to_notify.append((notify, True))
        else:
            self._enqueue(connection, machine, streams, notify, reserves=False)

    def notify_all(self) -> bool:
        """Call the callbacks that are due; False if there were none."""
        to_notify, self._to_notify = self._to_notify, []
        for notify, has_come in to_notify:
            notify(has_come)
        return bool(to_notify)

    def expire(self) -> None:
        """End turns and waiting whose time is over."""
        now = time.monotonic()
        if now < self.next_deadline():
            return
        for waiter in [waiter for waiter in self._waiting if waiter.until <= now]:
            self._waiting.remove(waiter)
            self._notify_later(waiter, False)
        self._grant_turns()

    def next_deadline(self) -> float:
        """Return when to call `expire` again, if nothing else happens before."""
        if not self._waiting:
            return math.inf
        over = min((until for _, until in self._held.values()), default=math.inf)
        return min(over, *(waiter.until for waiter in self._waiting))

    def keep_turn(self, connection: object) -> bool:
        """Count a commit in this turn. True if another may follow: the connection then commits at
        once, or the caller calls `release`."""
        count = self._commits_in_turn.get(connection, 0) + 1
        is_held = any(holder is connection for holder, _ in self._held.values())
        if not is_held or count >= MAX_COMMITS_PER_TURN:
            return False
        self._commits_in_turn[connection] = count
        return True

    def keeps_turn(self, connection: object) -> bool:
        return connection in self._commits_in_turn

    def release(self, connection: object) -> None:
        """Take away the connection's turn and its place in the queue."""
        self._commits_in_turn.pop(connection, None)
        if not self._held and not self._waiting:
            return
        was_waiting = len(self._waiting)
        self._waiting = [waiter for waiter in self._waiting if waiter.connection is not connection]
        held = {name: held for name, held in self._held.items() if held[0] is not connection}
        if len(held) < len(self._held) or len(self._waiting) < was_waiting:
            self._held = held
            self._grant_turns()

    def _enqueue(
        self,
        connection: object,
        machine: int,
        streams: Sequence[str],
        notify: Notify,
        *,
        reserves: bool,
        early: bool = False,
    ) -> None:
        waiter = self._find_or_add_waiter(connection, machine, streams, reserves)
        waiter.notify, waiter.is_notified_early = notify, early
        waiter.until = time.monotonic() + WAIT_SECONDS
        is_behind = len(self._waiting) > 1 and any(name in self._held for name in streams)
        if not is_behind:
            self._grant_turns()
        elif waiter.is_next and early:
            self._notify_later(waiter, False)

    def _find_or_add_waiter(
        self, connection: object, machine: int, streams: Sequence[str], reserves: bool
    ) -> _Waiter:
        """Return the connection's place in the queue: the one it kept, or a new one at the end."""
        for waiter in self._waiting:
            if (
                waiter.connection is connection
                and waiter.streams == frozenset(streams)
                and waiter.reserves is reserves
            ):
                return waiter
        self._counter += 1
        waiter = _Waiter(self._counter, connection, machine, streams, reserves)
        self._waiting.append(waiter)
        return waiter

    def _has_turn(self, connection: object, streams: Sequence[str]) -> bool:
        return all(name in self._held and self._held[name][0] is connection for name in streams)

    def _grant_turns(self) -> None:
        """Grant every turn that is free now, and notify the next ones that want it early."""
        now = time.monotonic()
        self._held = {name: held for name, held in self._held.items() if held[1] > now}
        while self._grant_next_turn(now):
            pass
        wanted_before: set[str] = set()  # streams of waiters with a better rank
        for waiter in sorted(self._waiting, key=self._rank):
            waiter.is_next = waiter.streams.isdisjoint(wanted_before)
            wanted_before |= waiter.streams
            if waiter.is_next and waiter.is_notified_early:
                self._notify_later(waiter, False)

    def _grant_next_turn(self, now: float) -> bool:
        """Grant one turn and put its machine last; False if no turn is free."""
        wanted_before: set[str] = set()
        for waiter in sorted(self._waiting, key=self._rank):
            if self._is_turn_of(waiter, wanted_before):
                self._waiting.remove(waiter)
                self._counter += 1
                self._last_turn[waiter.machine] = self._counter
                if waiter.reserves:
                    for stream in waiter.streams:
                        self._held.setdefault(stream, (waiter.connection, now + TURN_SECONDS))
                self._notify_later(waiter, True)
                return True
            wanted_before |= waiter.streams
        return False

    def _notify_later(self, waiter: _Waiter, has_come: bool) -> None:
        if waiter.notify is not None:
            self._to_notify.append((waiter.notify, has_come))
            waiter.notify, waiter.until = None, math.inf

    def _is_turn_of(self, waiter: _Waiter, wanted_before: set[str]) -> bool:
        holders = [self._held[name][0] for name in waiter.streams if name in self._held]
        if any(holder is waiter.connection for holder in holders):
            return True
        return not holders and waiter.streams.isdisjoint(wanted_before)

    def _rank(self, waiting: _Waiter) -> tuple[int, int]:
        return self._last_turn.get(waiting.machine, 0), waiting.number
