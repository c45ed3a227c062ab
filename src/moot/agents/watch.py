"""Watching a run: what is told while it goes on. A surface implements it; no decision depends on
it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from moot.agents.outcome import CallOutcome
from moot.agents.participant import Nature
from moot.core.machine import Due

# Round, score and whatever else the protocol shows; asked for only if someone looks on.
Standing = Callable[[], dict[str, Any]]


class RunWatcher(Protocol):
    """Told of each step of a run."""

    def on_asking(self, due: Due, nature: Nature, attempt: int) -> None:
        """A participant is being asked."""
        ...

    def on_heard(self, due: Due, seconds: float) -> None:
        """A participant has fallen silent after so long, well or not. Told by the thread that
        asked, while others may still be thinking; what came of it follows in `on_outcome`."""
        ...

    def on_outcome(self, outcome: CallOutcome) -> None:
        """A call has ended, well or not."""
        ...

    def on_progress(self, due: Due, standing: Standing) -> None:
        """What was due is done, or passed over; `standing` says where things are now."""
        ...

    def on_waiting(self, due: Due, seconds: float) -> None:
        """Nothing can be done until the time of this turn is up."""
        ...


class NoWatcher:
    """Nobody watches."""

    def on_asking(self, due: Due, nature: Nature, attempt: int) -> None: ...

    def on_heard(self, due: Due, seconds: float) -> None: ...

    def on_outcome(self, outcome: CallOutcome) -> None: ...

    def on_progress(self, due: Due, standing: Standing) -> None: ...

    def on_waiting(self, due: Due, seconds: float) -> None: ...
