"""The tree of all streams' heads: its root is one hash that covers every stream. RFC 6962 shape.

Signing the root signs for every stream at once, and a short path of hashes proves to anyone that
one stream is part of it, without showing the others. Leaf i is the newest event of the i-th stream
ever created. Only complete subtrees are stored, as nodes at `(level, index)`, level 0 being the
leaves; a changed leaf touches one node on each level, so an update costs O(changed * log streams)
and a proof O(log streams). Pure: nodes are read through a mapping. docs/format.md section 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from moot.core.record import frame
from moot.core.sha256 import sha256

Position = tuple[int, int]
Nodes = Mapping[Position, bytes]


def leaf_hash(stream: str, seq: int, head: bytes) -> bytes:
    return sha256(b"\x00" + frame(stream.encode(), b"%d" % seq, head)).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def changed_nodes(
    nodes: Nodes, size: int, leaves: Iterable[tuple[int, bytes]]
) -> dict[Position, bytes]:
    """The nodes that differ once `leaves` are set in a tree of `size` leaves, the leaves
    included; one node a level for each head that moved (LDG-031)."""
    changed: dict[Position, bytes] = {(0, index): leaf for index, leaf in leaves}
    touched = {index for _, index in changed}
    level = 0
    while touched:
        level += 1
        # Only parents whose subtree is full: the others are recomputed with each root.
        touched = {index // 2 for index in touched if (index // 2 + 1) << level <= size}
        for index in touched:
            left, right = (level - 1, 2 * index), (level - 1, 2 * index + 1)
            changed[level, index] = node_hash(
                changed.get(left) or nodes[left], changed.get(right) or nodes[right]
            )
    return changed


def root_hash(nodes: Nodes, size: int) -> bytes:
    # LDG-030
    return _subtree(nodes, 0, size) if size else sha256(b"").digest()


def inclusion_path(nodes: Nodes, index: int, size: int) -> tuple[bytes, ...]:
    """The sibling hashes from leaf `index` up to the root of `size` leaves."""
    path: list[bytes] = []
    start, width = 0, size
    while width > 1:
        half = _largest_power_below(width)
        if index - start < half:
            path.append(_subtree(nodes, start + half, width - half))
            width = half
        else:
            path.append(_subtree(nodes, start, half))
            start, width = start + half, width - half
    return tuple(reversed(path))


def _subtree(nodes: Nodes, start: int, width: int) -> bytes:
    """The hash of `width` leaves from `start`; `start` is a multiple of the covering power."""
    if width & (width - 1) == 0:
        level = width.bit_length() - 1
        return nodes[level, start >> level]
    half = _largest_power_below(width)
    return node_hash(_subtree(nodes, start, half), _subtree(nodes, start + half, width - half))


def _largest_power_below(width: int) -> int:
    return 1 << ((width - 1).bit_length() - 1)
