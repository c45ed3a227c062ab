"""Eight hooks at once on one file: exactly one owner."""

from __future__ import annotations

from tests.hooks.yard import Yard, call

AGENTS = tuple(f"calm-otter{number}" for number in range(8))


def test_of_eight_agents_that_write_at_once_exactly_one_may(yard: Yard) -> None:
    for agent in AGENTS:
        yard.ok("agent", "register", agent)
    said = call("claude-write", yard.root)
    children = [yard.start_hook("claude", said, agent) for agent in AGENTS]
    answers = [child.communicate()[0] for child in children]
    assert [child.returncode for child in children] == [0] * len(AGENTS)
    allowed = [agent for agent, out in zip(AGENTS, answers, strict=True) if not out]
    assert len(allowed) == 1
    assert yard.owners() == {"a.txt": allowed[0]}
    assert len(yard.events("INCURSION")) == len(AGENTS) - 1


def test_sessions_that_start_at_once_all_get_a_name_of_their_own(yard: Yard) -> None:
    calls = [call("claude-start", yard.root, session_id=f"s{number}") for number in range(8)]
    children = [yard.start_hook("claude", said, None) for said in calls]
    answers = [child.communicate()[0].decode() for child in children]
    names = {out.split()[2] for out in answers}
    assert len(names) == len(calls)
    assert {member.name for member in yard.presence.members} == names
