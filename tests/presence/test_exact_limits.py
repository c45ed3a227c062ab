"""Limits of presence met exactly, and with one more: overlaps, who is forgotten, aliases."""

from __future__ import annotations

import msgspec
import pytest
from immutables import Map

from moot.core.findings import select_errors
from moot.core.machine import Recorded
from moot.core.paged_map import PagedMap
from moot.core.record import Actor
from moot.protocols.presence import events as did
from moot.protocols.presence.checks import MAX_OVERLAPS
from moot.protocols.presence.evolution import MAX_MEMBERS, NEWCOMERS
from moot.protocols.presence.machine import MACHINE
from moot.protocols.presence.model import (
    STREAM,
    EventType,
    Member,
    PresenceMessage,
    Reservation,
    State,
    SubAgent,
)
from moot.protocols.presence.sub_agents import MAX_AT_WORK, add, next_alias

from .scene import CRANE, NOON, OTTER, ROOT, context, handoff, holding, take_over

JOINED = did.AgentJoined(project_root=ROOT, worktree=ROOT, branch=None, work=None, session_key=None)


@pytest.mark.parametrize(
    ("count", "codes", "ended"), [(MAX_OVERLAPS, [], 2_000), (2_001, ["scope_too_wide"], 0)]
)
def test_a_claim_may_touch_two_thousand_reservations(
    count: int, codes: list[str], ended: int
) -> None:
    """All of an owner of whom nothing is known, so that nothing else is in the way."""
    state = holding(
        *(
            Reservation(f"src/{number}", f"src/{number}", CRANE, 1, number + 1, NOON)
            for number in range(count)
        )
    )
    decision = MACHINE.decide(state, take_over("src"), context(OTTER))
    assert [finding.code for finding in select_errors(decision.findings)] == codes
    assert decision.refused is bool(codes)
    assert sum(isinstance(draft.event, did.ScopeExpired) for draft in decision.drafts) == ended


def name_agent(number: int) -> str:
    return f"agent-{number:04d}"


def join_next(state: State, name: str = OTTER) -> State:
    return MACHINE.evolve(state, Recorded(JOINED, STREAM, 0, NOON, Actor(name, 1, "k"), b""))


def full_of(count: int) -> State:
    """So many members; the later the number the longer away."""
    members = {
        name_agent(number): Member(name_agent(number), 1, 0, 5_000 - number)
        for number in range(count)
    }
    return State(members_by_name=PagedMap(members))


def test_nobody_is_forgotten_while_there_is_room() -> None:
    assert len(join_next(full_of(MAX_MEMBERS - 1)).members) == MAX_MEMBERS


def test_members_that_left_are_dropped_first_and_then_those_not_seen_for_longest() -> None:
    """The first ten have left, the two last hold something."""
    state = full_of(MAX_MEMBERS)
    members, live = state.members_by_name, state.live_by_key
    for number in range(10):
        name = name_agent(number)
        members = members.set(name, msgspec.structs.replace(members[name], left=True))
    for number in (998, 999):
        held = Reservation(f"f{number}", f"f{number}", name_agent(number), 1, number, 0)
        live = live.set(held.key, held)
    waiting = {
        to: PresenceMessage(f"to-{to}", EventType.HANDOFF, CRANE, 1, to=to, to_epoch=1, at=1)
        for to in map(name_agent, (0, 10))
    }
    full = msgspec.structs.replace(
        state, members_by_name=members, live_by_key=live, pending=Map(waiting)
    )
    later = join_next(full)
    kept = {member.name for member in later.members}
    gone = [number for number in range(MAX_MEMBERS) if name_agent(number) not in kept]
    assert gone == [*range(10), *range(998 - NEWCOMERS + 10, 998)]
    assert OTTER in kept
    assert list(later.pending) == [name_agent(10)]


@pytest.mark.parametrize(
    ("beyond", "kept"), [(0, 937), (1, 1_002), (63, 1_064), (64, 937), (65, 1_066)]
)
def test_where_all_held_something_only_every_so_many_newcomers_try_again(
    beyond: int, kept: int
) -> None:
    """They hold nothing any more: who tries finds room for as many as came in vain."""
    assert len(join_next(full_of(MAX_MEMBERS + beyond)).members) == kept


def sub_agent(alias: str, last_at: int = 1, tool_id: str = "tool") -> SubAgent:
    return SubAgent(alias, tool_id, "general", 1, last_at)


def at_work(count: int) -> Member:
    everyone = tuple(sub_agent(str(number), 100 - number) for number in range(1, count + 1))
    return Member(OTTER, 1, 1, 1, sub_agents=everyone, sub_agent_count=count)


def test_a_sub_agent_that_begins_under_an_alias_in_use_takes_its_place() -> None:
    crowded = at_work(MAX_AT_WORK)
    again = add(crowded, sub_agent("7", tool_id="another"))
    assert len(again.sub_agents) == MAX_AT_WORK
    assert [each.tool_id for each in again.sub_agents if each.alias == "7"] == ["another"]
    assert {each.alias for each in again.sub_agents} == {each.alias for each in crowded.sub_agents}
    assert again.sub_agent_count == MAX_AT_WORK


def test_the_sixty_fourth_finds_room_and_the_next_crowds_out_the_longest_silent() -> None:
    full = add(at_work(MAX_AT_WORK - 1), sub_agent("64", 99))
    assert len(full.sub_agents) == MAX_AT_WORK
    crowded = add(full, sub_agent("65", 99))
    left_out = {each.alias for each in full.sub_agents} - {
        each.alias for each in crowded.sub_agents
    }
    assert (len(crowded.sub_agents), left_out) == (MAX_AT_WORK, {"63"})


@pytest.mark.parametrize(
    ("alias", "following"),
    [("9", "10"), ("2", "4"), ("999999999", "1000000000"), ("1234567890", "4"), ("x", "4")],
)
def test_aliases_are_counted_on_from_the_highest_short_number(alias: str, following: str) -> None:
    assert next_alias(add(at_work(3), sub_agent(alias))) == following


@pytest.mark.parametrize(("waiting", "refused"), [(199, False), (200, True)])
def test_two_hundred_events_may_wait_for_one(waiting: int, refused: bool) -> None:
    sent = {
        f"e{number}": PresenceMessage(
            f"e{number}", EventType.HANDOFF, OTTER, 1, to=CRANE, to_epoch=1, at=1, requires_ack=True
        )
        for number in range(waiting)
    }
    state = msgspec.structs.replace(join_next(State(), CRANE), pending=Map(sent))
    decision = MACHINE.decide(state, handoff(CRANE), context(OTTER))
    codes = [finding.code for finding in select_errors(decision.findings)]
    assert codes == (["too_many_pending"] if refused else [])
    assert decision.refused is refused
