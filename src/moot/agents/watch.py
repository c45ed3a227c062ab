"""Watching a run: what is told while it goes on. A surface implements it; no decision depends on
it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from moot.agents.outcome import Outcome
from moot.agents.participant import Nature
from moot.core.machine import Due

# Round, score and whatever else the protocol shows; asked for only if someone looks on.
Standing = Callable[[], dict[str, Any]]


class Watch(Protocol):
    """Told of each step of a run."""

    def asking(self, due: Due, nature: Nature, attempt: int) -> None:
        """A participant is being asked."""
        ...

    def heard(self, outcome: Outcome) -> None:
        """A call has ended, well or not."""
        ...

    def moved(self, due: Due, standing: Standing) -> None:
        """What was due is done, or passed over; `standing` says where things are now."""
        ...

    def waiting(self, due: Due, seconds: float) -> None:
        """Nothing can be done until the time of this turn is up."""
        ...


class Unwatched:
    """Nobody watches."""

    def asking(self, due: Due, nature: Nature, attempt: int) -> None: ...

    def heard(self, outcome: Outcome) -> None: ...

    def moved(self, due: Due, standing: Standing) -> None: ...

    def waiting(self, due: Due, seconds: float) -> None: ...
