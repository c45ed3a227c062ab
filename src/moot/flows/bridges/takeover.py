"""Who lost a scope to another is told so, and what of theirs can no longer run there (FLO-02).

Nothing needs to be stopped by hand: `guarded_execution` refuses what the former owner would start
there. This only says it, before it is tried.
"""

from __future__ import annotations

from collections.abc import Iterator

from moot.core.errors import Refused
from moot.flows.bridges import sources
from moot.flows.bridges.sources import FlowSource
from moot.flows.bridges.steps import TakenStep
from moot.flows.bridges.to_mail import send_notice
from moot.flows.trace import tracing
from moot.protocols.presence.paths import is_inside, read_scope
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import Role
from moot.workspace.workspace import Workspace

FLOW = "takeover-to-info"


def takeover_to_info(workspace: Workspace, named: str, asked_by: str) -> TakenStep:
    recorded = sources.presence_event(workspace, named, sources.INCURSION)
    event = recorded.event
    if event.outcome != "taken_over":
        raise Refused(
            "wrong_source",
            f"{named} took nothing over",
            hint="`moot event list` shows what was taken over",
        )
    stopped = list(stopped_by(workspace, event.owner, event.key))
    title = f"{event.held} was taken over by {recorded.actor.id}"
    flow_source = FlowSource(
        sources.source_of(recorded, event.id), title, recorded.actor.id, recorded.corr
    )
    lines = [f"{title}: {event.resolution_hint}."]
    lines += [f"- {trace} {intent} can no longer run there" for trace, intent in stopped]
    body = "# Information\n\n" + "\n".join(lines) + "\n"
    return send_notice(
        workspace, FLOW, flow_source, asked_by, (event.owner,), f"INFO: {title}"[:200], body
    )


def stopped_by(workspace: Workspace, owner: str, key: str) -> Iterator[tuple[str, str]]:
    """Open intents of this agent that would write to what it no longer holds."""
    prefix = f"{TRACE.name}/"
    for stream in workspace.engine.open_streams():
        if not stream.startswith(prefix):
            continue
        state = workspace.engine.state(TRACE, stream)
        bound = state.binding_of(Role.EXECUTOR)
        if bound is None or bound.agent != owner:
            continue
        for intent in state.intents.values():
            keys = [read_scope(scope, str(workspace.root)).key for scope in intent.writes]
            if any(one == key or is_inside(one, key) or is_inside(key, one) for one in keys):
                yield tracing.short_name(stream), intent.id
