"""A message by the machine, once, as a step of a path."""

from __future__ import annotations

from moot.core.errors import Refused
from moot.core.names import SYSTEM
from moot.engine.job import Link
from moot.flows.bridges.notify import concerned
from moot.flows.bridges.sources import FlowSource
from moot.flows.bridges.steps import StepPlan, TakenStep, take_step
from moot.flows.mail.letters import Letter, send_letter
from moot.protocols.mail.model import stream_of as mail_stream
from moot.protocols.path.model import MadeThing, StepTarget
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
        return StepTarget(mail_stream(thread), thread)

    return take_step(workspace, StepPlan(flow, flow_source, asked_by, target, make, fresh=False))
