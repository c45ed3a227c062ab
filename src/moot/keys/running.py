"""A lock that says: a live `moot run` works under this name. It ends with its process."""

from __future__ import annotations

from filelock import FileLock, Timeout

from moot.core.errors import Refused
from moot.keys.folder import KeyFolder


def hold(folder: KeyFolder, origin: str, name: str) -> FileLock:
    """Hold the name until the process ends; Refused if another process holds it."""
    lock = _lock(folder, origin, name)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise Refused(
            "agent_alive",
            f"another `moot run` works as {name}",
            hint="choose another name, or none: one is made up for you",
        ) from None
    return lock


def is_running(folder: KeyFolder, origin: str, name: str) -> bool:
    """Does a live process hold the name? Asking leaves nothing behind."""
    lock = _lock(folder, origin, name)
    if not folder.ledger(origin).is_dir():
        return False
    try:
        with lock.acquire(blocking=False):
            return False
    except Timeout:
        return True


def _lock(folder: KeyFolder, origin: str, name: str) -> FileLock:
    return FileLock(folder.ledger(origin) / f"{name}.running", mode=0o600)
