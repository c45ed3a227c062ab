"""Arguments and results that all runs share: debates, mail, parliaments, traces, questions.

A participant is a text `NAME=SPEC`, as on the command line. `Limits` bound a run, a `RunWatcher`
receives its progress, and a `human` participant is asked at a `Terminal`.
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
from moot.api.runs.turns import DEFAULT_LIMITS, FinishedRun, Limits
from moot.core.machine import Due
from moot.core.text import Quoted

if TYPE_CHECKING:
    from moot.api.session import Session

__all__ = [
    "DEFAULT_LIMITS",
    "NO_COST",
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
    "make_surroundings",
    "read_participants",
    "result_fields",
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
    """How a run ended, and the session's state now."""

    standing: dict[str, Any]


def ending_fields(ended: RunEnd) -> dict[str, Any]:
    """Return the fields of a `RunEnding`."""
    return {
        "stop": ended.stop,
        "detail": Quoted(ended.detail),
        "turns": ended.turns,
        "waits_for": ended.waits_for,
        "cost": ended.cost,
    }


def result_fields(finished: FinishedRun) -> dict[str, Any]:
    """Return the fields of a `RunResult`, from which a subclass is built."""
    return {**ending_fields(finished.ended), "standing": finished.standing}


def read_participants(session: Session, participants: Iterable[str]) -> dict[str, Spec]:
    """Return who takes part, by name; a session with a name may seat only itself (not_you)."""
    specs = read_named_specs(participants)
    for name in specs:
        if session.acting:
            session.actor(name)  # AGT-063: no agent may use another's key
    return specs


def make_surroundings(
    session: Session, terminal: Terminal | None, limits: Limits
) -> RunSurroundings:
    """Return where participants run: the session's folder and parts of its environment."""
    return RunSurroundings(session.folder, session.env, terminal, limits.env)
