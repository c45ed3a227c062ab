"""Let seated participants take their turns: what the runs of all protocols have in common.

What a run opens on record, and what of its result goes there, each protocol does in its own module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

import msgspec

from moot.agents.cost import MICROS, Cost
from moot.agents.outcome import CallOutcome, RunEnd
from moot.agents.participant import Participant
from moot.agents.runnable import Budget, Runnable, RunWatcher, Spent, Utterance
from moot.agents.runner import TURN_SECONDS, Runner
from moot.core.clock import Clock
from moot.core.errors import Malformed, MootError
from moot.core.machine import Command, Due
from moot.core.names import SYSTEM
from moot.engine.engine import Engine
from moot.engine.job import Job
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import CallCost, Stage, State
from moot.store.batched_syncs import make_durable

if TYPE_CHECKING:
    from moot.api.debates.locked_session import FileLoss

Reply = TypeVar("Reply", bound=msgspec.Struct)


class Limits(msgspec.Struct, frozen=True):
    """How far a run may go; None is no limit. Whatever is reached first stops it, by its name.

    Turns, tokens and money of earlier runs of the same session count too, where they are on record.
    `env` names variables that programs behind `cmd:` get besides what they are known to need.
    """

    turns: int | None = None
    tokens: int | None = None
    usd: Decimal | None = None
    seconds: float | None = None
    turn_seconds: float = TURN_SECONDS
    env: tuple[str, ...] = ()

    @property
    def budget(self) -> Budget:
        micros = None if self.usd is None else round(self.usd * MICROS)
        return Budget(self.turns, self.tokens, micros, self.seconds)


USUAL: Final = Limits()


class FinishedRun(NamedTuple):
    """How a run ended, where its session stands, and the decision that keeps its record, if any.

    `lost` says what had become of a debate's file before, if it had to be put back.
    """

    ended: RunEnd
    standing: dict[str, Any]
    decision: str | None
    lost: FileLoss | None = None


def run_seats(
    runnable: Runnable,
    participants: Mapping[str, Participant],
    clock: Clock,
    decision: str | None = None,
    limits: Limits = USUAL,
    watch: RunWatcher | None = None,
) -> FinishedRun:
    """Ask the participants that are due until none is, or until a limit is reached."""
    runner = Runner(
        runnable,
        participants,
        clock,
        budget=limits.budget,
        turn_seconds=limits.turn_seconds,
        watch=watch,
        before_asking=make_durable,
    )
    return FinishedRun(runner.run(), runnable.standing(), decision)


# What calls cost and how they ended, kept in the decision that a run belongs to.


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
    """Keep it in the record of a decision, signed by the ledger or by the asker."""

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


class RecordedRun:
    """What a `Runnable` does in most protocols; what its calls cost goes to its record."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record

    def advance(self) -> None:
        """Nothing moves by itself."""

    def may_be_asked_together(self, due: Due) -> bool:
        del due
        return True

    def history(self) -> Sequence[Utterance]:
        return ()

    def spent(self) -> Spent:
        return self._record.spent()

    def record_outcome(self, outcome: CallOutcome) -> None:
        self._record.record_outcome(outcome)

    def record_end(self, ended: RunEnd) -> None:
        self._record.record_end(ended)


def read_reply(reply_fields: dict[str, Any], shape: type[Reply]) -> Reply:
    """Read a participant's reply; Malformed if it has another shape than it was asked for."""
    try:
        return msgspec.convert(reply_fields, shape)
    except msgspec.ValidationError as error:
        raise Malformed(str(error), code="bad_reply", hint="follow the schema") from None


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
