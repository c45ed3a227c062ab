"""Types that msgspec has learned, one thread at a time.

msgspec learns a type when something is first read into it, and lets other threads at it half-way:
two that read a type with another one inside it at the same moment crash the process. So whoever
reads records in several threads has each type learned first, under one lock.
"""

from __future__ import annotations

from _thread import allocate_lock  # `threading` is loaded by no hook
from typing import Any

from msgspec.msgpack import Decoder

_lock = allocate_lock()
_prepared: set[Any] = set()


def prepare_type(kind: Any) -> None:
    """Learn a type, with all that it is made of; at once if it is known."""
    if kind in _prepared:
        return
    with _lock:
        Decoder(kind)
        _prepared.add(kind)
