"""Which artifacts the runs of a trace have left: eight bytes of each hash, in pages.

A claim may cite any of them, however long ago; a page is copied only while it grows, and a
process that has just started reads them without building an index. Eight bytes are enough to catch
a mistake when a claim is made; an audit compares whole hashes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MARK: Final = 8
WHOLE: Final = 32
PAGE: Final = 1_024 * MARK

Shelf = tuple[bytes, ...]


def add(shelf: Shelf, hashes: Iterable[str]) -> Shelf:
    for mark in filter(None, map(_mark, hashes)):
        fits = bool(shelf) and len(shelf[-1]) < PAGE
        shelf = (*shelf[:-1], shelf[-1] + mark) if fits else (*shelf, mark)
    return shelf


def holds(shelf: Shelf, sha256: str) -> bool:
    mark = _mark(sha256)
    return bool(mark) and any(_stands_in(page, mark) for page in reversed(shelf))


def _mark(sha256: str) -> bytes:
    """Empty for what is no hash."""
    try:
        whole = bytes.fromhex(sha256)
    except ValueError:
        return b""
    return whole[:MARK] if len(whole) == WHOLE else b""


def _stands_in(page: bytes, mark: bytes) -> bool:
    """At a multiple of its length, not across two of them."""
    at = page.find(mark)
    while at >= 0 and at % MARK:
        at = page.find(mark, at + 1)
    return at >= 0
