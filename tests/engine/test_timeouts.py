"""What is overdue happens by the next writing command or by a tick, never by reading."""

from __future__ import annotations

import pytest

from moot.core.errors import Refused
from moot.core.machine import Machine
from moot.core.names import SYSTEM
from moot.engine.machines import Machines
from moot.protocols.example.machine import MACHINE
from moot.protocols.example.model import Ask, ErrandAsked, ErrandLapsed, Finish, Lapse, State
from moot.testing import World
from tests.engine.tampering import chain, everything

STREAM, OTTER, CRANE = "example/today", "amber-otter", "teal-crane"


def world_with_errand(minutes: int = 5) -> World:
    world = World()
    world.agent(OTTER)
    world.agent(CRANE)
    due = world.clock.now + minutes * 60_000
    world.engine.execute(STREAM, Ask(title="tea", of=CRANE, due_at=due), OTTER)
    return world


def kinds(world: World) -> list[str]:
    return [record.body.type.removeprefix("example.") for record in chain(world, STREAM)]


@pytest.mark.requirement("LDG-046")
def test_reading_shows_what_is_overdue_and_changes_nothing() -> None:
    world = world_with_errand()
    world.clock.forward(minutes=6)
    before = everything(world)
    ((stream, due),) = world.engine.agenda([STREAM])
    assert (stream, due.who, due.command) == (STREAM, CRANE, Lapse(id="e1"))
    assert due.is_overdue(world.clock.now)
    assert "e1" in world.engine.state(MACHINE, STREAM).open
    assert world.engine.open_streams() == [STREAM]
    assert everything(world) == before


@pytest.mark.requirement("LDG-046")
def test_the_next_writing_command_applies_it_first_as_system() -> None:
    world = world_with_errand()
    world.clock.forward(minutes=6)
    outcome = world.engine.execute(STREAM, Ask(title="more", of=CRANE), OTTER)
    assert kinds(world) == ["errand_asked", "errand_lapsed", "errand_asked"]
    lapsed = chain(world, STREAM)[1]
    assert lapsed.body.actor.id == SYSTEM
    assert lapsed.signed_by(world.trust.root)
    (asked,) = outcome.recorded
    assert isinstance(asked.event, ErrandAsked)
    assert asked.event.title == "more"


@pytest.mark.requirement("LDG-046")
def test_a_command_that_comes_too_late_is_refused_by_what_it_triggered() -> None:
    world = world_with_errand()
    world.clock.forward(minutes=5)
    with pytest.raises(Refused) as caught:
        world.engine.execute(STREAM, Finish(id="e1"), CRANE)
    assert caught.value.code == "errand_not_open"
    assert kinds(world) == ["errand_asked", "errand_lapsed"]


@pytest.mark.requirement("LDG-046")
@pytest.mark.parametrize(("millis", "lapses"), [(-1, False), (0, True)])
def test_the_limit_itself_is_already_late(millis: int, lapses: bool) -> None:
    world = world_with_errand()
    world.clock.forward(minutes=5, millis=millis)
    assert (world.engine.tick(STREAM) is not None) is lapses


@pytest.mark.requirement("LDG-046")
def test_a_tick_applies_it_once() -> None:
    world = world_with_errand()
    world.clock.forward(minutes=6)
    outcome = world.engine.tick(STREAM)
    assert outcome is not None
    assert [recorded.actor.id for recorded in outcome.recorded] == [SYSTEM]
    assert not MACHINE.require_state(outcome.state).open
    before = everything(world)
    assert world.engine.tick(STREAM) is None
    assert world.another_engine().tick(STREAM) is None
    assert everything(world) == before


@pytest.mark.requirement("LDG-046")
def test_a_tick_where_nothing_is_due_or_nothing_exists_stores_nothing() -> None:
    world = world_with_errand()
    before = everything(world)
    assert world.engine.tick(STREAM) is None
    assert world.engine.tick("example/never") is None
    assert everything(world) == before


@pytest.mark.requirement("LDG-046")
def test_without_the_systems_key_it_stays_due_and_the_command_goes_on() -> None:
    world = world_with_errand()
    held = world.keys.signers.pop(SYSTEM)
    world.clock.forward(minutes=6)
    assert world.engine.tick(STREAM) is None
    world.engine.execute(STREAM, Ask(title="more", of=CRANE), OTTER)
    assert kinds(world) == ["errand_asked", "errand_asked"]
    assert [due.subject for _, due in world.engine.agenda([STREAM])] == ["e1: tea", "e2: more"]
    world.keys.signers[SYSTEM] = held
    assert world.engine.tick(STREAM) is not None
    assert kinds(world)[-1] == "errand_lapsed"


@pytest.mark.requirement("LDG-046")
def test_many_overdue_errands_lapse_in_the_order_they_were_asked() -> None:
    world = world_with_errand()
    for number in range(2, 31):
        due = world.clock.now + (100 - number) * 1_000
        world.engine.execute(STREAM, Ask(title=str(number), of=CRANE, due_at=due), OTTER)
    world.clock.forward(minutes=60)
    outcome = world.engine.tick(STREAM)
    assert outcome is not None
    events = [recorded.event for recorded in outcome.recorded]
    assert [event.id for event in events if isinstance(event, ErrandLapsed)] == [
        f"e{n}" for n in range(1, 31)
    ]


STUBBORN: Machine[State] = Machine(
    name="example",
    version=MACHINE.version,
    initial=MACHINE.initial,
    events=tuple(MACHINE.type_of),
    commands=MACHINE.commands,
    decide=MACHINE.decide,
    evolve=MACHINE.evolve,
    index=MACHINE.index,
    timeouts=lambda state, now: (Lapse(id="e99"), *MACHINE.timeouts(state, now)),
)


@pytest.mark.requirement("LDG-046")
def test_an_overdue_command_that_is_refused_does_not_hold_up_the_others() -> None:
    world = World(machines=Machines(STUBBORN))
    world.agent(OTTER)
    for _ in range(3):
        ask = Ask(title="tea", of=OTTER, due_at=world.clock.now + 60_000)
        world.engine.execute(STREAM, ask, OTTER)
    world.clock.forward(minutes=2)
    outcome = world.engine.tick(STREAM)
    assert outcome is not None
    events = [recorded.event for recorded in outcome.recorded]
    assert [event.id for event in events if isinstance(event, ErrandLapsed)] == ["e1", "e2", "e3"]
    assert world.engine.tick(STREAM) is None


@pytest.mark.requirement("LDG-046")
def test_a_repeated_command_triggers_nothing() -> None:
    world = world_with_errand()
    ask = Ask(title="more", of=CRANE)
    world.engine.execute(STREAM, ask, OTTER, key="k")
    world.clock.forward(minutes=6)
    before = everything(world)
    assert world.engine.execute(STREAM, ask, OTTER, key="k").replayed
    assert everything(world) == before


@pytest.mark.requirement("LDG-097")
def test_a_clock_that_goes_backwards_makes_nothing_due_and_breaks_nothing() -> None:
    world = world_with_errand()
    world.clock.forward(minutes=-600)
    assert world.engine.tick(STREAM) is None
    world.engine.execute(STREAM, Ask(title="earlier", of=CRANE), OTTER)
    ats = [record.body.at for record in chain(world, STREAM)]
    assert ats[1] < ats[0]
    assert world.another_engine().state(MACHINE, STREAM) == world.engine.state(MACHINE, STREAM)
