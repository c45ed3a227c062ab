"""States: the same from a cache, from a snapshot and from event 0, in every process."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.errors import MootError, StoreFailed, Tampered
from moot.core.machine import Event, Machine, accept
from moot.core.names import CHECKPOINT, REGISTRY
from moot.core.paged_map import PagedMap
from moot.core.registry.machine import MACHINE as REGISTRY_MACHINE
from moot.engine.engine import Engine
from moot.engine.job import Job
from moot.engine.machines import Machines
from moot.engine.replay import read_record
from moot.protocols.example.machine import MACHINE
from moot.protocols.example.model import Ask, Finish, State, Withdraw
from moot.store.memory import MemoryStore
from moot.testing import World
from tests.engine.tampering import chain, everything
from tests.engine.toy_protocol import MACHINE as TOY
from tests.engine.toy_protocol import STREAM, jot, toy_world
from tests.sampling import examples

OTTER, CRANE = "amber-otter", "teal-crane"
AGENTS = (OTTER, CRANE)
ERRANDS = "example/today"


def by_hand(world: World, stream: str, machine: Machine[Any]) -> Any:
    """Every stored event through `evolve`, with no engine."""
    state = machine.initial
    with world.store.read() as view:
        for record in view.records(stream):
            state = machine.evolve(state, read_record(machine, record))
    return state


COMMANDS = st.one_of(
    st.builds(
        Ask,
        title=st.text("ab ", max_size=3),
        of=st.sampled_from(AGENTS),
        due_at=st.none() | st.integers(1771430400000, 1771430400000 + 3_000_000),
    ),
    st.builds(Finish, id=st.integers(1, 6).map("e{}".format)),
    st.builds(Withdraw, id=st.integers(1, 6).map("e{}".format)),
)
STEPS = st.tuples(
    COMMANDS,
    st.sampled_from(AGENTS),
    st.integers(0, 2),
    st.integers(-20, 40),
    st.sampled_from("ab"),
)


@pytest.mark.requirement("LDG-061")
@settings(max_examples=examples(60))
@given(st.lists(STEPS, max_size=25))
def test_every_engine_has_the_state_that_a_full_replay_gives(steps: list[Any]) -> None:
    world = World()
    for name in AGENTS:
        world.agent(name)
    engines = [world.engine, world.another_engine(), world.another_engine()]
    for command, actor, which, minutes, list_name in steps:
        world.clock.forward(minutes=minutes)
        (result,) = engines[which].execute_all([Job(f"example/{list_name}", command, actor)])
        code = result.code if isinstance(result, MootError) else ""
        assert code in {"", "errand_not_open", "not_yours", "title_required"}
    for stream in ("example/a", "example/b"):
        truth = by_hand(world, stream, MACHINE)
        assert all(engine.state(MACHINE, stream) == truth for engine in engines)
        assert world.another_engine().state(MACHINE, stream) == truth
        assert world.another_engine().load(stream, proved=True).state == truth


@pytest.mark.requirement("LDG-061")
def test_a_second_engine_sees_what_the_first_writes_and_writes_after_it() -> None:
    world = toy_world()
    first, second = world.engine, world.another_engine()
    for number in range(6):
        engine, other = (first, second) if number % 2 else (second, first)
        engine.execute(STREAM, jot(str(number)), OTTER)
        assert other.state(TOY, STREAM).texts[-1] == str(number)
    assert [record.seq for record in chain(world, STREAM)] == list(range(6))


@pytest.mark.requirement("LDG-061")
def test_a_stream_without_events_has_the_machines_first_state() -> None:
    world = toy_world()
    before = everything(world)
    assert world.engine.state(TOY, "toy/never") == TOY.initial
    assert world.engine.load("toy/never").seq == -1
    assert everything(world) == before


# Snapshots


def full(events: int, stream: str = ERRANDS) -> World:
    world = World()
    for name in AGENTS:
        world.agent(name)
    jobs = [Job(stream, Ask(title=str(n), of=CRANE), OTTER) for n in range(events)]
    for job in jobs:
        world.engine.execute_all([job])
    return world


def snapshot_of(world: World, stream: str = ERRANDS) -> Any:
    with world.store.read() as view:
        return view.snapshot(stream)


@pytest.mark.requirement("LDG-062")
@pytest.mark.parametrize(
    ("events", "at"), [(1, None), (63, None), (64, 63), (127, 63), (128, 127), (150, 127)]
)
def test_a_snapshot_is_kept_every_64_events(events: int, at: int | None) -> None:
    snapshot = snapshot_of(full(events))
    assert (snapshot.seq if snapshot else None) == at


@pytest.mark.requirement("LDG-062")
def test_a_batch_that_passes_the_mark_keeps_one_at_its_end() -> None:
    world = full(60)
    jobs = [Job(ERRANDS, Ask(title="x", of=CRANE), OTTER) for _ in range(10)]
    world.engine.execute_all(jobs)
    assert snapshot_of(world).seq == 69


@pytest.mark.requirement("LDG-062")
def test_a_state_from_a_snapshot_is_the_state_from_event_0() -> None:
    world = full(70)
    world.engine.execute(ERRANDS, Finish(id="e7"), CRANE)
    truth = by_hand(world, ERRANDS, MACHINE)
    loaded = world.another_engine().load(ERRANDS, proved=True)
    assert (loaded.state, loaded.seq, loaded.hash) == (truth, 70, chain(world, ERRANDS)[-1].hash)
    assert loaded.reg == 2


@pytest.mark.requirement("LDG-062")
def test_a_snapshot_spares_reading_what_it_covers() -> None:
    """Seen from outside: a record before it may be unreadable and nobody notices until verify."""
    world = full(70)
    records = chain(world, ERRANDS)
    old = records[3]
    records[3] = type(old)(old.stream, 3, old.kid, b"torn", old.signature)
    assert world.another_engine().state(MACHINE, ERRANDS).asked == 70


def spoilt(snapshot: Any, how: str) -> Any:
    other = msgspec.msgpack.encode((0, {"asked": 1_000_000}))
    return {
        "a false signature": snapshot._replace(signature=bytes(64)),
        "another state": snapshot._replace(state=other),
        "another machine": snapshot._replace(machine="example/0"),
        "another position": snapshot._replace(seq=snapshot.seq - 1),
        "from the future": snapshot._replace(seq=10_000),
        "no bytes": snapshot._replace(state=b"", signature=b""),
    }[how]


HOW = ["a false signature", "another state", "another machine", "another position", "no bytes"]


@pytest.mark.requirement("LDG-062")
@pytest.mark.parametrize("how", [*HOW, "from the future"])
def test_a_snapshot_that_does_not_fit_is_ignored(how: str) -> None:
    world = full(70)
    truth = by_hand(world, ERRANDS, MACHINE)
    assert isinstance(world.store, MemoryStore)
    world.store._tables.snapshots[ERRANDS] = spoilt(snapshot_of(world), how)
    assert world.another_engine().state(MACHINE, ERRANDS) == truth
    assert world.another_engine().load(ERRANDS, proved=True).state == truth


@pytest.mark.requirement("LDG-062")
def test_a_snapshot_of_another_stream_is_not_believed() -> None:
    world = full(70)
    for number in range(70):
        world.engine.execute("example/other", Ask(title=f"other {number}", of=CRANE), OTTER)
    truth = by_hand(world, ERRANDS, MACHINE)
    assert isinstance(world.store, MemoryStore)
    snapshots = world.store._tables.snapshots
    snapshots[ERRANDS] = snapshots["example/other"]._replace(stream=ERRANDS)
    assert world.another_engine().state(MACHINE, ERRANDS) == truth
    snapshots[ERRANDS] = snapshots["example/other"]
    with pytest.raises(Tampered):
        world.another_engine().state(MACHINE, ERRANDS)


@pytest.mark.requirement("LDG-062")
def test_without_the_checkpoint_key_no_snapshot_is_made_and_nothing_else_changes() -> None:
    world = full(60)
    world.keys.signers[CHECKPOINT] = []
    for number in range(10):
        world.engine.execute(ERRANDS, Ask(title=str(number), of=CRANE), OTTER)
    assert snapshot_of(world) is None
    assert world.another_engine().state(MACHINE, ERRANDS).asked == 70


@pytest.mark.requirement("LDG-062")
def test_a_machine_of_another_version_replays() -> None:
    world = full(70)
    newer: Machine[State] = Machine(
        name="example",
        version=2,
        initial=State(asked=1_000),
        events=tuple(MACHINE.type_of),
        commands=MACHINE.commands,
        decide=MACHINE.decide,
        evolve=MACHINE.evolve,
    )
    engine = Engine(world.store, world.keys, world.trust, world.clock, Machines(newer))
    assert engine.state(MACHINE, ERRANDS).asked == 1_070


# What a cache must not hide


@pytest.mark.requirement("LDG-061")
def test_an_older_copy_put_in_place_is_noticed_by_a_warm_engine_and_not_written_to() -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("a", "b", "c"), OTTER)
    del chain(world, STREAM)[1:]
    with pytest.raises(Tampered):
        world.engine.state(TOY, STREAM)
    with pytest.raises(Tampered):
        world.engine.execute(STREAM, jot("d"), OTTER)
    assert len(chain(world, STREAM)) == 1


@pytest.mark.requirement("LDG-061")
def test_a_signed_snapshot_beyond_the_end_proves_to_a_cold_engine_that_the_end_is_gone() -> None:
    world = full(130)
    del chain(world, ERRANDS)[100:]
    with pytest.raises(Tampered):
        world.another_engine().state(MACHINE, ERRANDS)


@pytest.mark.requirement("LDG-061")
def test_a_history_that_is_gone_altogether_is_noticed_by_warm_and_cold_engines() -> None:
    world = full(130)
    del chain(world, ERRANDS)[:]
    for engine in (world.engine, world.another_engine()):
        with pytest.raises(Tampered):
            engine.state(MACHINE, ERRANDS)
    assert chain(world, ERRANDS) == []


@pytest.mark.requirement("LDG-049")
def test_another_history_of_the_same_length_is_noticed_by_a_warm_engine() -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("a", "b"), OTTER)
    twin = toy_world()
    twin.engine.execute(STREAM, jot("a", "x"), OTTER)
    chain(world, STREAM)[:] = chain(twin, STREAM)
    with pytest.raises(Tampered):
        world.engine.state(TOY, STREAM)
    with pytest.raises(Tampered):
        world.engine.execute(STREAM, jot("c"), OTTER)


class UnheardOf(Event, frozen=True):
    text: str


class Jotted(Event, frozen=True):
    text: str
    pages: int = 3


def newer_jotter(event: type[Event], data: dict[str, Any]) -> Machine[Any]:
    """The toy protocol of a later version, which writes what this one cannot read."""
    return Machine(
        name="toy",
        version=1,
        initial=TOY.initial,
        events=(event,),
        commands=TOY.commands,
        decide=lambda *_: accept(event(**data)),
        evolve=lambda state, _: state,
    )


@pytest.mark.parametrize(
    ("event", "data"), [(UnheardOf, {"text": "a"}), (Jotted, {"text": None, "pages": 1})]
)
def test_an_event_that_a_newer_program_wrote_stops_the_reader_and_says_update(
    event: type[Event], data: dict[str, Any]
) -> None:
    world = toy_world()
    machines = Machines(newer_jotter(event, data))
    Engine(world.store, world.keys, world.trust, world.clock, machines).execute(
        STREAM, jot("a"), OTTER
    )
    before = everything(world)
    with pytest.raises(StoreFailed) as caught:
        world.another_engine().execute(STREAM, jot("b"), OTTER)
    assert caught.value.code == "newer_record"
    assert everything(world) == before


def test_the_registry_is_a_stream_like_any_other() -> None:
    world = toy_world()
    registry = world.another_engine().registry()
    assert registry == world.engine.state(REGISTRY_MACHINE, REGISTRY)
    assert isinstance(registry.agents, PagedMap)
    assert registry.position == 1
