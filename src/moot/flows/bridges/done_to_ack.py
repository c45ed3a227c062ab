"""Verified work closes the message that asked for it: its receiver says Completed (FLO-01).

The ACK is the receiver's own word, so the receiver runs this flow. It takes a trace that was
completed by a verification that passed. `still_held` says what waits to be given back.
"""

from __future__ import annotations

from moot.core.errors import Refused
from moot.engine.job import Link
from moot.flows.bridges import sources
from moot.flows.bridges.sources import FlowSource
from moot.flows.bridges.steps import StepPlan, TakenStep, path_of, state_of, take_step
from moot.flows.mail import notices
from moot.flows.mail.messages import read_message
from moot.flows.trace import guarded_execution, tracing
from moot.protocols.mail.events import MessageKept
from moot.protocols.mail.model import stream_of, thread_of_id
from moot.protocols.mail.types import AckStatus, MessageType
from moot.protocols.path.model import MadeThing, StepTarget
from moot.protocols.trace import events as did
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import AuditVerdict, Role
from moot.workspace.workspace import Workspace

FLOW = "done-to-ack"
ASKS = (MessageType.BLOCKED, MessageType.HANDOFF, MessageType.QUESTION)


def done_to_ack(
    workspace: Workspace, named: str, actor: str, message: str | None = None
) -> TakenStep:
    flow_source, stream = sources.trace(workspace, named, did.VerificationRunCompleted)
    state = workspace.engine.state(TRACE, stream)
    if state.verdict is None or state.verdict is AuditVerdict.FAIL:
        raise Refused(
            "not_verified",
            f"{tracing.short_name(stream)} was not verified: {state.verdict}",
            hint=f"`moot trace report {tracing.short_name(stream)}` says why",
        )
    asked = message or _asked_for(workspace, flow_source)
    request = sources.message(workspace, asked, *ASKS)
    _require_receiver(request.recorded.event, actor)
    native = request.flow_source.source.id

    def make(_target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        notes = f"Done and verified ({state.verdict}): {tracing.short_name(stream)}, {state.report}"
        done = _acknowledged(workspace, native, link)
        if done is None:
            status = AckStatus.COMPLETED.value
            outcome = notices.acknowledge(workspace, actor, native, status, notes, link=link).mail
            sent = outcome.newest(MessageKept)
            done = MadeThing("message", sent.stream, sent.seq, sent.event.id)
        return (done,)

    def target() -> StepTarget:
        return StepTarget(stream_of(thread_of_id(native)), native)

    return take_step(
        workspace, StepPlan(FLOW, flow_source, actor, target, make, fresh=False, named=True)
    )


def still_held(workspace: Workspace, named: str) -> tuple[str, list[str]]:
    """The executor of a trace, and what it still holds here of what the trace wrote to."""
    stream = tracing.require_trace(workspace, named)
    executor = tracing.agent_in_role(workspace.engine.state(TRACE, stream), Role.EXECUTOR)
    with workspace.store.read() as view:
        used = {
            int(one["fencing"])
            for record in view.records(stream)
            for one in record.body.data.get("reservations", ())
        }
    return executor, guarded_execution.scopes_still_held(workspace, used, executor)


def _asked_for(workspace: Workspace, found: FlowSource) -> str:
    """The message that this path began with."""
    steps = state_of(workspace, path_of(workspace, FLOW, found)).steps_in_order()
    begun = [step.source for step in steps if step.source.protocol == "mail"]
    if not begun:
        raise Refused(
            "no_message",
            "no message led to this trace",
            hint="name it: --message ID",
        )
    return begun[0].id


def _require_receiver(event: MessageKept, actor: str) -> None:
    names = [one.name for one in event.to]
    if actor not in names:
        raise Refused(
            "not_addressed",
            f"{event.id} was sent to {', '.join(names)}, and you are {actor}",
            hint=f"let {names[0]} do it: moot flow {FLOW} ...",
        )


def _acknowledged(workspace: Workspace, native: str, link: Link) -> MadeThing | None:
    """The same ACK, from a run that was cut short."""
    stream = stream_of(thread_of_id(native))
    with workspace.store.read() as view:
        for record in view.records(stream):
            body = record.body
            if body.type == "mail.message_sent" and body.cause == link.cause:
                acknowledgement = read_message(view, str(body.data["id"]))
                return MadeThing("message", stream, acknowledgement.seq, acknowledgement.event.id)
    return None
