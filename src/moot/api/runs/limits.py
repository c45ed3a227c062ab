"""What every run of participants takes and gives back: debates, mail, parliaments, traces, asking.

A participant is a text `NAME=SPEC`, as on the command line. `Limits` say how far a run may go, a
`RunWatcher` is told what happens meanwhile, a `Terminal` is where a `human` participant is asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from moot.agents.brief import Brief
from moot.agents.cost import NO_COST, Cost, in_words
from moot.agents.outcome import CallEnding, CallOutcome, RunEnd, StopReason
from moot.agents.participant import Nature, ParticipantKind, Spec, read_named_specs
from moot.agents.participant_kinds import RunSurroundings, Terminal
from moot.agents.runnable import RunWatcher, Standing
from moot.api.runs.turns import USUAL, FinishedRun, Limits
from moot.core.machine import Due
from moot.core.text import Quoted

if TYPE_CHECKING:
    from moot.api.session import Session

__all__ = [
    "NO_COST",
    "USUAL",
    "Brief",
    "CallEnding",
    "CallOutcome",
    "Cost",
    "Due",
    "Limits",
    "Nature",
    "ParticipantKind",
    "RunEnd",
    "RunEnding",
    "RunResult",
    "RunWatcher",
    "Standing",
    "StopReason",
    "Terminal",
    "ending_fields",
    "in_words",
    "read_participants",
    "result_fields",
    "seating",
]


class RunEnding(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended: what stopped it, after how many turns, whom it waits for, what it cost.

    A subclass's own fields come before these in JSON, because these are keyword-only.
    """

    stop: StopReason
    detail: Quoted
    turns: int
    waits_for: tuple[str, ...]
    cost: Cost


class RunResult(RunEnding, frozen=True, kw_only=True):
    """The same, with where the session stands now."""

    standing: dict[str, Any]


def ending_fields(ended: RunEnd) -> dict[str, Any]:
    """The fields of a `RunEnding`."""
    return {
        "stop": ended.stop,
        "detail": Quoted(ended.detail),
        "turns": ended.turns,
        "waits_for": ended.waits_for,
        "cost": ended.cost,
    }


def result_fields(finished: FinishedRun) -> dict[str, Any]:
    """The fields of a `RunResult`, for a subclass to be made with."""
    return {**ending_fields(finished.ended), "standing": finished.standing}


def read_participants(session: Session, participants: Iterable[str]) -> dict[str, Spec]:
    """Return who takes part, by name; a session with a name may seat only itself (not_you)."""
    specs = read_named_specs(participants)
    for name in specs:
        if session.acting:
            session.actor(name)  # AGT-063: nobody speaks under another's key
    return specs


def seating(session: Session, terminal: Terminal | None, limits: Limits) -> RunSurroundings:
    """Where participants sit: programs run in the session's folder, with some of its
    environment."""
    return RunSurroundings(session.folder, session.env, terminal, limits.env)
