"""Commands that came signed from several machines, written to the disk together.

While one group is written, the next commands arrive; whoever is first among them then commits all
of them at once. A disk that takes a millisecond for each write would else be what a keeper waits
for. Commands on the same stream go into different groups, and one on the registry goes alone:
whatever is decided in a group rests on states that are committed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from moot.core.errors import MootError
from moot.core.names import REGISTRY

if TYPE_CHECKING:
    from moot.core.clock import Millis
    from moot.core.ledger import View
    from moot.engine.batch import Batch
    from moot.engine.engine import Engine
    from moot.engine.keys import Keys

MOST_TOGETHER: Final = 64

T = TypeVar("T")


class SignedCommit(Generic[T]):
    """One machine's command: `decide` decides it again, with the signatures that `keys` have
    brought along, at the time `now`; `read` says what is to be told once it is committed."""

    def __init__(
        self,
        streams: Iterable[str],
        decide: Callable[[Batch], object],
        keys: Keys,
        now: Millis,
        read: Callable[[View], T],
    ) -> None:
        self.streams = frozenset(streams)
        self.decide = decide
        self.keys = keys
        self.now = now
        self.read = read
        self.told: T | None = None
        self.error: BaseException | None = None
        self.is_woken = threading.Event()  # it is done, or it is to lead the next group
        self.leads = False


class SignedCommits:
    """Groups the commits of all threads that call `commit`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._waiting: list[SignedCommit[Any]] = []
        self._is_led = False  # whether somebody commits, or has been woken to do so

    def commit(self, one: SignedCommit[T]) -> T:
        """Commit it, alone or with others, and return what it reads then. What is raised is its own
        error: DecidedOtherwise if it came out different here; nothing of it is recorded then."""
        with self._lock:
            self._waiting.append(one)
            leads = not self._is_led
            self._is_led = True
        if not leads:
            one.is_woken.wait()
        if leads or one.leads:
            self._lead()
        if one.error is not None:
            raise one.error
        return one.told  # type: ignore[return-value]

    def _lead(self) -> None:
        with self._lock:
            group = self._take_group()
        try:
            self._commit_group(group)
        finally:
            with self._lock:
                if self._waiting:
                    self._waiting[0].leads = True
                    self._waiting[0].is_woken.set()
                else:
                    self._is_led = False
            for one in group:
                one.is_woken.set()

    def _take_group(self) -> list[SignedCommit[Any]]:
        """The first who waits, and all who share no stream with those before them."""
        group: list[SignedCommit[Any]] = []
        left: list[SignedCommit[Any]] = []
        streams: set[str] = set()
        for one in self._waiting:
            is_alone = REGISTRY in one.streams or REGISTRY in streams
            is_free = streams.isdisjoint(one.streams) and len(group) < MOST_TOGETHER
            if not group or (is_free and not is_alone):
                group.append(one)
            else:
                left.append(one)
            streams |= one.streams
        self._waiting = left
        return group

    def _commit_group(self, group: list[SignedCommit[Any]]) -> None:
        """One transaction for all; if that fails, one for each: only who caused it is told."""
        try:
            self._engine.commit_signed(group)
        except MootError as error:
            if len(group) == 1:
                group[0].error = error
                return
            for one in group:
                one.error = None
                self._commit_group([one])
        except BaseException as error:  # nothing was recorded, and each is told by its own thread
            for one in group:
                one.error = error
            raise
