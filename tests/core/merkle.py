"""RFC 6962 in its own words, as slow as it reads: the oracle for the head tree."""

from __future__ import annotations

import hashlib


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def split(width: int) -> int:
    """The largest power of two smaller than `width`."""
    power = 1
    while power * 2 < width:
        power *= 2
    return power


def tree_hash(leaves: list[bytes]) -> bytes:
    """MTH of section 2.1, over leaves that are hashed already."""
    if not leaves:
        return sha256(b"")
    if len(leaves) == 1:
        return leaves[0]
    k = split(len(leaves))
    return sha256(b"\x01" + tree_hash(leaves[:k]) + tree_hash(leaves[k:]))


def root_from_path(leaf: bytes, index: int, size: int, path: list[bytes]) -> bytes | None:
    """The verification algorithm of RFC 9162 section 2.1.3.2, which walks bits, not subtrees."""
    if index >= size:
        return None
    fn, sn, found = index, size - 1, leaf
    for sibling in path:
        if sn == 0:
            return None
        if fn & 1 or fn == sn:
            found = sha256(b"\x01" + sibling + found)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            found = sha256(b"\x01" + found + sibling)
        fn, sn = fn >> 1, sn >> 1
    return found if sn == 0 else None
