"""Who goes on under an old name gets its parts in open traces back, and what died is recorded.

A part is bound to a key. The key of the earlier session is lost to the new one, so a person says
that the part goes on under the new key; then the runs that died with their process are recorded as
failed, never run again. Turns in debates wait under the name and need nothing (F-3).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from moot.core.errors import Refused
from moot.core.machine import Due
from moot.engine.agents import agent_named
from moot.engine.job import Link
from moot.flows import execution, tracing
from moot.flows.joins import sources
from moot.flows.joins.steps import Found, Plan, Walked, walk
from moot.path.model import Made, Target
from moot.trace.commands import RotateKey
from moot.trace.machine import MACHINE
from moot.trace.model import Binding, Role, State
from moot.workspace.workspace import Workspace

FLOW = "resume-to-work"


class Resumed(NamedTuple):
    """The step, and what waits for the agent elsewhere."""

    walked: Walked
    dues: list[tuple[str, Due]]


def resume_to_work(space: Workspace, named: str, person: str) -> Resumed:
    recorded = sources.presence_event(space, named, sources.RESUMED)
    agent, event = recorded.actor.id, recorded.event
    bound = list(parts_of(space, agent))
    if not bound:
        raise Refused(
            "nothing_bound",
            f"{agent} has no part in an open trace under an earlier key",
            hint=f"`moot agenda --agent {agent}` shows what waits for it",
        )
    title = f"{agent} goes on where an earlier session ended"
    found = Found(sources.source_of(recorded, event.id), title, agent, recorded.corr)

    def make(_target: Target, link: Link) -> tuple[Made, ...]:
        made: list[Made] = []
        for stream, binding in bound:
            made += _taken_back(space, stream, binding, person, link)
        return tuple(made)

    stream = bound[0][0]
    target = Target(stream, tracing.short(stream))
    plan = Plan(FLOW, found, person, lambda: target, make, fresh=False)
    walked = walk(space, plan)
    dues = [
        (where, due)
        for where, due in space.engine.agenda(space.engine.open_streams())
        if due.who == agent
    ]
    return Resumed(walked, dues)


def parts_of(space: Workspace, agent: str) -> Iterator[tuple[str, Binding]]:
    """Parts of open traces that are bound to a key this agent no longer has."""
    kid = agent_named(space.engine, agent).kid
    for stream in space.engine.open_streams():
        if stream.startswith(f"{MACHINE.name}/"):
            state: State = space.engine.state(stream)
            for binding in state.roles:
                if binding.agent == agent and binding.kid != kid and not state.ended:
                    yield stream, binding


def _taken_back(
    space: Workspace, stream: str, binding: Binding, person: str, link: Link
) -> Iterator[Made]:
    held = agent_named(space.engine, binding.agent)
    command = RotateKey(
        role=str(binding.role), epoch=held.epoch, kid=held.kid, reason="a session goes on"
    )
    outcome = space.engine.execute(stream, command, person, cause=link.cause, corr=link.corr)
    name = tracing.short(stream)
    yield Made("key", stream, outcome.recorded[-1].seq, f"{name}/{binding.role}")
    if binding.role is Role.EXECUTOR:
        for recovered in execution.recover(space, stream):
            last = recovered.recorded[-1]
            yield Made("recovery", stream, last.seq, f"{name}/{last.event.execution_id}")
