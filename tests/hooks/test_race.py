"""Eight hooks at once on one file: exactly one owner."""

from __future__ import annotations

from tests.hooks.yard import OTTER, Yard, call

AGENTS = tuple(f"calm-otter{number}" for number in range(8))


def test_of_eight_agents_that_write_at_once_exactly_one_may(yard: Yard) -> None:
    for agent in AGENTS:
        yard.ok("agent", "register", agent)
    said = call("claude-write", yard.root)
    children = [yard.start_hook("claude", said, agent) for agent in AGENTS]
    answers = [child.communicate(timeout=120)[0] for child in children]
    assert [child.returncode for child in children] == [0] * len(AGENTS)
    allowed = [agent for agent, out in zip(AGENTS, answers, strict=True) if not out]
    assert len(allowed) == 1
    assert yard.owners() == {"a.txt": allowed[0]}
    assert len(yard.events("INCURSION")) == len(AGENTS) - 1


def test_sessions_that_start_at_once_all_get_a_name_of_their_own(yard: Yard) -> None:
    calls = [call("claude-start", yard.root, session_id=f"s{number}") for number in range(8)]
    children = [yard.start_hook("claude", said, None) for said in calls]
    answers = [child.communicate(timeout=120)[0].decode() for child in children]
    names = {out.split()[2] for out in answers}
    assert len(names) == len(calls)
    assert {member.name for member in yard.presence.members} == names


def test_of_six_sub_agents_of_one_session_that_write_at_once_exactly_one_may(yard: Yard) -> None:
    ids = [f"sub{number}" for number in range(6)]
    calls = [call("claude-subagent", yard.root, agent_id=one) for one in ids]
    children = [yard.start_hook("claude", said) for said in calls]
    answers = [child.communicate(timeout=60)[0] for child in children]
    assert [child.returncode for child in children] == [0] * len(ids)
    allowed = [one for one, out in zip(ids, answers, strict=True) if not out]
    (member,) = (one for one in yard.presence.members if one.name == OTTER)
    at_work = {one.tool_id: one.alias for one in member.sub_agents}
    assert sorted(at_work) == ids
    (held,) = yard.presence.live
    assert [at_work[one] for one in allowed] == [held.alias]
    assert len(yard.events("INCURSION")) == len(ids) - 1
