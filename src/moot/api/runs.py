"""What every run of participants takes and gives back: debates, mail, parliaments, traces, asking.

A participant is a text `NAME=SPEC`, as on the command line. `Limits` say how far a run may go, a
`Watch` is told what happens meanwhile, a `Terminal` is where a `human` participant is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.agents.cost import Cost, in_words
from moot.agents.human import Terminal
from moot.agents.outcome import Ended, Stop
from moot.agents.seats import Room
from moot.agents.watch import Watch
from moot.core.quoted import Quoted
from moot.flows.runs.run_debate import USUAL, Limits

if TYPE_CHECKING:
    from moot.api.session import Session

__all__ = [
    "USUAL",
    "Cost",
    "Ended",
    "Limits",
    "RunEnding",
    "Stop",
    "Terminal",
    "Watch",
    "in_words",
    "seating",
]


class RunEnding(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended: what stopped it, after how many turns, whom it waits for, what it cost."""

    stop: Stop
    detail: Quoted
    turns: int
    waits_for: tuple[str, ...]
    cost: Cost


def seating(session: Session, terminal: Terminal | None) -> Room:
    """Where participants sit: programs run in the session's folder, with its environment."""
    return Room(session.folder, session.env, terminal)
