"""Sub-agents of one session: who of them acts, who is still at work, who holds another off.

To every other agent they are their session: it owns what they hold and signs what they do. Among
themselves, and towards their session's main agent, each keeps what it works on until it ends, or
until nothing was seen of it for the stale time.
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
    """Return that very holder of the name; None if it has not acted here, or another has since."""
    member = model.find_member(state, name)
    return member if member is not None and member.epoch == epoch else None


def find_by_tool_id(member: Member | None, tool_id: str) -> SubAgent | None:
    at_work = member.sub_agents if member is not None else ()
    return next((each for each in at_work if each.tool_id == tool_id), None)


def find_by_alias(member: Member | None, alias: str) -> SubAgent | None:
    at_work = member.sub_agents if member is not None else ()
    return next((each for each in at_work if each.alias == alias), None)


def read_alias(state: State, name: str, epoch: int, tool_id: str | UnsetType) -> str | None:
    """Return the alias under which that sub-agent acts, or would if it began now.

    Empty for the session's main agent, None if it is not known who of the session acts.
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
    """How alive it is by what was recorded of it; its session's heartbeats say nothing of it."""
    return judge_liveness(sub_agent.last_at, now, stale_millis, "its last recorded act")


def is_quiet(sub_agent: SubAgent, now: Millis, stale_millis: Millis) -> bool:
    """True if nothing was seen of it for so long that it holds nobody off any more."""
    return judge_sub_agent(sub_agent, now, stale_millis).liveness is not Liveness.ACTIVE


def needs_sign(sub_agent: SubAgent, now: Millis, stale_millis: Millis) -> bool:
    """True if its last sign is so old that another should be recorded."""
    return now - sub_agent.last_at >= stale_millis // SIGNS_IN_STALE_TIME


def works_on(state: State, held: Reservation, now: Millis) -> bool:
    """True if a sub-agent is at work there: whoever gives back everything must not expose it."""
    worker = find_by_alias(find_session(state, held.owner, held.epoch), held.alias)
    return worker is not None and not is_quiet(worker, now, state.stale_millis)


def add(member: Member, sub_agent: SubAgent) -> Member:
    """With one more at work. Beyond the limit the one longest silent drops out."""
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
    """With a later sign of life of this sub-agent, if it is at work."""
    known = find_by_alias(member, alias)
    if known is None or known.last_at >= at:
        return member
    seen = replace(known, last_at=at)
    return replace(
        member,
        sub_agents=tuple(seen if each is known else each for each in member.sub_agents),
    )


def _is_number(alias: str) -> bool:
    """Any text may stand in a record; only a short number counts on."""
    return len(alias) <= 9 and alias.isascii() and alias.isdigit()
