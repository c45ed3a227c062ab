"""Sub-agents of one session: which one acts, which are at work, which one blocks another.

For other agents a sub-agent is its session, which owns what it holds and signs what it does. Within
the session, each sub-agent keeps what it works on until it ends, or until it showed no sign of life
for the stale time.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import UnsetType

from moot.core.clock import Millis
from moot.protocols.presence import model
from moot.protocols.presence.liveness import LivenessVerdict, judge_liveness
from moot.protocols.presence.model import Liveness, Member, Reservation, State, SubAgent

MAX_AT_WORK: Final = 64
# A sign of life is recorded after this part of the stale time: a few an hour, and none is missed.
SIGNS_IN_STALE_TIME: Final = 3

replace = msgspec.structs.replace


def find_session(state: State, name: str, epoch: int) -> Member | None:
    """Return this holder of the name; None if it has not acted here, or a later one has."""
    member = model.find_member(state, name)
    return member if member is not None and member.epoch == epoch else None


def find_by_tool_id(member: Member | None, tool_id: str) -> SubAgent | None:
    at_work = member.sub_agents if member is not None else ()
    return next((each for each in at_work if each.tool_id == tool_id), None)


def find_by_alias(member: Member | None, alias: str) -> SubAgent | None:
    at_work = member.sub_agents if member is not None else ()
    return next((each for each in at_work if each.alias == alias), None)


def read_alias(state: State, name: str, epoch: int, tool_id: str | UnsetType) -> str | None:
    """Return the alias of that sub-agent, or the one it would get if it began now.

    Empty for the session's main agent, None if it is unknown which sub-agent acts.
    """
    if isinstance(tool_id, UnsetType):
        return None
    if not tool_id:
        return ""
    member = find_session(state, name, epoch)
    known = find_by_tool_id(member, tool_id)
    return known.alias if known is not None else next_alias(member)


def next_alias(member: Member | None) -> str:
    return str(member.sub_agent_count + 1 if member is not None else 1)


def judge_sub_agent(sub_agent: SubAgent, now: Millis, stale_millis: Millis) -> LivenessVerdict:
    """Judge by what was recorded of it; its session's heartbeats do not count."""
    return judge_liveness(sub_agent.last_at, now, stale_millis, "its last recorded act")


def is_quiet(sub_agent: SubAgent, now: Millis, stale_millis: Millis) -> bool:
    """True if it showed no sign of life for so long that it blocks no other sub-agent."""
    return judge_sub_agent(sub_agent, now, stale_millis).liveness is not Liveness.ACTIVE


def needs_sign(sub_agent: SubAgent, now: Millis, stale_millis: Millis) -> bool:
    """True if its last sign is so old that another should be recorded."""
    return now - sub_agent.last_at >= stale_millis // SIGNS_IN_STALE_TIME


def works_on(state: State, held: Reservation, now: Millis) -> bool:
    """True if a sub-agent is at work there: releasing `all` must not expose it."""
    worker = find_by_alias(find_session(state, held.owner, held.epoch), held.alias)
    return worker is not None and not is_quiet(worker, now, state.stale_millis)


def add(member: Member, sub_agent: SubAgent) -> Member:
    """Return the member with this sub-agent at work; at the limit, drop the longest silent."""
    others = [each for each in member.sub_agents if each.alias != sub_agent.alias]
    if len(others) >= MAX_AT_WORK:
        others.remove(longest_silent(others))
    given = int(sub_agent.alias) if _is_number(sub_agent.alias) else 0
    count = max(member.sub_agent_count, given)
    return replace(member, sub_agents=(*others, sub_agent), sub_agent_count=count)


def longest_silent(sub_agents: list[SubAgent] | tuple[SubAgent, ...]) -> SubAgent:
    return min(sub_agents, key=lambda each: (each.last_at, each.since, each.alias))


def remove(member: Member, alias: str) -> Member:
    rest = tuple(each for each in member.sub_agents if each.alias != alias)
    return member if len(rest) == len(member.sub_agents) else replace(member, sub_agents=rest)


def see(member: Member, alias: str, at: Millis) -> Member:
    """Return the member with a later sign of life of this sub-agent, if it is at work."""
    known = find_by_alias(member, alias)
    if known is None or known.last_at >= at:
        return member
    seen = replace(known, last_at=at)
    return replace(
        member,
        sub_agents=tuple(seen if each is known else each for each in member.sub_agents),
    )


def _is_number(alias: str) -> bool:
    """True for a short number; a record may have any text."""
    return len(alias) <= 9 and alias.isascii() and alias.isdigit()
