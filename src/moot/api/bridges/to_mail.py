"""A message by the machine, once, as a step of a path."""

from __future__ import annotations

import re
from typing import Final

from moot.api.bridges import sources
from moot.api.bridges.damage import names_first_damage, require_proved
from moot.api.bridges.sources import FlowSource
from moot.api.bridges.steps import (
    StepPlan,
    TakenStep,
    concerned,
    list_caused,
    path_of,
    state_of,
    take_step,
)
from moot.api.mail import notices
from moot.api.mail.letters import Letter, send_letter
from moot.api.mail.messages import read_message_text
from moot.api.traces import guarded_execution, tracing
from moot.core.errors import Refused
from moot.core.machine import Recorded, is_kind
from moot.core.names import SYSTEM
from moot.engine.job import Link
from moot.engine.replay import read_record
from moot.protocols.mail.body import read_body, unwrap_text_block
from moot.protocols.mail.body_writer import write_body as body_of_type
from moot.protocols.mail.events import MessageKept
from moot.protocols.mail.model import stream_of, thread_of_id
from moot.protocols.mail.types import AckStatus, MessageType
from moot.protocols.path.model import MadeThing, StepTarget
from moot.protocols.trace import events as did
from moot.protocols.trace.commands import ChallengeClaim
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
    """A message by the machine, once, in the thread of the path."""
    to = concerned(workspace, *names)
    if not to:
        raise Refused(
            "nobody_to_tell",
            "nobody is left who could read this",
            hint="`moot agent register NAME --human` lets a person read it",
        )

    def make(target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        letter = Letter(
            to=to,
            subject=subject,
            body=body,
            thread=target.id,
            importance=importance,
            key=f"{flow}-{flow_source.source.hash[:12]}",
            cause=link.cause,
            corr=link.corr,
        )
        message = send_letter(workspace, SYSTEM, letter).message
        return (MadeThing("message", message.stream, message.seq, message.event.id),)

    def target() -> StepTarget:
        thread = f"{flow}-{flow_source.source.hash[:10]}"
        return StepTarget(stream_of(thread), thread)

    return take_step(workspace, StepPlan(flow, flow_source, asked_by, target, make, fresh=False))


# Between the mail and a trace (FLO-05). A challenge is the critic's own act: it is signed by the
# critic, who runs this flow, or not made. What is told by mail is told by the machine.

_CLAIM: Final = re.compile(r"(?:(t[0-9]{1,15})[/ ])?(c[0-9]{1,15})\b")


def critique_to_challenge(
    workspace: Workspace, named: str, actor: str, trace: str | None = None
) -> TakenStep:
    """The critic takes up a CRITIQUE whose target is a claim."""
    critique = sources.message(workspace, named, MessageType.CRITIQUE)
    body = read_body(read_message_text(workspace, critique.recorded))
    where = _CLAIM.search(body.text_of("Target"))
    name = trace or (where[1] if where is not None else None)
    if where is None or name is None:
        raise Refused(
            "no_claim_named",
            "the critique's target names no claim of a trace",
            hint="`## Target` says which, such as t1/c2; or --trace t1",
        )
    stream, claim = tracing.require_trace(workspace, name), where[2]
    reason = unwrap_text_block(body.text_of("Attack"))
    require_proved(workspace, stream)
    critic = tracing.agent_in_role(workspace.engine.state(TRACE, stream), Role.CRITIC)
    if actor != critic:
        raise Refused(
            "not_the_critic",
            f"a challenge is {critic}'s to sign, and you are {actor}",
            hint=f"let {critic} do it: moot flow critique-to-challenge {named}",
        )

    def make(target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        before = list_caused(workspace, [stream], link.cause, "trace.claim_challenged")
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
        fresh=False,
        named=True,
    )
    return take_step(workspace, plan)


def challenge_to_critique(workspace: Workspace, named: str, claim: str, asked_by: str) -> TakenStep:
    """FLO-12: the target is the claim, the attack the reason, the evidence what it cites."""
    stream = tracing.require_trace(workspace, named)
    recorded = _challenge(workspace, stream, claim)
    short = tracing.short_name(stream)
    flow_source = FlowSource(
        sources.source_of(recorded, f"{short}/{claim}"),
        f"Challenge of {short}/{claim}",
        recorded.actor.id,
        recorded.corr,
    )
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


@names_first_damage
def _challenge(workspace: Workspace, stream: str, claim: str) -> Recorded[did.ClaimChallenged]:
    workspace.engine.load(stream)  # a history with a broken chain is not read from
    wanted, last = TRACE.type_of[did.ClaimChallenged], None
    with workspace.store.read() as view:
        for record in view.records(stream):
            if record.body.type == wanted and record.body.data.get("claim_id") == claim:
                last = read_record(TRACE, record)
    if last is None or not is_kind(last, did.ClaimChallenged):
        raise Refused(
            "not_challenged",
            f"nobody has challenged {claim}",
            hint=f"`moot trace status {tracing.short_name(stream)}` shows the claims",
        )
    return last


def report_to_info(workspace: Workspace, named: str, asked_by: str) -> TakenStep:
    """What the verification of a trace found, told to all who play a part in it."""
    flow_source, stream = sources.trace(workspace, named, did.VerificationRunCompleted)
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


FLOW = "done-to-ack"
ASKS = (MessageType.BLOCKED, MessageType.HANDOFF, MessageType.QUESTION)


def done_to_ack(
    workspace: Workspace, named: str, actor: str, message: str | None = None
) -> TakenStep:
    """Verified work closes the message that asked for it: its receiver says Completed (FLO-01).

    The ACK is the receiver's own word, so the receiver runs this flow. It takes a trace that was
    completed by a verification that passed. `still_held` says what waits to be given back.
    """
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
    names = [one.name for one in request.recorded.event.to]
    if actor not in names:
        raise Refused(
            "not_addressed",
            f"{request.recorded.event.id} was sent to {', '.join(names)}, and you are {actor}",
            hint=f"let {names[0]} do it: moot flow {FLOW} ...",
        )
    native = request.flow_source.source.id
    thread = stream_of(thread_of_id(native))

    def make(_target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        before = list_caused(workspace, [thread], link.cause, "mail.message_sent")
        if before:  # the same ACK, from a run that was cut short
            return (MadeThing("message", thread, before[0].seq, str(before[0].body.data["id"])),)
        notes = f"Done and verified ({state.verdict}): {tracing.short_name(stream)}, {state.report}"
        status = AckStatus.COMPLETED.value
        outcome = notices.acknowledge(workspace, actor, native, status, notes, link=link).mail
        sent = outcome.newest(MessageKept)
        return (MadeThing("message", sent.stream, sent.seq, sent.event.id),)

    def target() -> StepTarget:
        return StepTarget(thread, native)

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
