"""The tree of section 5: RFC 6962 over the newest event of every stream."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from moot.verify.crypto import frame_parts

# No tree that a note can count is this high; a longer path leads nowhere and is not remembered.
MAX_PATH: Final = 64


def leaf_hash(stream: str, seq: int, event_hash: bytes) -> bytes:
    """The leaf of a stream whose newest event this is."""
    return hashlib.sha256(
        b"\x00" + frame_parts(stream.encode(), str(seq).encode(), event_hash)
    ).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """An inner node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_from_path(leaf_hash: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root to which a path leads from leaf `index` of `size`, or `None` if it cannot.

    `place` and `last` are the numbers of our node and of the rightmost node on the same level. A
    rightmost node without a sibling moves up unchanged, so levels are skipped until it has one.
    """
    if not 0 <= index < size:
        return None
    place, last, subtree = index, size - 1, leaf_hash
    for sibling in path:
        if last == 0:
            return None
        if place % 2 == 1 or place == last:
            subtree = node_hash(sibling, subtree)
            while place % 2 == 0:
                place, last = place // 2, last // 2
        else:
            subtree = node_hash(subtree, sibling)
        place, last = place // 2, last // 2
    return subtree if last == 0 else None
