"""What the runner needs of a protocol: what is due, the brief for it, and a way to execute.

A desk holds no state of its own: everything it says comes from the ledger or the file at that
moment. So a run can be killed at any time and begun again. `submit` is decided by the protocol,
which refuses a second answer to the same turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Protocol

from moot.agents.brief import Brief
from moot.agents.budget import Spent
from moot.agents.outcome import Ended, Ending, Outcome
from moot.agents.repeats import Said
from moot.core.machine import Due


class Passed(StrEnum):
    """`LATER`: only once the time of that due is up. `NEVER`: the protocol waits for ever."""

    DONE = "done"
    LATER = "later"
    NEVER = "never"


class Desk(Protocol):
    def advance(self) -> None:
        """Do what is the machine's own business, such as opening the next round."""
        ...

    def dues(self) -> Sequence[Due]:
        """What waits now, for whom; a due is the same one as long as who, what, subject are."""
        ...

    def together(self, due: Due) -> bool:
        """May this be answered at the same time as others that are due?"""
        ...

    def brief(self, due: Due) -> Brief:
        """What the one who is waited for must know."""
        ...

    def submit(self, due: Due, said: dict[str, Any]) -> None:
        """Execute the reply as that agent; Malformed or Refused if it cannot be."""
        ...

    def pass_over(self, due: Due, ending: Ending, detail: str) -> Passed:
        """Go on without an answer, as the protocol does when time is up."""
        ...

    def history(self) -> Sequence[Said]:
        """What was said so far, in order."""
        ...

    def standing(self) -> dict[str, Any]:
        """Where things are, for whoever looks on."""
        ...

    def spent(self) -> Spent:
        """What earlier runs of this session have on record."""
        ...

    def note(self, outcome: Outcome) -> None:
        """Put on record how a call ended and what it cost."""
        ...

    def ended(self, ended: Ended) -> None:
        """Put on record how the run ended."""
        ...
