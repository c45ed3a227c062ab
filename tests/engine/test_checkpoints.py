"""One signature over all heads: when it is made, what it pins, and that numbers only grow."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from moot.core.checkpoint_note import Checkpoint, read_note
from moot.core.errors import Refused, StoreFailed, Tampered
from moot.core.ledger import Head
from moot.core.names import CHECKPOINT, REGISTRY
from moot.engine.checkpoints import (
    EVERY_EVENTS,
    NewCheckpoint,
    inclusion_path_of,
    newest_checkpoint,
)
from moot.engine.engine import Engine
from moot.engine.job import Job, JobOutcome
from moot.store.memory import MemoryStore, MemoryTransaction
from moot.testing import World
from tests.core import merkle
from tests.engine.tampering import chain, everything
from tests.engine.toy_protocol import MACHINE as TOY
from tests.engine.toy_protocol import STREAM, jot, toy_world

OTTER = "amber-otter"


def note_of(world: World) -> Checkpoint | None:
    with world.store.read() as view:
        return newest_checkpoint(view, world.trust)


def leaves(world: World) -> list[bytes]:
    """Each stream's newest event, hashed as the format page says, in order of creation."""
    found = []
    with world.store.read() as view:
        for name, head in view.streams():
            parts = (name.encode(), str(head.seq).encode(), head.hash)
            framed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
            found.append(hashlib.sha256(b"\x00" + framed).digest())
    return found


@pytest.mark.requirement("LDG-034")
def test_a_checkpoint_pins_every_head() -> None:
    world = toy_world()
    for number in range(11):
        world.engine.execute(f"toy/{number}", jot(*"ab"), OTTER)
        kept = world.engine.checkpoint()
        assert kept is not None
        assert kept.checkpoint.root == merkle.tree_hash(leaves(world))
        assert (kept.checkpoint.streams, kept.checkpoint.events) == (
            number + 2,
            2 + 2 * (number + 1),
        )
        assert read_note(kept.note, world.trust.checkpoint) == kept.checkpoint == note_of(world)
    world.engine.execute("toy/3", jot("later"), OTTER)
    moved = world.engine.checkpoint()
    assert moved is not None
    assert [name for name, _ in moved.moved] == ["toy/3"]
    assert moved.checkpoint.root == merkle.tree_hash(leaves(world))


@pytest.mark.requirement("LDG-034")
def test_every_stream_has_a_path_to_the_newest_root() -> None:
    world = toy_world()
    for number in range(9):
        world.engine.execute(f"toy/{number}", jot("a"), OTTER)
        world.engine.checkpoint()
    checkpoint, all_leaves = note_of(world), leaves(world)
    assert checkpoint is not None
    with world.store.read() as view:
        for index, leaf in enumerate(all_leaves):
            path = list(inclusion_path_of(view, index, checkpoint.streams))
            top = merkle.root_from_path(leaf, index, checkpoint.streams, path)
            assert top == checkpoint.root


@pytest.mark.requirement("LDG-034")
def test_the_stored_tree_belongs_to_the_newest_note_not_to_the_newest_events() -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("a"), OTTER)
    world.engine.checkpoint()
    before, pinned = note_of(world), leaves(world)
    world.engine.execute(STREAM, jot("b"), OTTER)
    world.engine.execute("toy/new", jot("b"), OTTER)
    assert note_of(world) == before
    assert before is not None
    with world.store.read() as view:
        heads = dict(view.pinned_heads())
        assert sorted(heads) == sorted([REGISTRY, STREAM])
        path = list(inclusion_path_of(view, 1, before.streams))
    assert merkle.root_from_path(pinned[1], 1, before.streams, path) == before.root


@pytest.mark.requirement("LDG-035")
def test_numbers_grow_by_one_across_processes() -> None:
    world = toy_world()
    numbers = []
    for number in range(5):
        engine = world.another_engine()
        engine.execute(STREAM, jot(str(number)), OTTER)
        kept = engine.checkpoint()
        assert kept is not None
        numbers.append(kept.checkpoint.number)
    assert numbers == [1, 2, 3, 4, 5]


@pytest.mark.requirement("LDG-035")
def test_nothing_moved_is_no_new_checkpoint() -> None:
    world = toy_world()
    assert world.engine.checkpoint() is not None
    before = everything(world)
    assert world.engine.checkpoint() is None
    assert world.another_engine().checkpoint() is None
    assert everything(world) == before


@pytest.mark.requirement("LDG-035")
def test_a_clock_that_went_backwards_does_not_lower_the_number() -> None:
    world = toy_world()
    world.engine.checkpoint()
    world.clock.forward(minutes=-60)
    world.engine.execute(STREAM, jot("a"), OTTER)
    kept = world.engine.checkpoint()
    assert kept is not None
    assert (kept.checkpoint.number, kept.checkpoint.at) == (2, "2026-02-18T15:00:00.000Z")


@pytest.mark.requirement("LDG-036")
def test_a_process_that_wrote_leaves_a_checkpoint_when_it_ends() -> None:
    world = toy_world()
    with world.engine:
        world.engine.execute(STREAM, jot("a"), OTTER)
        assert note_of(world) is None
    checkpoint = note_of(world)
    assert checkpoint is not None
    assert checkpoint.root == merkle.tree_hash(leaves(world))


@pytest.mark.requirement("LDG-036")
def test_a_process_that_only_read_leaves_none() -> None:
    world = toy_world()
    engine = world.another_engine()
    engine.state(TOY, STREAM)
    engine.close()
    assert note_of(world) is None


@pytest.mark.requirement("LDG-036")
def test_a_process_without_the_checkpoint_key_ends_quietly() -> None:
    world = toy_world()
    world.keys.signers[CHECKPOINT] = []
    with world.engine:
        world.engine.execute(STREAM, jot("a"), OTTER)
    assert note_of(world) is None


@pytest.mark.requirement("LDG-036")
def test_asking_for_one_without_its_key_is_refused() -> None:
    world = toy_world()
    world.keys.signers[CHECKPOINT] = []
    before = everything(world)
    with pytest.raises(Refused) as caught:
        world.engine.checkpoint()
    assert caught.value.code == "key_missing"
    assert everything(world) == before


def many(world: World, events: int) -> list[Any]:
    return world.engine.execute_all([Job(STREAM, jot("x"), OTTER) for _ in range(events)])


@pytest.mark.requirement("LDG-036")
def test_every_thousand_events_one_is_made() -> None:
    world = toy_world()  # its founding engine has counted two events so far: one registration
    many(world, EVERY_EVENTS - 2)
    assert note_of(world) is None
    many(world, 1)
    assert note_of(world) is not None
    many(world, EVERY_EVENTS - 1)
    first = note_of(world)
    assert first is not None
    assert first.number == 1
    many(world, 1)
    second = note_of(world)
    assert second is not None
    assert second.number == 2


@pytest.mark.requirement("LDG-036")
def test_a_listener_hears_of_each_and_of_the_heads_that_moved() -> None:
    world = toy_world()
    heard: list[NewCheckpoint] = []
    engine = Engine(world.store, world.keys, world.trust, world.clock, world.machines, heard.append)
    engine.execute(STREAM, jot("a"), OTTER)
    first = engine.checkpoint()
    engine.checkpoint()
    engine.execute(STREAM, jot("b"), OTTER)
    engine.close()
    assert heard[0] == first
    assert [kept.checkpoint.number for kept in heard] == [1, 2]
    assert [[name for name, _ in kept.moved] for kept in heard] == [[REGISTRY, STREAM], [STREAM]]


class FullDisk(MemoryStore):
    """A store with room for events but, while it is full, none for a note."""

    full = False

    @contextmanager
    def write(self) -> Iterator[MemoryTransaction]:
        with super().write() as change:
            yield Crowded(change._tables, 0) if self.full else change


class Crowded(MemoryTransaction):
    def put_note(self, *_: Any) -> None:
        raise StoreFailed("disk_full", "no room for a note")


@pytest.mark.requirement("LDG-036")
@pytest.mark.parametrize("trouble", ["the store", "the listener"])
def test_an_automatic_checkpoint_that_fails_does_not_fail_what_is_durable_already(
    trouble: str,
) -> None:
    """The events are committed: to report them as failed would have them done twice."""
    store = FullDisk()
    world = toy_world(store=store)
    deaf = trouble == "the listener"

    def listen(_kept: NewCheckpoint) -> None:
        if deaf:
            raise StoreFailed("disk_full", "no room to keep the note elsewhere")

    engine = Engine(store, world.keys, world.trust, world.clock, world.machines, listen)
    store.full = trouble == "the store"
    results = engine.execute_all([Job(STREAM, jot("x"), OTTER) for _ in range(EVERY_EVENTS)])
    assert all(isinstance(result, JobOutcome) for result in results)
    assert (note_of(world) is None) is store.full
    store.full = deaf = False
    engine.execute(STREAM, jot("y"), OTTER)
    engine.close()
    checkpoint = note_of(world)
    assert checkpoint is not None
    assert checkpoint.root == merkle.tree_hash(leaves(world))


@pytest.mark.requirement("LDG-037")
def test_a_damaged_note_is_not_built_upon() -> None:
    """Its number is unknown, so a new one could not be known to be newer."""
    world = toy_world()
    world.engine.checkpoint()
    assert isinstance(world.store, MemoryStore)
    notes = world.store._tables.notes
    notes[-1] = notes[-1].replace("moot 1 ", "moot 9 ")
    world.engine.execute(STREAM, jot("a"), OTTER)
    before = everything(world)
    with pytest.raises(Tampered):
        world.engine.checkpoint()
    assert everything(world) == before


@pytest.mark.requirement("LDG-098")
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("gone", [True, False])
def test_a_tree_that_the_last_note_was_not_made_of_is_not_built_upon(
    level: int, gone: bool
) -> None:
    """A user who may write the file may write the tree; the new note would sign it."""
    world = toy_world()
    for number in range(4):
        world.engine.execute(f"toy/{number}", jot("a"), OTTER)
    world.engine.checkpoint()
    assert isinstance(world.store, MemoryStore)
    nodes = world.store._tables.nodes
    nodes[level, 1] = bytes(32)
    if gone:
        del nodes[level, 1]
    world.engine.execute("toy/3", jot("b"), OTTER)  # far from it: only the root knows
    world.engine.execute("toy/0", jot("b"), OTTER)
    before = everything(world)
    with pytest.raises(Tampered) as caught:
        world.engine.checkpoint()
    assert caught.value.code == "tree_damaged"
    assert everything(world) == before


@pytest.mark.requirement("LDG-098")
def test_a_stream_that_the_last_note_counts_may_not_be_gone() -> None:
    world = toy_world()
    for number in range(3):
        world.engine.execute(f"toy/{number}", jot("a"), OTTER)
    world.engine.checkpoint()
    assert isinstance(world.store, MemoryStore)
    del world.store._tables.chains["toy/2"]
    before = everything(world)
    for act in (world.engine.checkpoint, lambda: world.engine.execute("toy/9", jot("a"), OTTER)):
        with pytest.raises(Tampered) as caught:
            act()
        assert caught.value.code == "rolled_back"
        assert everything(world) == before


@pytest.mark.requirement("LDG-035")
@pytest.mark.parametrize("lowered", [False, True])
def test_a_head_that_is_only_said_to_stand_still_is_not_left_out(lowered: bool) -> None:
    """What is pinned lies beside the events, unsigned; a second lie may make the sum right."""
    world = toy_world()
    for stream in (STREAM, "toy/other"):
        world.engine.execute(stream, jot("a", "b"), OTTER)
    world.engine.checkpoint()
    world.engine.execute(STREAM, jot("unpinned"), OTTER)
    world.engine.execute("toy/other", jot("more"), OTTER)
    assert isinstance(world.store, MemoryStore)
    noted = world.store._tables.noted
    noted[STREAM] = Head(noted[STREAM].number, 2, chain(world, STREAM)[2].hash)
    if lowered:
        other = noted["toy/other"]
        noted["toy/other"] = Head(other.number, 0, chain(world, "toy/other")[0].hash)
    before = everything(world)
    with pytest.raises(Tampered) as caught:
        world.another_engine().checkpoint()
    assert caught.value.code == "tree_damaged"
    assert everything(world) == before
