"""The head tree, computed again from the pinned heads: kept only if the newest note signed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from moot.core import checkpoint_note
from moot.core.errors import Tampered
from moot.core.ledger import Head, Store
from moot.core.names import CHECKPOINT
from moot.core.record import Record
from moot.engine.rebuild import compare_derived
from moot.engine.replay import Replay
from moot.store.memory import MemoryStore
from moot.store.sqlite import SqliteStore
from moot.testing import World
from tests.engine.tampering import chain, everything
from tests.engine.toy_protocol import jot, toy_world

OTTER = "amber-otter"
B = "toy/1"  # number 2, in a tree of six leaves
Nodes = dict[checkpoint_note.Position, bytes]


def pinned(store: Store | None = None) -> World:
    """Six histories under one checkpoint, and events after it."""
    world = toy_world(store=store or MemoryStore())
    for number in range(5):
        world.engine.execute(f"toy/{number}", jot(*"abc"), OTTER)
    world.engine.checkpoint()
    world.engine.execute(B, jot("later"), OTTER)
    world.engine.execute("toy/new", jot("later"), OTTER)
    return world


@pytest.fixture(params=["memory", "sqlite"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    sqlite = request.param == "sqlite"
    store = SqliteStore(tmp_path / "ledger.db", create=True) if sqlite else MemoryStore()
    yield pinned(store)
    store.close()


def tree(world: World) -> Nodes:
    with world.store.read() as view:
        return dict(view.all_nodes())


def damage(world: World, spoil: Callable[[Nodes], object]) -> None:
    nodes = tree(world)
    spoil(nodes)
    with world.store.write() as change:
        change.set_nodes(nodes)


DAMAGES: dict[str, Callable[[Nodes], object]] = {
    "a wrong leaf": lambda nodes: nodes.update({(0, 1): bytes(32)}),
    "a leaf that is no hash": lambda nodes: nodes.update({(0, 1): b""}),
    "a wrong node above": lambda nodes: nodes.update({(1, 1): bytes(32)}),
    "two that changed places": lambda nodes: nodes.update(
        {(0, 1): nodes[0, 2], (0, 2): nodes[0, 1]}
    ),
    "a missing leaf": lambda nodes: nodes.pop((0, 5)),
    "a missing node above": lambda nodes: nodes.pop((2, 0)),
    "none left": lambda nodes: nodes.clear(),
    "one beyond the last": lambda nodes: nodes.update({(0, 6): bytes(32)}),
    "one too high": lambda nodes: nodes.update({(3, 0): bytes(32)}),
    "one nowhere": lambda nodes: nodes.update({(-1, -7): bytes(32)}),
}
each_damage = pytest.mark.parametrize("spoil", DAMAGES.values(), ids=DAMAGES.keys())


@pytest.mark.requirement("LDG-100")
@each_damage
def test_a_damaged_tree_is_named_and_made_again(
    world: World, spoil: Callable[[Nodes], object]
) -> None:
    before = tree(world)
    damage(world, spoil)
    (found,) = world.engine.rebuild().differences
    assert (found.code, found.where) == ("tree_differs", "checkpoint 1")
    assert tree(world) == before
    assert world.engine.rebuild().differences == ()
    made = world.engine.checkpoint()
    assert made is not None
    assert made.checkpoint.number == 2


@pytest.mark.requirement("LDG-100")
def test_how_much_of_it_differed_is_counted(world: World) -> None:
    spoils = ("a missing leaf", "a wrong node above", "one too high", "one nowhere")
    damage(world, lambda nodes: [DAMAGES[name](nodes) for name in spoils])
    (found,) = world.engine.rebuild().differences
    assert found.message == "in the head tree 1 nodes are wrong, 1 missing, 2 too many"


@pytest.mark.requirement("LDG-100")
def test_a_tree_is_fixed_without_any_key_and_nothing_else_is_touched(world: World) -> None:
    for _ in range(70):
        world.engine.execute(B, jot("more"), OTTER)
    world.engine.checkpoint()
    with world.store.read() as view:
        snapshots = sorted(view.all_snapshots())
    assert snapshots
    damage(world, DAMAGES["none left"])
    world.keys.signers[CHECKPOINT] = []
    assert len(world.another_engine().rebuild().differences) == 1
    with world.store.read() as view:
        assert sorted(view.all_snapshots()) == snapshots


@pytest.mark.requirement("LDG-100")
def test_only_looking_fixes_nothing(world: World) -> None:
    damage(world, DAMAGES["a wrong leaf"])
    before = tree(world)
    with world.store.read() as view:
        found = compare_derived(view, Replay(world.trust, world.machines))
    assert found.tree is not None
    assert tree(world) == before


def test_before_the_first_checkpoint_there_is_no_tree_to_fix() -> None:
    world = toy_world()
    damage(world, DAMAGES["one nowhere"])
    before = everything(world)
    assert world.engine.rebuild().differences == ()
    assert everything(world) == before


# What a rebuild does not fix: its signature is missing.


def refused(world: World) -> Tampered:
    before = everything(world)
    with pytest.raises(Tampered) as caught:
        world.another_engine().rebuild()
    assert everything(world) == before
    return caught.value


def noted(world: World) -> dict[str, Head]:
    assert isinstance(world.store, MemoryStore)
    return world.store._tables.noted


def fit(world: World) -> None:
    """Nodes that fit what is pinned, as anyone could compute them."""
    heads = sorted(noted(world).items(), key=lambda item: item[1].number)
    hashes = [checkpoint_note.leaf_hash(name, head.seq, head.hash) for name, head in heads]
    leaves = list(enumerate(hashes))
    nodes = checkpoint_note.changed_nodes({}, len(heads), leaves)
    with world.store.write() as change:
        change.set_nodes(nodes)


def event(world: World, stream: str, seq: int) -> Record:
    return chain(world, stream)[seq]


HEADS: dict[str, Callable[[World, Head], Head]] = {
    "an earlier event": lambda world, head: Head(head.number, 1, event(world, B, 1).hash),
    "a later event": lambda world, head: Head(head.number, 3, event(world, B, 3).hash),
    "an event that is not there": lambda _, head: Head(head.number, 9, head.hash),
    "another hash": lambda _, head: Head(head.number, head.seq, bytes(32)),
    "a position that is none": lambda _, head: Head(head.number, -2, head.hash),
    "the place of another": lambda _, head: Head(1, head.seq, head.hash),
}


@pytest.mark.requirement("LDG-100")
@pytest.mark.parametrize("forged", [True, False], ids=["nodes that fit", "nodes as they were"])
@pytest.mark.parametrize("alter", HEADS.values(), ids=HEADS.keys())
def test_pinned_heads_that_were_altered_are_named_and_not_built_upon(
    alter: Callable[[World, Head], Head], forged: bool
) -> None:
    world = pinned()
    noted(world)[B] = alter(world, noted(world)[B])
    if forged:
        fit(world)
    error = refused(world)
    assert error.code == "tree_damaged"
    assert "restore" in error.hint
    if not forged:
        assert B in str(error)


@pytest.mark.requirement("LDG-100")
@pytest.mark.parametrize("forged", [True, False], ids=["nodes that fit", "nodes as they were"])
def test_a_pinned_head_that_is_gone_or_too_many_is_not_built_upon(forged: bool) -> None:
    alterations: tuple[Callable[[dict[str, Head]], object], ...] = (
        lambda heads: heads.pop("toy/4"),
        lambda heads: heads.pop(B),
        lambda heads: heads.update({"toy/new": heads[B]._replace(number=6)}),
    )
    for alter in alterations:
        world = pinned()
        alter(noted(world))
        if forged:
            fit(world)
        error = refused(world)
        assert error.code == "tree_damaged"
        assert "counts 6 streams" in str(error)


@pytest.mark.requirement("LDG-100")
@pytest.mark.parametrize("forged", [True, False], ids=["nodes that fit", "nodes as they were"])
def test_a_stream_cut_behind_what_is_pinned_is_not_made_to_fit(forged: bool) -> None:
    world = pinned()
    del chain(world, B)[1:]
    last = event(world, B, 0)
    if forged:
        noted(world)[B] = noted(world)[B]._replace(seq=0, hash=last.hash)
        fit(world)
    else:
        damage(world, DAMAGES["none left"])
    assert isinstance(world.store, MemoryStore)
    world.store._tables.rows.clear()  # the index is damaged as well, and is not rebuilt
    error = refused(world)
    assert error.code == "tree_damaged"
    assert forged or f"event 2 of {B}" in str(error)


@pytest.mark.requirement("LDG-100")
def test_a_note_that_was_altered_is_no_measure() -> None:
    world = pinned()
    damage(world, DAMAGES["a wrong leaf"])
    assert isinstance(world.store, MemoryStore)
    notes = world.store._tables.notes
    notes[-1] = notes[-1].replace("moot 1 ", "moot 9 ")
    assert refused(world).code == "bad_note"


@pytest.mark.requirement("LDG-100")
def test_an_older_note_is_no_measure_for_newer_heads() -> None:
    world = pinned()
    world.engine.checkpoint()
    assert isinstance(world.store, MemoryStore)
    del world.store._tables.notes[-1]
    assert refused(world).code == "tree_damaged"
