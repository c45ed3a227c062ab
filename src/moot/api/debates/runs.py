"""Let participants argue a debate: programs, models, scripts, people at a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from moot.api.operation import operation
from moot.api.runs.limits import (
    DEFAULT_LIMITS,
    Limits,
    RunResult,
    make_surroundings,
    read_participants,
    result_fields,
)
from moot.protocols.decision.model import DecisionResult
from moot.protocols.decision.views import suggest_decide_command

if TYPE_CHECKING:
    from moot.api.runs.limits import RunWatcher, Terminal
    from moot.api.session import Session


class _RestorableRun(RunResult, frozen=True, kw_only=True):
    """`restored` is what had happened to the file (gone, cut-short) if it was restored first."""

    restored: str | None = None


class DebateRun(_RestorableRun, frozen=True):
    """A run of a debate. `decision` keeps its record and its result; None outside a workspace."""

    file: str
    decision: str | None


@operation("debate.run", writes=True, runs_programs=True)
def run(
    session: Session,
    file: Path,
    participants: Sequence[str],
    *,
    limits: Limits = DEFAULT_LIMITS,
    watch: RunWatcher | None = None,
    terminal: Terminal | None = None,
) -> DebateRun:
    """Let participants (`NAME=SPEC`) argue until the debate is over or a limit is reached.

    Each entry is written in its author's turn and, in a workspace, signed by its author's key. A
    run makes many commits and needs no key: after an interruption the same call continues the file.
    Refused before any participant is asked: names that are not agents of the session, participants
    that cannot be started, keys that are not here, a file that is not what was recorded.
    """
    from moot.api.runs.debate import run_debate

    specs = read_participants(session, participants)
    finished = run_debate(
        file,
        specs,
        make_surroundings(session, terminal, limits),
        session.clock,
        session.workspace_or_none,
        limits,
        watch,
    )
    restored = finished.lost.value if finished.lost else None
    return DebateRun(str(file), finished.decision, **result_fields(finished), restored=restored)


def suggest_decision(run: DebateRun) -> str | None:
    """Return the command with which a person rules on the result; None if none is needed."""
    result = run.standing["result"]
    if run.decision is None or result is None:
        return None
    return suggest_decide_command(run.decision, DecisionResult(result))
