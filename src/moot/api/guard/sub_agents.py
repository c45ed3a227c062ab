"""The sub-agents of a coding tool's session: known while they work, and told apart by an alias.

A sub-agent has no name in the registry and no key: its session signs what it does, and the record
says under which alias. It begins with its first call; hooks tell its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.protocols.presence.model import Member, State


class EndedSubAgents(msgspec.Struct, frozen=True):
    """`agent` is the session's; `ended` are the aliases that ended just now, such as
    amber-otter/2."""

    agent: str
    ended: tuple[str, ...]


@operation("hook.end_sub_agent", writes=True)
def end_sub_agent(session: Session, *, reason: str) -> EndedSubAgents | None:
    """A sub-agent is done: its siblings need not keep off any more, its session keeps what it held.

    It is the one that the session was made for; if that is the session's main agent, all of its
    sub-agents end. One that has ended, or never called, changes nothing, so a repeat needs no key.
    Refused as `actor_required` if nobody knows who acts. Outside of a workspace it does nothing and
    gives back None.
    """
    from moot.api.guard.guarded_paths import find_guarded_folder

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return None
    there = session.in_workspace(guarded.workspace)
    name = there.actor()
    return EndedSubAgents(name, end_sub_agents(there, name, session.sub_agent or "", reason))


def end_sub_agents(session: Session, name: str, tool_id: str, reason: str) -> tuple[str, ...]:
    """End one of the sub-agents of `name`, or all if none is named; their aliases."""
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
    """Record that this sub-agent of `name` is at work, if that was not recorded lately; its alias.

    Given back is the number alone: 2 of amber-otter/2.
    """
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
    """Presence, and in it the present holder of `name`."""
    from moot.protocols.presence import STREAM, sub_agents
    from moot.protocols.presence.machine import MACHINE as PRESENCE

    engine = session.workspace.engine
    state, agent = engine.state(PRESENCE, STREAM), engine.registry().agents.get(name)
    epoch = agent.epoch if agent is not None else 0
    return state, sub_agents.find_session(state, name, epoch)
