"""Who goes on under an old name gets its parts and seats back, and what died is recorded.

A part is bound to a key. The key of the earlier session is lost to the new one, so a person says
that the part goes on under the new key; then the runs that died with their process are recorded as
failed, never run again. A seat is one holder's in the same way. Turns in debates wait under the
name and need nothing (FLO-03).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from moot.core.errors import Refused
from moot.core.machine import Due
from moot.engine.agents import find_agent
from moot.engine.job import Link
from moot.flows.bridges import sources
from moot.flows.bridges.sources import FlowSource
from moot.flows.bridges.steps import StepPlan, TakenStep, take_step
from moot.flows.trace import execution, tracing
from moot.protocols.parliament.commands import BindSeat
from moot.protocols.parliament.machine import MACHINE as PARLIAMENT
from moot.protocols.path.model import MadeThing, StepTarget
from moot.protocols.trace.commands import RotateKey
from moot.protocols.trace.events import ToolExecutionFailed
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import RoleBinding
from moot.workspace.workspace import Workspace

FLOW = "resume-to-work"
SEAT_FLOW = "resume-to-seat"


class ResumedWork(NamedTuple):
    """The step, and what waits for the agent elsewhere."""

    step: TakenStep
    dues: list[tuple[str, Due]]


def resume_to_work(workspace: Workspace, named: str, person: str) -> ResumedWork:
    recorded = sources.presence_event(workspace, named, sources.RESUMED)
    agent, event = recorded.actor.id, recorded.event
    bound = list(parts_of(workspace, agent))
    before = list(_done_before(workspace, recorded.hash.hex()))
    if not bound and not before:
        raise Refused(
            "nothing_bound",
            f"{agent} has no part in an open trace under an earlier key",
            hint=f"`moot agenda --agent {agent}` shows what waits for it",
        )
    title = f"{agent} goes on where an earlier session ended"
    flow_source = FlowSource(sources.source_of(recorded, event.id), title, agent, recorded.corr)

    def make(_target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        made = [*before, *(_taken_back(workspace, *part, person, link) for part in bound)]
        streams = dict.fromkeys(one.stream for one in made)
        return (*made, *(one for stream in streams for one in _recovered(workspace, stream, link)))

    stream = bound[0][0] if bound else before[0].stream
    target = StepTarget(stream, tracing.short_name(stream))
    plan = StepPlan(FLOW, flow_source, person, lambda: target, make, fresh=False)
    step = take_step(workspace, plan)
    dues = [
        (where, due)
        for where, due in workspace.engine.agenda(workspace.engine.open_streams())
        if due.who == agent
    ]
    return ResumedWork(step, dues)


def parts_of(workspace: Workspace, agent: str) -> Iterator[tuple[str, RoleBinding]]:
    """Parts of open traces that are bound to a key this agent no longer has."""
    kid = find_agent(workspace.engine, agent).kid
    for stream in _open(workspace, TRACE.name):
        state = workspace.engine.state(TRACE, stream)
        for binding in state.roles:
            if binding.agent == agent and binding.kid != kid and not state.ended:
                yield stream, binding


def _done_before(workspace: Workspace, cause: str) -> Iterator[MadeThing]:
    """What a run that was cut short had done already."""
    kinds = {"trace.key_rotated": ("key", "role"), _FAILED: ("recovery", "execution_id")}
    streams = _open(workspace, TRACE.name)
    with workspace.store.read() as view:
        for stream in streams:
            for record in view.records(stream):
                kind, field = kinds.get(record.body.type, ("", ""))
                if kind and record.body.cause == cause:
                    native = f"{tracing.short_name(stream)}/{record.body.data[field]}"
                    yield MadeThing(kind, stream, record.seq, native)


_FAILED: Final = "trace.tool_execution_failed"


def _taken_back(
    workspace: Workspace, stream: str, binding: RoleBinding, person: str, link: Link
) -> MadeThing:
    held = find_agent(workspace.engine, binding.agent)
    command = RotateKey(
        role=str(binding.role), epoch=held.epoch, kid=held.kid, reason="a session goes on"
    )
    outcome = workspace.engine.execute(stream, command, person, cause=link.cause, corr=link.corr)
    name = tracing.short_name(stream)
    return MadeThing("key", stream, outcome.recorded[-1].seq, f"{name}/{binding.role}")


def _recovered(workspace: Workspace, stream: str, link: Link) -> Iterator[MadeThing]:
    """Runs that died with their process: only the executor's key, now at hand, can say so."""
    for outcome in execution.recover(workspace, stream, link):
        failed = outcome.newest(ToolExecutionFailed)
        native = f"{tracing.short_name(stream)}/{failed.event.execution_id}"
        yield MadeThing("recovery", stream, failed.seq, native)


# Seats --------------------------------------------------------------------------------------------


def resume_to_seat(workspace: Workspace, named: str, person: str) -> TakenStep:
    recorded = sources.presence_event(workspace, named, sources.RESUMED)
    agent, cause = recorded.actor.id, recorded.hash.hex()
    lost, before = list(seats_of(workspace, agent)), list(_seats_before(workspace, cause))
    if not lost and not before:
        raise Refused(
            "nothing_bound",
            f"{agent} has no seat that an earlier session held",
            hint=f"`moot agenda --agent {agent}` shows what waits for it",
        )

    def make(_target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        epoch = find_agent(workspace.engine, agent).epoch
        made = list(before)
        for stream, seat in lost:
            command = BindSeat(seat=seat, agent=agent, epoch=epoch)
            outcome = workspace.engine.execute(
                stream, command, person, cause=link.cause, corr=link.corr
            )
            made.append(_seat(stream, outcome.recorded[-1].seq, seat))
        return tuple(made)

    title = f"{agent} goes on in the seat of an earlier session"
    flow_source = FlowSource(
        sources.source_of(recorded, recorded.event.id), title, agent, recorded.corr
    )
    stream = lost[0][0] if lost else before[0].stream
    target = StepTarget(stream, stream.partition("/")[2])
    return take_step(
        workspace, StepPlan(SEAT_FLOW, flow_source, person, lambda: target, make, fresh=False)
    )


def seats_of(workspace: Workspace, agent: str) -> Iterator[tuple[str, str]]:
    """Seats of open sessions that an earlier holder of this name was given."""
    epoch = find_agent(workspace.engine, agent).epoch
    for stream in _open(workspace, PARLIAMENT.name):
        state = workspace.engine.state(PARLIAMENT, stream)
        seat = state.seats.get(state.holders.get(agent, ""))
        if seat is not None and seat.epoch < epoch:
            yield stream, seat.id


def _seats_before(workspace: Workspace, cause: str) -> Iterator[MadeThing]:
    streams = _open(workspace, PARLIAMENT.name)
    with workspace.store.read() as view:
        for stream in streams:
            for record in view.records(stream):
                body = record.body
                if body.type == "parliament.seat_bound" and body.cause == cause:
                    yield _seat(stream, record.seq, str(body.data["seat"]))


def _seat(stream: str, seq: int, seat: str) -> MadeThing:
    return MadeThing("seat", stream, seq, f"{stream.partition('/')[2]}/{seat}")


def _open(workspace: Workspace, protocol: str) -> list[str]:
    return [one for one in workspace.engine.open_streams() if one.startswith(f"{protocol}/")]
