"""Which artifacts the runs of a trace have left: eight bytes of each hash, in pages.

A claim may cite any of them, however long ago. Only the last page is copied when one is added, and
a process that has just started searches the pages without building an index. Eight bytes are enough
to catch a mistake when a claim is made; an audit compares whole hashes (T-13).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MARK_BYTES: Final = 8
HASH_BYTES: Final = 32
PAGE_BYTES: Final = 1_024 * MARK_BYTES

ArtifactMarks = tuple[bytes, ...]


def add_artifacts(shelf: ArtifactMarks, hashes: Iterable[str]) -> ArtifactMarks:
    for mark in filter(None, map(_shorten, hashes)):
        fits = bool(shelf) and len(shelf[-1]) < PAGE_BYTES
        shelf = (*shelf[:-1], shelf[-1] + mark) if fits else (*shelf, mark)
    return shelf


def holds_artifact(shelf: ArtifactMarks, sha256: str) -> bool:
    mark = _shorten(sha256)
    return bool(mark) and any(_page_holds(page, mark) for page in reversed(shelf))


def _shorten(sha256: str) -> bytes:
    """The first bytes of a hash; empty for a text that is no hash."""
    try:
        whole = bytes.fromhex(sha256)
    except ValueError:
        return b""
    return whole[:MARK_BYTES] if len(whole) == HASH_BYTES else b""


def _page_holds(page: bytes, mark: bytes) -> bool:
    """Only at a multiple of its length: bytes across two marks are no mark."""
    at = page.find(mark)
    while at >= 0 and at % MARK_BYTES:
        at = page.find(mark, at + 1)
    return at >= 0
