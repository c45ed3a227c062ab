"""Let participants take their turns: what the runs of all protocols share.

Each protocol's own module records the start and the result of its runs.
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
from moot.protocols.decision import stream_of
from moot.protocols.decision.commands import EndRun, NoteCall
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import CallCost, Stage, State
from moot.store.batched_syncs import make_durable

if TYPE_CHECKING:
    from moot.api.debates.locked_session import FileLoss

Reply = TypeVar("Reply", bound=msgspec.Struct)


class Limits(msgspec.Struct, frozen=True):
    """The limits of a run; None is no limit. The first limit that is reached stops the run.

    Recorded turns, tokens and costs of earlier runs of the same session count too. `env` names
    variables that `cmd:` programs get in addition to those they are known to need.
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


DEFAULT_LIMITS: Final = Limits()


class FinishedRun(NamedTuple):
    """How a run ended, its session's state, and the decision that records it, if any.

    `lost` is what had happened to a debate's file, if it was restored.
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
    limits: Limits = DEFAULT_LIMITS,
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


class RunRecord(Protocol):
    def spent(self) -> Spent: ...

    def record_outcome(self, outcome: CallOutcome) -> None: ...

    def record_end(self, ended: RunEnd) -> None: ...


class NoRunRecord:
    """Record nothing, for a file outside a workspace."""

    def spent(self) -> Spent:
        return Spent()

    def record_outcome(self, outcome: CallOutcome) -> None: ...

    def record_end(self, ended: RunEnd) -> None: ...


class DecisionRunRecord:
    """Record costs and endings of calls in a decision, signed by the ledger or by the asker."""

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
            NoteCall(  # AGT-062: the cost of every call
                agent=outcome.agent,
                what=outcome.what,
                subject=outcome.subject,
                ending=outcome.ending.value,
                attempt=outcome.attempt,
                cost=CallCost(*msgspec.structs.astuple(outcome.cost)),
                detail=_replace_invalid(outcome.detail),
                model=outcome.model,
            ),
            self._clerk,
        )

    def record_end(self, ended: RunEnd) -> None:
        detail = _replace_invalid(ended.detail)
        command = EndRun(stop=ended.stop.value, turns=ended.turns, detail=detail)
        self._engine.execute(self._stream, command, self._clerk)


def make_run_record(engine: Engine, decision: str | None) -> RunRecord:
    """Return where a run records its costs; nowhere if it has no decision."""
    return NoRunRecord() if decision is None else DecisionRunRecord(engine, decision)


class RecordedRun:
    """What most protocols' `Runnable`s share; the costs of calls go to `record`."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record

    def advance(self) -> None:
        """Do nothing: by default no step happens without a participant."""

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
    """Begin the decision of a session with these commands at once, unless it exists."""
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


def _replace_invalid(text: str) -> str:
    """Replace lone surrogates: a program may print any bytes, a record must be valid Unicode."""
    return text.encode("utf-8", "replace").decode()
