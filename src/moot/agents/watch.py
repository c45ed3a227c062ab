"""Whoever looks on while a run goes on. A surface implements it; nothing depends on it."""

from __future__ import annotations

from typing import Protocol

from moot.agents.outcome import Outcome
from moot.agents.participant import Nature
from moot.core.machine import Due


class Watch(Protocol):
    def asking(self, due: Due, nature: Nature, attempt: int) -> None:
        """A participant is being asked."""
        ...

    def heard(self, outcome: Outcome) -> None:
        """A call has ended, well or not."""
        ...

    def moved(self, due: Due) -> None:
        """What was due is done, or passed over."""
        ...

    def waiting(self, due: Due, seconds: float) -> None:
        """Nothing can be done until the time of this turn is up."""
        ...


class Unwatched:
    def asking(self, due: Due, nature: Nature, attempt: int) -> None: ...

    def heard(self, outcome: Outcome) -> None: ...

    def moved(self, due: Due) -> None: ...

    def waiting(self, due: Due, seconds: float) -> None: ...
