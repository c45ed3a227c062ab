"""Every machine keeps its promises in the first few thousand states; a broken one does not."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

import msgspec
import pytest

from moot.core.machine import Command, Context, Decision, Machine, Recorded
from moot.core.paged_map import PagedMap
from moot.engine.machines import MODULES
from moot.protocols.example import model as did
from moot.protocols.presence import commands as ask
from moot.protocols.presence.machine import MACHINE as PRESENCE
from tests.model.errands import Errands
from tests.model.explorer import BrokenPromise, explore
from tests.model.presence import Presence
from tests.model.small_world import SmallWorld
from tests.model.worlds import WORLDS

FEW_STATES = 1_500
# Signatures are checked at every step of a registry.
FEWER_STATES = {"registry": 400}


def test_every_machine_has_a_small_world() -> None:
    assert set(WORLDS) == set(MODULES)
    assert {name: world.machine.name for name, world in WORLDS.items()} == {
        name: name for name in MODULES
    }


@pytest.mark.parametrize("part", [4, pytest.param(1, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", WORLDS)
def test_no_promise_is_broken_in_a_few_thousand_states(name: str, part: int) -> None:
    most = FEWER_STATES.get(name, FEW_STATES) // part
    done = explore(WORLDS[name](), most)
    assert done.states >= most or done.is_whole
    assert done.depth >= 1


def _copy(machine: Machine[Any], **changed: Any) -> Machine[Any]:
    """The same machine with some of its functions in other hands."""
    parts: dict[str, Any] = {
        part: getattr(machine, part)
        for part in ("name", "version", "initial", "commands", "decide", "evolve", "agenda")
    }
    parts |= {"events": tuple(machine.type_of), "index": machine.index}
    parts |= {"timeouts": machine.timeouts, "needs_signs_of": machine.needs_signs_of}
    return Machine(**{**parts, **changed})


def _break(world: type[SmallWorld], **changed: Any) -> SmallWorld:
    broken = _copy(world.machine, **changed)
    return type("Broken", (world,), {"machine": broken})()  # type: ignore[no-any-return]


def _find(world: SmallWorld) -> str:
    with pytest.raises(BrokenPromise) as broken:
        explore(world, FEW_STATES)
    return str(broken.value)


def _forget_overlaps(state: Any, command: Command, context: Context) -> Decision:
    """A decision that sees no reservation of others."""
    if isinstance(command, ask.Reserve):
        mine = {held.key: held for held in state.live if held.owner == context.actor.id}
        state = msgspec.structs.replace(state, live_by_key=PagedMap(mine))
    return PRESENCE.decide(state, command, context)


def test_two_holders_of_one_scope_are_reported_as_commands() -> None:
    told = _find(_break(Presence, decide=_forget_overlaps))
    assert "amber-otter" in told
    assert "teal-crane" in told
    assert "  1. " in told
    assert "teal-crane: Reserve(scopes=('src/a.py',), project_root='/home/user/repo')" in told


def _lose_acceptances(state: Any, recorded: Recorded[Any]) -> Any:
    after = PRESENCE.evolve(state, recorded)
    return msgspec.structs.replace(after, pending=PRESENCE.initial.pending)


def test_a_lost_acknowledgement_is_found() -> None:
    assert "owed are" in _find(_break(Presence, evolve=_lose_acceptances))


def test_an_agenda_that_forgets_is_found() -> None:
    told = _find(_break(Errands, agenda=lambda _state, _now: (), timeouts=None))
    assert "open are ['e1'], due are []" in told


def test_a_timeout_that_nobody_applies_is_found() -> None:
    told = _find(_break(Errands, timeouts=lambda _state, _now: ()))
    assert "nobody will do it" in told
    assert "(the clock moves by 10 minutes)" in told


def test_a_state_that_replays_differently_is_found() -> None:
    calls = count(2 * 10**12)

    def evolve_by_mood(state: Any, recorded: Recorded[Any]) -> Any:
        after = Errands.machine.evolve(state, recorded)
        return msgspec.structs.replace(after, next_due=next(calls))

    told = _find(_break(Errands, evolve=evolve_by_mood))
    assert told.startswith("replaying the recorded events gives another state")


def test_a_machine_that_stumbles_is_reported_as_commands() -> None:
    def stumble(_state: Any, recorded: Recorded[Any]) -> Any:
        if isinstance(recorded.event, did.ErrandWithdrawn):
            raise KeyError("errand")
        return Errands.machine.evolve(_state, recorded)

    told = _find(_break(Errands, evolve=stumble))
    assert told.startswith("KeyError")
    assert "Withdraw(id='e1')" in told


def test_a_dead_end_is_found() -> None:
    class NothingOnTheMenu(Errands):
        def list_steps(self, scene: Any) -> Iterable[Any]:
            return list(super().list_steps(scene)) if scene.state.asked < 2 else ()

    assert "nothing leads on" in _find(NothingOnTheMenu())
