"""Between the mail and a trace: a critique becomes a challenge, a challenge a critique, a
verification an INFO (FLO-05).

A challenge is the critic's own act: it is signed by the critic, who runs this flow, or not made.
What is told by mail is told by the machine, with whoever said it named.
"""

from __future__ import annotations

import re
from typing import Final

from moot.core.errors import Refused
from moot.core.machine import Recorded, is_kind
from moot.engine.job import Link
from moot.engine.replay import read_record
from moot.flows.bridges import sources
from moot.flows.bridges.damage import names_first_damage, require_proved
from moot.flows.bridges.sources import FlowSource
from moot.flows.bridges.steps import StepPlan, TakenStep, take_step
from moot.flows.bridges.to_mail import send_notice
from moot.flows.mail.messages import read_message_text
from moot.flows.trace import tracing
from moot.protocols.mail.body import read_body, unwrap_text_block
from moot.protocols.mail.body_writer import write_body as body_of_type
from moot.protocols.mail.types import MessageType
from moot.protocols.path.model import MadeThing, StepTarget
from moot.protocols.trace import events as did
from moot.protocols.trace.commands import ChallengeClaim
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import Role
from moot.workspace.workspace import Workspace

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
        before = _caused(workspace, stream, "trace.claim_challenged", link)
        if before is not None:
            return (MadeThing("challenge", stream, before, target.id),)
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


def _caused(workspace: Workspace, stream: str, kind: str, link: Link) -> int | None:
    with workspace.store.read() as view:
        found = (
            record.seq
            for record in view.records(stream)
            if record.body.type == kind and record.body.cause == link.cause
        )
        return next(found, None)


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
