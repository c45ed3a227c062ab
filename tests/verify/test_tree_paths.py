"""Inclusion paths against a tree that is defined by recursion, as RFC 6962 words it."""

from __future__ import annotations

import hashlib

import pytest

from moot.verify.checkpoints import leaf_hash, node_hash, root_from_path


def _split(size: int) -> int:
    half = 1
    while half * 2 < size:
        half *= 2
    return half


def _root(leaves: list[bytes]) -> bytes:
    if len(leaves) == 1:
        return leaves[0]
    half = _split(len(leaves))
    return hashlib.sha256(b"\x01" + _root(leaves[:half]) + _root(leaves[half:])).digest()


def _path(index: int, leaves: list[bytes]) -> list[bytes]:
    if len(leaves) == 1:
        return []
    half = _split(len(leaves))
    if index < half:
        return [*_path(index, leaves[:half]), _root(leaves[half:])]
    return [*_path(index - half, leaves[half:]), _root(leaves[:half])]


@pytest.mark.parametrize("size", range(1, 35))
def test_every_leaf_leads_to_the_root_and_from_no_other_place(size: int) -> None:
    leaves = [leaf_hash("s", number, bytes(32)) for number in range(size)]
    root = _root(leaves)
    for index in range(size):
        path = _path(index, leaves)
        assert root_from_path(leaves[index], index, size, path) == root
        others = [other for other in range(size + 2) if other != index]
        assert all(root_from_path(leaves[index], other, size, path) != root for other in others)
        assert root_from_path(leaves[index], index, size, [*path, bytes(32)]) is None
        assert size == 1 or root_from_path(leaves[index], index, size, path[:-1]) is None


def test_a_place_outside_the_tree_leads_nowhere() -> None:
    assert root_from_path(bytes(32), 0, 0, []) is None
    assert root_from_path(bytes(32), -1, 1, []) is None
    assert root_from_path(bytes(32), 1, 1, []) is None


def test_a_leaf_is_never_a_node() -> None:
    assert leaf_hash("s", 0, bytes(32)) != node_hash(b"s", bytes(32))
    assert leaf_hash("s", 1, bytes(32)) != leaf_hash("s1", 0, bytes(32))
