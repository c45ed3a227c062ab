"""Waiting until there is something to read. Unlike `select`, `poll` takes any descriptor."""

from __future__ import annotations

import select


def is_readable(descriptor: int, seconds: float) -> bool:
    """Is there something to read, or the end, within that time?"""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(seconds * 1_000))
