"""Start and end the sub-agents of a tool session, each known by an alias such as amber-otter/2.

A sub-agent has no name in the registry and no key: its session signs for it, and the record
contains its alias. It starts with its first call; a hook reports its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.protocols.presence.model import Member, State


class EndedSubAgents(msgspec.Struct, frozen=True):
    """`agent` is the session's agent; `ended` are the aliases that ended now, such as
    amber-otter/2."""

    agent: str
    ended: tuple[str, ...]


@operation("hook.end_sub_agent", writes=True)
def end_sub_agent(session: Session, *, reason: str) -> EndedSubAgents | None:
    """End a sub-agent: its siblings may edit its files again, and its session keeps what it held.

    Ends the sub-agent that the session was opened for; for the main agent, all of its sub-agents.
    Ending one again, or one that never called, changes nothing, so a repeat needs no key. Refused
    as `actor_required` if the agent is unknown. Outside of a workspace it does nothing and returns
    None.
    """
    from moot.api.guard.guarded_paths import find_guarded_folder

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return None
    there = session.in_workspace(guarded.workspace)
    name = there.actor()
    return EndedSubAgents(name, end_sub_agents(there, name, session.sub_agent or "", reason))


def end_sub_agents(session: Session, name: str, tool_id: str, reason: str) -> tuple[str, ...]:
    """End one sub-agent of `name`, or all if `tool_id` is empty; return their aliases."""
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.commands import EndSubAgent
    from moot.protocols.presence.events import SubAgentEnded
    from moot.protocols.presence.model import name_with_alias

    _, member = _look_up(session, name)
    if member is None or not member.sub_agents:
        return ()  # most sessions have none, and then nothing is locked
    command = EndSubAgent(sub_agent=tool_id, all=not tool_id, reason=reason)
    outcome = session.workspace.engine.execute(STREAM, command, name)
    events = (recorded.event for recorded in outcome.recorded)
    ended = (event.alias for event in events if isinstance(event, SubAgentEnded))
    return tuple(name_with_alias(name, alias) for alias in ended)


def note_sub_agent(session: Session, name: str, tool_id: str) -> str:
    """Record that this sub-agent is at work, unless that is recent; return the number of its
    alias."""
    from moot.protocols.presence import STREAM, sub_agents
    from moot.protocols.presence.commands import BeginSubAgent

    engine = session.workspace.engine
    state, member = _look_up(session, name)
    known = sub_agents.find_by_tool_id(member, tool_id)
    if known is None or sub_agents.needs_sign(known, engine.clock(), state.stale_millis):
        kind = session.sub_agent_kind
        engine.execute(STREAM, BeginSubAgent(sub_agent=tool_id, sub_agent_kind=kind), name)
        _, member = _look_up(session, name)
        known = sub_agents.find_by_tool_id(member, tool_id)
    return known.alias if known is not None else ""


def _look_up(session: Session, name: str) -> tuple[State, Member | None]:
    """Return the presence state, and the member who has `name` now."""
    from moot.protocols.presence import STREAM, sub_agents
    from moot.protocols.presence.machine import MACHINE as PRESENCE

    engine = session.workspace.engine
    state, agent = engine.state(PRESENCE, STREAM), engine.registry().agents.get(name)
    epoch = agent.epoch if agent is not None else 0
    return state, sub_agents.find_session(state, name, epoch)
