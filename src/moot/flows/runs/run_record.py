"""What calls cost and how they ended, kept in the decision that a run belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from moot.agents.budget import Spent
from moot.agents.cost import Cost
from moot.agents.outcome import CallOutcome, RunEnd
from moot.core.errors import MootError
from moot.core.machine import Command
from moot.core.names import SYSTEM
from moot.engine.engine import Engine
from moot.engine.job import Job
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import CallCost, Stage, State


class RunRecord(Protocol):
    def spent(self) -> Spent: ...

    def record_outcome(self, outcome: CallOutcome) -> None: ...

    def record_end(self, ended: RunEnd) -> None: ...


class NoRunRecord:
    """For a bare file: there is nowhere to write, so nothing is remembered."""

    def spent(self) -> Spent:
        return Spent()

    def record_outcome(self, outcome: CallOutcome) -> None: ...

    def record_end(self, ended: RunEnd) -> None: ...


class DecisionRunRecord:
    """In the record of a decision, kept by the machine or by whoever asked."""

    def __init__(self, engine: Engine, decision: str, clerk: str = SYSTEM) -> None:
        self._engine = engine
        self._stream = stream_of(decision)
        self._clerk = clerk

    @property
    def state(self) -> State:
        return self._engine.state(DECISION, self._stream)

    def spent(self) -> Spent:
        state = self.state
        return Spent(state.turns, total_cost(state.cost))

    def record_outcome(self, outcome: CallOutcome) -> None:
        self._engine.execute(
            self._stream,
            ask.NoteCall(  # AGT-062: the cost of every call
                agent=outcome.agent,
                what=outcome.what,
                subject=outcome.subject,
                ending=outcome.ending.value,
                attempt=outcome.attempt,
                cost=CallCost(*msgspec.structs.astuple(outcome.cost)),
                detail=_recordable(outcome.detail),
                model=outcome.model,
            ),
            self._clerk,
        )

    def record_end(self, ended: RunEnd) -> None:
        detail = _recordable(ended.detail)
        command = ask.EndRun(stop=ended.stop.value, turns=ended.turns, detail=detail)
        self._engine.execute(self._stream, command, self._clerk)


def record_of(engine: Engine, decision: str | None) -> RunRecord:
    """Where a run keeps what it costs; nowhere if it belongs to no decision."""
    return NoRunRecord() if decision is None else DecisionRunRecord(engine, decision)


def begin_decision(
    engine: Engine,
    decision: str,
    *commands: Command,
    before_commit: Callable[[object], None] | None = None,
) -> str:
    """Begin the decision of a session, all of these commands at once; a second time is nothing."""
    stream = stream_of(decision)
    known = engine.state(DECISION, stream)
    if known.stage is Stage.NEW:
        jobs = [Job(stream, command, SYSTEM) for command in commands]
        for result in engine.execute_all(jobs, before_commit):
            if isinstance(result, MootError):
                raise result
    return decision


def total_cost(recorded: CallCost) -> Cost:
    return Cost(*msgspec.structs.astuple(recorded))


def _recordable(text: str) -> str:
    """A program's last words may be any bytes; the record holds whole characters."""
    return text.encode("utf-8", "replace").decode()
