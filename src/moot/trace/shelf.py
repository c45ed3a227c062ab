"""Which artifacts the runs of a trace have left: sixteen bytes of each hash, in pages.

A claim may cite any of them, however long ago; a page is copied only while it grows, and a
process that has just started reads them without building an index.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MARK: Final = 16
PAGE: Final = 512 * MARK

Shelf = tuple[bytes, ...]


def add(shelf: Shelf, hashes: Iterable[str]) -> Shelf:
    for sha256 in hashes:
        last = shelf[-1] if shelf else b""
        if shelf and len(last) < PAGE:
            shelf = (*shelf[:-1], last + _mark(sha256))
        else:
            shelf = (*shelf, _mark(sha256))
    return shelf


def holds(shelf: Shelf, sha256: str) -> bool:
    mark = _mark(sha256)
    return any(_stands_in(page, mark) for page in reversed(shelf))


def _mark(sha256: str) -> bytes:
    """Total: what is no hash has a mark of its own that no hash has."""
    try:
        mark = bytes.fromhex(sha256[: 2 * MARK])
    except ValueError:
        mark = b""
    return mark.ljust(MARK, b"\x00") if len(mark) < MARK else mark


def _stands_in(page: bytes, mark: bytes) -> bool:
    """At a multiple of its length, not across two of them."""
    at = page.find(mark)
    while at >= 0 and at % MARK:
        at = page.find(mark, at + 1)
    return at >= 0
