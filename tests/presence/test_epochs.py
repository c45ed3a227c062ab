"""A lease or message of an earlier holder of a name never acts for the new one."""

from __future__ import annotations

from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.views import Observation, view_reservations

from .scene import (
    CRANE,
    OTTER,
    ROOT,
    crew,
    handoff,
    new_holder,
    owners,
    refusal,
    reserve,
    run,
    take_over,
)


def test_the_next_holder_does_not_own_what_the_last_one_held() -> None:
    scenario = crew(OTTER).when(reserve("src"))
    new_holder(scenario.world, OTTER)
    scenario.refused("release_forbidden", ask.Release(scopes=("src",), project_root=ROOT))
    error = refusal(scenario, reserve("src/a.py"), OTTER)
    assert error.code == "reservation_stale_found"
    assert "it belongs to an earlier amber-otter" in str(error)


def test_a_lease_of_an_earlier_holder_is_taken_over_as_evicted_however_fresh() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    new_holder(scenario.world, OTTER)
    run(scenario, reserve("docs"), OTTER)  # the new holder is now known, and alive
    (held,) = (
        one for one in view_reservations(scenario.state, Observation(0)) if one.scope == "src"
    )
    assert held.liveness == "evicted"
    recorded = [one.event for one in run(scenario, take_over("src"), CRANE).recorded]
    assert [type(event) for event in recorded] == [
        did.IncursionNoted,
        did.ScopeExpired,
        did.ScopeReserved,
    ]
    assert owners(scenario) == {"docs": OTTER, "src": CRANE}


def test_leaving_releases_only_what_this_holder_holds() -> None:
    scenario = crew(OTTER).when(reserve("src"))
    new_holder(scenario.world, OTTER)
    scenario.when(reserve("docs"), ask.Leave())
    assert owners(scenario) == {"src": OTTER}
    scenario.when(ask.Release(all=True)).then()


def test_a_message_for_an_earlier_holder_is_not_accepted_by_the_next() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"), handoff(scope="src"))
    new_holder(scenario.world, CRANE)
    error = refusal(scenario, ask.Accept(id="proto_20260218_001"), CRANE)
    assert error.code == "ack_forbidden"
    assert str(error) == "this message was for an earlier teal-crane"
    assert owners(scenario) == {"src": OTTER}


def test_a_handoff_of_an_earlier_sender_moves_nothing_of_the_next() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"), handoff(scope="src"))
    new_holder(scenario.world, OTTER)
    run(scenario, take_over("src"), OTTER)
    assert scenario.state.live[0].epoch == 2
    run(scenario, ask.Accept(id="proto_20260218_001"), CRANE)
    assert owners(scenario) == {"src": OTTER}


def test_a_message_goes_to_the_latest_holder_who_is_known() -> None:
    scenario = crew(OTTER, CRANE)
    new_holder(scenario.world, CRANE)
    run(scenario, reserve("docs"), CRANE)
    scenario.as_(OTTER).when(handoff(to_epoch=1))
    assert getattr(scenario.recorded[0], "to_epoch", 0) == 2
