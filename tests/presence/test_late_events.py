"""Events that meet nothing any more: they stand on record, and change nothing but what is there."""

from __future__ import annotations

import msgspec
import pytest

from moot.core.machine import Event, KeyClass, Recorded
from moot.core.names import SYSTEM
from moot.core.record import Actor
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.machine import MACHINE
from moot.protocols.presence.model import STREAM, Liveness, Member, Reservation, State
from moot.testing import Scenario

from .scene import (
    CRANE,
    NOON,
    OTTER,
    ROOT,
    blocked,
    context,
    crew,
    holding,
    new_holder,
    release,
    reserve,
    run,
)
from .test_exact_limits import JOINED
from .test_freed_scopes import gone
from .test_sub_agents import edit

HIT = did.IncursionNoted(
    id="proto_20260218_001",
    project_root=ROOT,
    work=None,
    owner=OTTER,
    owner_epoch=1,
    reservation=1,
    key="src",
    scope="src",
    held="src",
    kind="exact",
    owner_liveness=Liveness.ACTIVE,
    last_seen_at=None,
    outcome="refused",
    resolution_hint="x",
)
MOVED = did.ScopeHandedOver(
    was=1,
    fencing=2,
    key="src",
    scope="src",
    from_owner=OTTER,
    owner=CRANE,
    owner_epoch=1,
    because="x",
)


def after(state: State, event: Event, name: str = CRANE, epoch: int = 1) -> State:
    return MACHINE.evolve(state, Recorded(event, STREAM, 9, NOON, Actor(name, epoch, "k"), b""))


def hits(state: State) -> dict[str, tuple[str, ...]]:
    return {held.key: held.hit_by for held in state.live}


def test_an_incursion_is_noted_once_on_the_very_lease_that_it_hit() -> None:
    state = crew(OTTER).when(reserve("src")).state
    once = after(state, HIT)
    assert hits(once) == {"src": (CRANE,)}
    assert hits(after(once, HIT)) == {"src": (CRANE,)}
    assert hits(after(state, msgspec.structs.replace(HIT, reservation=7))) == {"src": ()}
    assert hits(after(holding(), HIT)) == {}


def test_of_what_owes_nothing_the_last_256_are_remembered() -> None:
    state = holding()
    for number in range(257):
        state = after(state, msgspec.structs.replace(HIT, id=f"proto_20260218_{number:03d}"))
    ids = [message.id for message in state.recent]
    assert ids == [f"proto_20260218_{number:03d}" for number in range(1, 257)]


def test_only_the_lease_that_is_named_is_handed_over() -> None:
    state = crew(OTTER).when(reserve("src")).state
    (moved,) = after(state, MOVED, OTTER).live
    assert (moved.owner, moved.fencing) == (CRANE, 2)
    later = msgspec.structs.replace(MOVED, was=7)
    assert after(state, later, OTTER).live == state.live
    assert after(holding(), MOVED, OTTER).live == ()


@pytest.mark.parametrize(("ended", "is_settled"), [(CRANE, True), (OTTER, False)])
def test_a_request_is_settled_when_its_receiver_has_ended(ended: str, is_settled: bool) -> None:
    state = crew(OTTER, CRANE).when(blocked()).state
    later = after(state, did.AnswerLapsed(id="proto_20260218_001", ended=ended), SYSTEM)
    (message,) = later.recent
    assert (message.settled, len(later.pending)) == (is_settled, 0)


def test_who_releases_gave_back_until_it_reserves_again() -> None:
    scenario = crew(OTTER)
    for command, gave_back in ((reserve("a"), False), (release("a"), True), (reserve("b"), False)):
        scenario.when(command)
        assert scenario.state.members[0].gave_back is gave_back


def test_an_answer_that_nobody_waits_for_cannot_lapse() -> None:
    lapsed = did.AnswerLapsed(id="proto_20260218_001", ended=OTTER)
    state = crew(OTTER).state
    assert after(state, lapsed, SYSTEM) == state


@pytest.mark.parametrize(
    "event",
    [
        did.SubAgentBegan(alias="", tool_id="tool", kind=""),
        did.SubAgentEnded(alias="", reason="x"),
    ],
)
def test_a_sub_agent_without_an_alias_is_nobody(event: Event) -> None:
    state = crew(OTTER).when(edit("a.py", "toolu_first")).state
    later = after(state, event, OTTER)
    assert (later.members[0].sub_agents, later.live) == (state.members[0].sub_agents, state.live)


@pytest.mark.parametrize(
    "event",
    [
        did.SubAgentBegan(alias="2", tool_id="tool", kind=""),
        did.SubAgentEnded(alias="1", reason="x"),
    ],
)
def test_an_earlier_holder_has_no_say_over_the_sub_agents_of_a_later_one(event: Event) -> None:
    scenario = crew(OTTER)
    new_holder(scenario.world, OTTER)
    state = after(scenario.state, did.SubAgentBegan(alias="1", tool_id="t", kind=""), OTTER, 2)
    assert after(state, event, OTTER, 1) == state


def test_an_earlier_holder_is_no_sign_of_life_of_a_later_one() -> None:
    later = after(crew(OTTER).state, did.SubAgentSeen(alias=""), OTTER, 2)
    seen = Recorded(did.SubAgentSeen(alias=""), STREAM, 10, NOON + 1, Actor(OTTER, 1, "k"), b"")
    assert MACHINE.evolve(later, seen) == later


def test_the_machine_itself_was_never_here() -> None:
    state = crew(OTTER).state
    assert after(state, did.AgentLeft(reason="x"), SYSTEM) == state
    assert after(state, JOINED, SYSTEM) == state


def find_otter(scenario: Scenario[State]) -> Member:
    return next(member for member in scenario.state.members if member.name == OTTER)


def test_an_agent_whose_program_exited_has_left_once() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    run(scenario, gone(dirty=()), SYSTEM)
    assert find_otter(scenario).left
    assert scenario.state.live == ()
    before = len(scenario.history())
    run(scenario, gone(dirty=()), SYSTEM)
    run(scenario, gone(dirty=(), agent="nobody-here"), SYSTEM)
    assert len(scenario.history()) == before


@pytest.mark.parametrize(("agent", "epoch"), [("nobody-here", 1), (OTTER, 2)])
def test_no_other_agent_ends_with_it(agent: str, epoch: int) -> None:
    state = crew(OTTER, CRANE).state
    event = did.AgentGone(agent=agent, agent_epoch=epoch, observer=CRANE, because="x")
    assert after(state, event, SYSTEM) == state


def test_a_hundred_leases_end_at_once_the_longest_overdue_first() -> None:
    """The later the number the sooner it ended."""
    leases = [
        Reservation(f"f{number}", f"f{number}", OTTER, 1, number, 0, expires_at=NOON - number)
        for number in range(1, 102)
    ]
    machine = context(SYSTEM, kind=KeyClass.SYSTEM)
    decision = MACHINE.decide(holding(*leases), ask.ExpireScopes(), machine)
    ended = [
        draft.event.key for draft in decision.drafts if isinstance(draft.event, did.ScopeExpired)
    ]
    assert ended == [f"f{number}" for number in range(101, 1, -1)]
