"""What the runner needs of a protocol: what is due, the brief for it, and a way to execute.

It holds no state of its own: everything comes from the ledger or the file at that moment. So a run
can be killed at any time and started again. The protocol decides about each `submit`, and refuses a
second answer to the same turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Protocol

from moot.agents.brief import Brief
from moot.agents.budget import Spent
from moot.agents.outcome import CallFailure, CallOutcome, RunEnd
from moot.agents.repeats import Utterance
from moot.core.machine import Due


class PassOverResult(StrEnum):
    """Whether a due could be passed over. `LATER`: once its time is up. `NEVER`: the protocol
    waits."""

    DONE = "done"
    LATER = "later"
    NEVER = "never"


class Runnable(Protocol):
    """One session of a protocol, as the runner sees it."""

    def advance(self) -> None:
        """Do what needs nobody's answer, such as opening the next round."""
        ...

    def dues(self) -> Sequence[Due]:
        """What is due now, for whom. Two dues are the same if who, what and subject are."""
        ...

    def may_be_asked_together(self, due: Due) -> bool:
        """May this be answered at the same time as others that are due?"""
        ...

    def brief(self, due: Due) -> Brief:
        """All that the participant must know to answer."""
        ...

    def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
        """Execute the reply as that agent; Malformed or Refused if it cannot be."""
        ...

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        """Go on without an answer, as the protocol does when somebody failed or time is up."""
        ...

    def history(self) -> Sequence[Utterance]:
        """What was said so far, in order."""
        ...

    def standing(self) -> dict[str, Any]:
        """Where the session stands, for whoever watches the run."""
        ...

    def spent(self) -> Spent:
        """What earlier runs of this session have spent, by the record."""
        ...

    def record_outcome(self, outcome: CallOutcome) -> None:
        """Put on record how a call ended and what it cost."""
        ...

    def record_end(self, ended: RunEnd) -> None:
        """Put on record how the run ended."""
        ...
