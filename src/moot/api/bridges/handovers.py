"""Give an adopted name its parts and seats back, and tell agents and people what they must know.

A part is bound to a key, and the new holder of a name does not have the earlier key. So a person
binds the part to the new key. Runs that died with their process are then recorded as failed and
never run again. A seat belongs to one holder in the same way. Turns in debates wait under the name
and need nothing (FLO-03).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Final, NamedTuple

from moot.api.bridges import sources
from moot.api.bridges.participants import assess_liveness
from moot.api.bridges.steps import StepPlan, TakenStep, list_records_by_cause, take_step
from moot.api.bridges.to_mail import send_notice
from moot.api.traces import running, tracing
from moot.core.errors import Refused
from moot.core.machine import Due
from moot.engine.job import Link
from moot.engine.registry_commands import find_agent
from moot.protocols.debate import events as debate_events
from moot.protocols.debate.machine import MACHINE as DEBATE
from moot.protocols.mail.body_writer import write_blocked_body
from moot.protocols.parliament.commands import BindSeat
from moot.protocols.parliament.machine import MACHINE as PARLIAMENT
from moot.protocols.path.model import MadeThing, StepTarget
from moot.protocols.presence.paths import is_inside, read_scope
from moot.protocols.trace.commands import RotateKey
from moot.protocols.trace.events import ToolExecutionFailed
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import Role, RoleBinding
from moot.workspace.workspace import Workspace

RESUME_FLOW = "resume-to-work"
SEAT_FLOW = "resume-to-seat"


class ResumedWork(NamedTuple):
    """The step, and what waits for the agent elsewhere."""

    step: TakenStep
    dues: list[tuple[str, Due]]


def resume_to_work(workspace: Workspace, reference: str, person: str) -> ResumedWork:
    recorded = sources.find_presence_event(workspace, reference, sources.RESUMED)
    agent, event = recorded.actor.id, recorded.event
    bound = list(list_lost_parts(workspace, agent))
    before = list(_list_made_before(workspace, recorded.hash.hex()))
    if not bound and not before:
        raise Refused(
            "nothing_bound",
            f"{agent} has no part in an open trace under an earlier key",
            hint=f"`moot agenda --agent {agent}` shows what waits for it",
        )
    title = f"{agent} goes on where an earlier session ended"
    flow_source = sources.make_source(recorded, event.id, title)

    def make(_target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        made = [*before, *(_rebind_part(workspace, *part, person, link) for part in bound)]
        streams = dict.fromkeys(one.stream for one in made)
        return (
            *made,
            *(one for stream in streams for one in _record_dead_runs(workspace, stream, link)),
        )

    stream = bound[0][0] if bound else before[0].stream
    target = StepTarget(stream, tracing.short_name(stream))
    plan = StepPlan(RESUME_FLOW, flow_source, person, lambda: target, make)
    step = take_step(workspace, plan)
    dues = [
        (where, due)
        for where, due in workspace.engine.agenda(workspace.engine.open_streams())
        if due.who == agent
    ]
    return ResumedWork(step, dues)


def list_lost_parts(workspace: Workspace, agent: str) -> Iterator[tuple[str, RoleBinding]]:
    """List the parts in open traces that are bound to a key which this agent no longer has."""
    kid = find_agent(workspace.engine, agent).kid
    for stream in _list_open_streams(workspace, TRACE.name):
        state = workspace.engine.state(TRACE, stream)
        for binding in state.roles:
            if binding.agent == agent and binding.kid != kid and not state.ended:
                yield stream, binding


def _list_made_before(workspace: Workspace, cause: str) -> Iterator[MadeThing]:
    """List what an interrupted run of this step had recorded already."""
    for record in list_records_by_cause(
        workspace, _list_open_streams(workspace, TRACE.name), cause, *_MADE_KINDS
    ):
        kind, field = _MADE_KINDS[record.body.type]
        native = f"{tracing.short_name(record.stream)}/{record.body.data[field]}"
        yield MadeThing(kind, record.stream, record.seq, native)


_MADE_KINDS: Final = {
    "trace.key_rotated": ("key", "role"),
    "trace.tool_execution_failed": ("recovery", "execution_id"),
}


def _rebind_part(
    workspace: Workspace, stream: str, binding: RoleBinding, person: str, link: Link
) -> MadeThing:
    current = find_agent(workspace.engine, binding.agent)
    command = RotateKey(
        role=str(binding.role), epoch=current.epoch, kid=current.kid, reason="a session goes on"
    )
    outcome = workspace.engine.execute(stream, command, person, cause=link.cause, corr=link.corr)
    name = tracing.short_name(stream)
    return MadeThing("key", stream, outcome.recorded[-1].seq, f"{name}/{binding.role}")


def _record_dead_runs(workspace: Workspace, stream: str, link: Link) -> Iterator[MadeThing]:
    """Record runs that died with their process; only the executor's key, now at hand, may."""
    for outcome in running.recover(workspace, stream, link):
        failed = outcome.newest(ToolExecutionFailed)
        native = f"{tracing.short_name(stream)}/{failed.event.execution_id}"
        yield MadeThing("recovery", stream, failed.seq, native)


def resume_to_seat(workspace: Workspace, reference: str, person: str) -> TakenStep:
    recorded = sources.find_presence_event(workspace, reference, sources.RESUMED)
    agent, cause = recorded.actor.id, recorded.hash.hex()
    lost, open_sessions = (
        list(list_lost_seats(workspace, agent)),
        _list_open_streams(workspace, PARLIAMENT.name),
    )
    before = [
        _made_seat(record.stream, record.seq, str(record.body.data["seat"]))
        for record in list_records_by_cause(
            workspace, open_sessions, cause, "parliament.seat_bound"
        )
    ]
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
            made.append(_made_seat(stream, outcome.recorded[-1].seq, seat))
        return tuple(made)

    title = f"{agent} goes on in the seat of an earlier session"
    flow_source = sources.make_source(recorded, recorded.event.id, title)
    stream = lost[0][0] if lost else before[0].stream
    target = StepTarget(stream, stream.partition("/")[2])
    return take_step(workspace, StepPlan(SEAT_FLOW, flow_source, person, lambda: target, make))


def list_lost_seats(workspace: Workspace, agent: str) -> Iterator[tuple[str, str]]:
    """List the seats in open parliaments that an earlier holder of this name was given."""
    epoch = find_agent(workspace.engine, agent).epoch
    for stream in _list_open_streams(workspace, PARLIAMENT.name):
        state = workspace.engine.state(PARLIAMENT, stream)
        seat = state.seats.get(state.holders.get(agent, ""))
        if seat is not None and seat.epoch < epoch:
            yield stream, seat.id


def _made_seat(stream: str, seq: int, seat: str) -> MadeThing:
    return MadeThing("seat", stream, seq, f"{stream.partition('/')[2]}/{seat}")


def _list_open_streams(workspace: Workspace, protocol: str) -> list[str]:
    return [name for name in workspace.engine.open_streams() if name.startswith(f"{protocol}/")]


TAKEOVER_FLOW = "takeover-to-info"


def takeover_to_info(workspace: Workspace, reference: str, asked_by: str) -> TakenStep:
    """Tell an agent that its scope was taken over, and which of its intents can no longer run.

    `guarded_execution` refuses to run them (FLO-02); this message only says so beforehand.
    """
    recorded = sources.find_presence_event(workspace, reference, sources.INCURSION)
    event = recorded.event
    if event.outcome != "taken_over":
        raise Refused(
            "wrong_source",
            f"event {reference} is not a takeover",
            hint="`moot event list` shows what was taken over",
        )
    stopped = list(list_stopped_intents(workspace, event.owner, event.key))
    title = f"{event.held} was taken over by {recorded.actor.id}"
    flow_source = sources.make_source(recorded, event.id, title)
    lines = [f"{title}: {event.resolution_hint}."]
    lines += [f"- {trace} {intent} can no longer run there" for trace, intent in stopped]
    body = "# Information\n\n" + "\n".join(lines) + "\n"
    return send_notice(
        workspace,
        TAKEOVER_FLOW,
        flow_source,
        asked_by,
        (event.owner,),
        f"INFO: {title}"[:200],
        body,
    )


def list_stopped_intents(workspace: Workspace, owner: str, key: str) -> Iterator[tuple[str, str]]:
    """List this agent's open intents that would write to a scope it no longer holds."""
    for stream in _list_open_streams(workspace, TRACE.name):
        state = workspace.engine.state(TRACE, stream)
        bound = state.binding_of(Role.EXECUTOR)
        if bound is None or bound.agent != owner:
            continue
        for intent in state.intents.values():
            keys = [read_scope(scope, str(workspace.root)).key for scope in intent.writes]
            if any(one == key or is_inside(one, key) or is_inside(key, one) for one in keys):
                yield tracing.short_name(stream), intent.id


TIMEOUT_FLOW = "timeout-to-operator"


def timeout_to_operator(workspace: Workspace, reference: str, asked_by: str) -> TakenStep:
    """Send BLOCKED to the people here when a debate's turn timed out (FLO-04)."""
    begun, path = sources.find_debate(workspace, reference, debate_events.SessionBegan)
    stream, file = begun.source.stream, shlex.quote(str(path))
    workspace.engine.tick(stream)
    flow_source, _ = sources.find_debate(workspace, reference, debate_events.TurnTimedOut)
    state = workspace.engine.state(DEBATE, stream)
    if not workspace.engine.registry().human_keys():
        raise Refused(
            "nobody_to_tell",
            "no person is registered here",
            hint="`moot agent register operator --human` makes one",
        )
    with workspace.store.read() as view:
        record = next(view.records(stream, after=flow_source.source.seq - 1))
    late = [str(name) for name in record.body.data["agents"]]
    how = "; ".join(
        f"{name} is {verdict.liveness}"
        for name, verdict in assess_liveness(workspace, late).items()
    )
    body = write_blocked_body(
        item=state.session_id,
        blocker=f"{', '.join(late)} did not speak in time in {flow_source.title!r}. {how}".strip(),
        kind="Dependency",
        needed=(
            f"moot debate resume {file} --late gives the time again, --skip passes over; "
            f"moot debate close {file} --reason TEXT ends it"
        ),
    )
    subject = f"BLOCKED: {' '.join(flow_source.title.split())}"[:200]
    return send_notice(
        workspace, TIMEOUT_FLOW, flow_source, asked_by, (), subject, body, importance="urgent"
    )
