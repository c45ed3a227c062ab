"""The head tree against RFC 6962's own recursion and an independent path verifier."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.checkpoint_note import changed_nodes, inclusion_path, leaf_hash, node_hash, root_hash
from tests.core import merkle

SIZES = range(1, 71)
Nodes = dict[tuple[int, int], bytes]


def leaf(number: int, version: int = 0) -> bytes:
    return hashlib.sha256(b"leaf %d %d" % (number, version)).digest()


def built(leaves: list[bytes]) -> Nodes:
    return changed_nodes({}, len(leaves), enumerate(leaves))


@pytest.mark.requirement("LDG-030")
def test_the_empty_tree_is_the_hash_of_nothing() -> None:
    assert root_hash({}, 0) == hashlib.sha256(b"").digest() == merkle.tree_hash([])


@pytest.mark.requirement("LDG-030")
@pytest.mark.parametrize("size", SIZES)
def test_the_root_is_the_naive_one(size: int) -> None:
    leaves = [leaf(n) for n in range(size)]
    assert root_hash(built(leaves), size) == merkle.tree_hash(leaves)


@pytest.mark.requirement("LDG-030")
@pytest.mark.parametrize("size", SIZES)
def test_every_path_leads_to_the_root_and_no_other_leaf_or_index_does(size: int) -> None:
    leaves = [leaf(n) for n in range(size)]
    nodes, top = built(leaves), merkle.tree_hash(leaves)
    for index in range(size):
        path = list(inclusion_path(nodes, index, size))
        assert merkle.root_from_path(leaves[index], index, size, path) == top
        assert merkle.root_from_path(leaf(index, 1), index, size, path) != top
        others = [other for other in range(size) if other != index]
        assert all(merkle.root_from_path(leaves[index], o, size, path) != top for o in others[:3])


@given(st.data())
def test_a_path_with_a_changed_byte_leads_elsewhere(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 70))
    index = data.draw(st.integers(0, size - 1))
    leaves = [leaf(n) for n in range(size)]
    path = list(inclusion_path(built(leaves), index, size))
    which = data.draw(st.integers(0, len(path) - 1))
    damaged = bytearray(path[which])
    damaged[data.draw(st.integers(0, 31))] ^= data.draw(st.integers(1, 255))
    path[which] = bytes(damaged)
    assert merkle.root_from_path(leaves[index], index, size, path) != merkle.tree_hash(leaves)


@pytest.mark.requirement("LDG-031")
@given(st.data())
def test_growing_and_changing_step_by_step_equals_building_at_once(data: st.DataObject) -> None:
    leaves: list[bytes] = []
    nodes: Nodes = {}
    for step in range(data.draw(st.integers(1, 8))):
        grow = data.draw(st.integers(0 if leaves else 1, 12))
        old = data.draw(st.sets(st.integers(0, len(leaves) - 1), max_size=4)) if leaves else set()
        for number in old:
            leaves[number] = leaf(number, step + 1)
        fresh = range(len(leaves), len(leaves) + grow)
        leaves += [leaf(number) for number in fresh]
        changed = sorted({*old, *fresh})
        update = changed_nodes(nodes, len(leaves), [(n, leaves[n]) for n in changed])
        nodes.update(update)
        assert nodes == built(leaves)
        assert root_hash(nodes, len(leaves)) == merkle.tree_hash(leaves)


@pytest.mark.requirement("LDG-031")
@given(st.integers(1, 300), st.data())
def test_one_changed_leaf_costs_one_node_a_level(size: int, data: st.DataObject) -> None:
    nodes = built([leaf(n) for n in range(size)])
    index = data.draw(st.integers(0, size - 1))
    update = changed_nodes(nodes, size, [(index, leaf(index, 1))])
    levels = [level for level, _ in update]
    assert levels == sorted(set(levels))
    assert len(levels) <= size.bit_length()


def test_nothing_changed_is_nothing_to_store() -> None:
    assert changed_nodes(built([leaf(0), leaf(1)]), 2, []) == {}


@pytest.mark.requirement("LDG-030")
def test_leaves_and_nodes_are_hashed_as_the_format_page_says() -> None:
    head = bytes(range(32))
    framed = b"".join(len(p).to_bytes(8, "big") + p for p in (b"mail/a", b"17", head))
    assert leaf_hash("mail/a", 17, head) == hashlib.sha256(b"\x00" + framed).digest()
    assert (
        node_hash(b"l" * 32, b"r" * 32) == hashlib.sha256(b"\x01" + b"l" * 32 + b"r" * 32).digest()
    )


@given(*[st.tuples(st.text(max_size=5), st.integers(0, 99), st.binary(max_size=4))] * 2)
def test_no_two_heads_share_a_leaf(
    one: tuple[str, int, bytes], two: tuple[str, int, bytes]
) -> None:
    assert (leaf_hash(*one) == leaf_hash(*two)) == (one == two)
