"""Steps that send a message or acknowledge one, and challenges that come from a message.

Moot signs what it sends; the agent who runs the flow signs a challenge or an acknowledgement.
"""

from __future__ import annotations

import re
from typing import Final

from moot.api.bridges import sources
from moot.api.bridges.damage import report_first_damage, require_valid_signatures
from moot.api.bridges.sources import FlowSource
from moot.api.bridges.steps import (
    StepPlan,
    TakenStep,
    list_readers,
    list_records_by_cause,
    path_of,
    state_of,
    take_step,
)
from moot.api.mail import notices
from moot.api.mail.messages import read_message_text
from moot.api.mail.outgoing import OutgoingMessage, post_message
from moot.api.traces import guarded_execution, tracing
from moot.core.errors import Refused
from moot.core.machine import Recorded, is_kind
from moot.core.names import SYSTEM
from moot.engine.job import Link
from moot.engine.replay import read_record
from moot.protocols.mail.body import MessageBody, unwrap_text_block
from moot.protocols.mail.body_writer import write_body as body_of_type
from moot.protocols.mail.events import MessageKept
from moot.protocols.mail.model import stream_of, thread_of_id
from moot.protocols.mail.types import AckStatus, MessageType
from moot.protocols.path.model import MadeThing, StepTarget
from moot.protocols.trace.commands import ChallengeClaim
from moot.protocols.trace.events import ClaimChallenged, VerificationRunCompleted
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import AuditVerdict, Role
from moot.workspace.workspace import Workspace


def send_notice(
    workspace: Workspace,
    flow: str,
    flow_source: FlowSource,
    asked_by: str,
    names: tuple[str, ...],
    subject: str,
    body: str,
    importance: str = "normal",
) -> TakenStep:
    """Send one message, signed by Moot, in the thread of this step."""
    to = list_readers(workspace, *names)
    if not to:
        raise Refused(
            "nobody_to_tell",
            "no registered agent or person is left to read this",
            hint="`moot agent register NAME --human` lets a person read it",
        )

    def make(target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        outgoing = OutgoingMessage(
            to=to,
            subject=subject,
            body=body,
            thread=target.id,
            importance=importance,
            key=f"{flow}-{flow_source.source.hash[:12]}",
            cause=link.cause,
            corr=link.corr,
        )
        message = post_message(workspace, SYSTEM, outgoing).message
        return (MadeThing("message", message.stream, message.seq, message.event.id),)

    def target() -> StepTarget:
        thread = f"{flow}-{flow_source.source.hash[:10]}"
        return StepTarget(stream_of(thread), thread)

    return take_step(workspace, StepPlan(flow, flow_source, asked_by, target, make))


_CLAIM: Final = re.compile(r"(?:(t[0-9]{1,15})[/ ])?(c[0-9]{1,15})\b")


def critique_to_challenge(
    workspace: Workspace, reference: str, actor: str, trace: str | None = None
) -> TakenStep:
    """Let the critic challenge the claim that a CRITIQUE names; the critic runs this (FLO-05)."""
    critique = sources.find_message(workspace, reference, MessageType.CRITIQUE)
    body = MessageBody(read_message_text(workspace, critique.recorded))
    where = _CLAIM.search(body.text_of("Target"))
    name = trace or (where[1] if where is not None else None)
    if where is None or name is None:
        raise Refused(
            "no_claim_named",
            "the critique's target names no claim of a trace",
            hint="`## Target` must name one, such as t1/c2; or add --trace t1",
        )
    stream, claim = tracing.require_trace(workspace, name), where[2]
    reason = unwrap_text_block(body.text_of("Attack"))
    require_valid_signatures(workspace, stream)
    critic = tracing.agent_in_role(workspace.engine.state(TRACE, stream), Role.CRITIC)
    if actor != critic:
        raise Refused(
            "not_the_critic",
            f"only {critic} may sign this challenge, and you are {actor}",
            hint=f"let {critic} do it: moot flow critique-to-challenge {reference}",
        )

    def make(target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        before = list_records_by_cause(workspace, [stream], link.cause, "trace.claim_challenged")
        if before:
            return (MadeThing("challenge", stream, before[0].seq, target.id),)
        origin = f" (critique {critique.flow_source.source.id} of {critique.flow_source.origin})"
        command = ChallengeClaim(claim_id=claim, reason=f"{reason}{origin}")
        outcome = tracing.execute_step(workspace, stream, command, actor, link)
        return (MadeThing("challenge", stream, outcome.recorded[-1].seq, target.id),)

    target = StepTarget(stream, f"{tracing.short_name(stream)}/{claim}")
    plan = StepPlan(
        "critique-to-challenge",
        critique.flow_source,
        actor,
        lambda: target,
        make,
        target_was_named=True,
    )
    return take_step(workspace, plan)


def challenge_to_critique(
    workspace: Workspace, reference: str, claim: str, asked_by: str
) -> TakenStep:
    """Send the executor a CRITIQUE with the challenge's claim, reason and evidence (FLO-12)."""
    stream = tracing.require_trace(workspace, reference)
    recorded = _find_challenge(workspace, stream, claim)
    short = tracing.short_name(stream)
    flow_source = sources.make_source(recorded, f"{short}/{claim}", f"Challenge of {short}/{claim}")
    state = workspace.engine.state(TRACE, stream)
    body = body_of_type(
        MessageType.CRITIQUE,
        {
            "Target": f"{short}/{claim}",
            "Attack": recorded.event.reason,
            "Evidence": "\n".join(recorded.event.evidence),
            "Severity": "Major",
        },
        title=f"Critique: {short}/{claim}",
    )
    executor = tracing.agent_in_role(state, Role.EXECUTOR)
    subject = f"CRITIQUE: {short}/{claim}, by {recorded.actor.id}"
    return send_notice(
        workspace, "challenge-to-critique", flow_source, asked_by, (executor,), subject, body
    )


@report_first_damage
def _find_challenge(workspace: Workspace, stream: str, claim: str) -> Recorded[ClaimChallenged]:
    workspace.engine.load(stream)  # refuses a stream whose hash chain is broken
    wanted, last = TRACE.type_of[ClaimChallenged], None
    with workspace.store.read() as view:
        for record in view.records(stream):
            if record.body.type == wanted and record.body.data.get("claim_id") == claim:
                last = read_record(TRACE, record)
    if last is None or not is_kind(last, ClaimChallenged):
        raise Refused(
            "not_challenged",
            f"{claim} was not challenged",
            hint=f"`moot trace status {tracing.short_name(stream)}` shows the claims",
        )
    return last


def report_to_info(workspace: Workspace, reference: str, asked_by: str) -> TakenStep:
    """Send the result of a trace's verification to every agent with a part in it."""
    flow_source, stream = sources.find_trace(workspace, reference, VerificationRunCompleted)
    state = workspace.engine.state(TRACE, stream)
    short = tracing.short_name(stream)
    codes = f"\nFound: {state.because}" if state.because else ""
    body = (
        f"# Information\n\nThe verification of {short} says: {state.verdict}."
        f"\nReport: {state.report}{codes}\n"
    )
    names = tuple(dict.fromkeys(one.agent for one in state.roles))
    subject = f"INFO: v{state.run_count} {short} is verified: {state.verdict}"
    return send_notice(workspace, "report-to-info", flow_source, asked_by, names, subject, body)


ACK_FLOW = "done-to-ack"
REQUEST_TYPES = (MessageType.BLOCKED, MessageType.HANDOFF, MessageType.QUESTION)


def done_to_ack(
    workspace: Workspace, reference: str, actor: str, message: str | None = None
) -> TakenStep:
    """Acknowledge the message that asked for verified work, as Completed (FLO-01).

    The receiver of that message signs the ACK and so runs this flow. The trace's verification must
    have passed. `list_held_scopes` lists what the executor should release next.
    """
    flow_source, stream = sources.find_trace(workspace, reference, VerificationRunCompleted)
    state = workspace.engine.state(TRACE, stream)
    if state.verdict is None or state.verdict is AuditVerdict.FAIL:
        raise Refused(
            "not_verified",
            f"{tracing.short_name(stream)} was not verified: {state.verdict}",
            hint=f"`moot trace report {tracing.short_name(stream)}` says why",
        )
    asked = message or _find_request(workspace, flow_source)
    request = sources.find_message(workspace, asked, *REQUEST_TYPES)
    names = [one.name for one in request.recorded.event.to]
    if actor not in names:
        raise Refused(
            "not_addressed",
            f"{request.recorded.event.id} was sent to {', '.join(names)}, and you are {actor}",
            hint=f"let {names[0]} do it: moot flow {ACK_FLOW} ...",
        )
    native = request.flow_source.source.id
    thread = stream_of(thread_of_id(native))

    def make(_target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        before = list_records_by_cause(workspace, [thread], link.cause, "mail.message_sent")
        if before:  # an interrupted run sent this ACK already
            return (MadeThing("message", thread, before[0].seq, str(before[0].body.data["id"])),)
        notes = f"Done and verified ({state.verdict}): {tracing.short_name(stream)}, {state.report}"
        status = AckStatus.COMPLETED.value
        outcome = notices.acknowledge(workspace, actor, native, status, notes, link=link).mail
        sent = outcome.newest(MessageKept)
        return (MadeThing("message", sent.stream, sent.seq, sent.event.id),)

    def target() -> StepTarget:
        return StepTarget(thread, native)

    return take_step(
        workspace, StepPlan(ACK_FLOW, flow_source, actor, target, make, target_was_named=True)
    )


def list_held_scopes(workspace: Workspace, reference: str) -> tuple[str, list[str]]:
    """Return a trace's executor, and which scopes that the trace wrote to it still holds."""
    stream = tracing.require_trace(workspace, reference)
    executor = tracing.agent_in_role(workspace.engine.state(TRACE, stream), Role.EXECUTOR)
    with workspace.store.read() as view:
        used = {
            int(one["fencing"])
            for record in view.records(stream)
            for one in record.body.data.get("reservations", ())
        }
    return executor, guarded_execution.scopes_still_held(workspace, used, executor)


def _find_request(workspace: Workspace, found: FlowSource) -> str:
    """Return the message that this path began with."""
    steps = state_of(workspace, path_of(workspace, ACK_FLOW, found)).steps_in_order()
    begun = [step.source for step in steps if step.source.protocol == "mail"]
    if not begun:
        raise Refused(
            "no_message", "no message led to this trace", hint="name one with --message ID"
        )
    return begun[0].id
