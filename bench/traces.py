"""Traffic for traces: one executor runs the same small tool over and over, well each time.

Every round is an intent, its start and its end. Input and output are stored once, so that what is
measured is the trace, not the disk's files; the state remembers them again with every run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench.ground import BATCH, Ground, opened
from moot.core.errors import MootError
from moot.core.machine import Command
from moot.core.names import SYSTEM
from moot.core.record import ArtifactRef
from moot.engine.job import Job
from moot.engine.registry_commands import find_agent
from moot.engine.replay import SNAPSHOT_EVERY
from moot.protocols.trace import commands as ask
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import MEDIA_TYPE, ExecutionResult, Role, RoleBinding, encode_input
from moot.protocols.trace.policy import DEFAULT_POLICY
from moot.workspace.workspace import Workspace

STREAM = "trace/t1"
PARTS = {
    Role.PLANNER: "plan-owl",
    Role.EXECUTOR: "amber-otter",
    Role.CRITIC: "teal-crane",
    Role.AUDITOR: "grey-heron",
}
EXECUTOR = PARTS[Role.EXECUTOR]
WORDS = ("pytest", "-q")


class Runs:
    """The next command of one trace, whatever came before."""

    def __init__(self, space: Workspace, done: int = 0) -> None:
        data = encode_input("pytest", WORDS, ".", (), DEFAULT_POLICY.default_timeout_ms)
        self._input = space.artifacts.put(data, MEDIA_TYPE)
        self._output = space.artifacts.put(b"12 passed\n", "text/plain")
        self._count, self._phase = done, 0

    def command(self) -> Command:
        self._phase = (self._phase + 1) % 3
        if self._phase == 1:
            self._count += 1
            return ask.SignIntent(
                proposal_id="p1",
                tool="pytest",
                command=WORDS,
                risk="low",
                justification=f"round {self._count}",
            )
        if self._phase == 2:
            return ask.StartExecution(intent_id=f"i{self._count}", input=self._input)
        return _end(f"x{self._count}", self._output)


def _end(name: str, output: ArtifactRef) -> Command:
    return ask.CompleteExecution(
        execution_id=name,
        outputs=(ask.Stored("stdout", output),),
        result=ExecutionResult(exit_status=0, duration_ms=7),
    )


def begun(ground: Ground, name: str, events: int) -> Path:
    """A workspace with one trace of about `events` events, ready for the next intent.

    All are equally far from their last snapshot: what is read after it is read by every newcomer.
    """
    place = ground.new(name, tuple(PARTS.values()))
    with opened(place) as space:
        engine = space.engine
        roles = tuple(_binding(space, role, agent) for role, agent in PARTS.items())
        engine.execute(STREAM, ask.OpenTrace(task="measure", roles=roles), SYSTEM)
        proposal = ask.CreateProposal(
            objective="run", required_tools=("pytest",), assumptions=(), expected_evidence=()
        )
        engine.execute(STREAM, proposal, PARTS[Role.PLANNER])
        approval = ask.ReviewProposal(proposal_id="p1", status="approved", rationale="fine")
        engine.execute(STREAM, approval, PARTS[Role.CRITIC])
        _fill(space, events // 3 // SNAPSHOT_EVERY * SNAPSHOT_EVERY + 2)
    return place


def _binding(space: Workspace, role: Role, agent: str) -> RoleBinding:
    known = find_agent(space.engine, agent)
    return RoleBinding(role, agent, known.epoch, known.kid)


def _fill(space: Workspace, rounds: int) -> None:
    runs, left = Runs(space), rounds * 3
    while left:
        count = min(left, BATCH - BATCH % 3)
        jobs = [Job(STREAM, runs.command(), EXECUTOR) for _ in range(count)]
        for result in space.engine.execute_all(jobs):
            if isinstance(result, MootError):
                raise result
        left -= count


def executor(space: Workspace) -> Callable[[], None]:
    """One durable append by one caller."""
    runs = Runs(space, space.engine.state(TRACE, STREAM).intent_count)

    def one() -> None:
        space.engine.execute(STREAM, runs.command(), EXECUTOR)

    return one


def newcomer(place: Path) -> Callable[[], None]:
    """A process that has just started, as it were: opens the workspace, and does one round."""

    def one() -> None:
        with opened(place) as space:
            append = executor(space)
            for _ in range(3):
                append()

    return one
