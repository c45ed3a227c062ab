"""A lock that says: a live `moot run` works under this name. It ends with its process."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from filelock import FileLock, Timeout

from moot.core.errors import Refused
from moot.keys.folder import KeyFolder

# Whoever merely asks may have the lock for a moment; whoever runs keeps it.
PATIENCE = 2.0


def hold(folder: KeyFolder, origin: str, name: str) -> FileLock:
    """Hold the name until the process ends; Refused if another process holds it."""
    lock = FileLock(_path(folder, origin, name), mode=0o600)
    try:
        lock.acquire(timeout=PATIENCE)
    except Timeout:
        raise Refused(
            "agent_alive",
            f"another `moot run` works as {name}",
            hint="choose another name, or none: one is made up for you",
        ) from None
    return lock


def is_running(folder: KeyFolder, origin: str, name: str) -> bool:
    """Does a live process hold the name? Asking leaves nothing behind; many may ask at once."""
    path = _path(folder, origin, name)
    return is_held(path)


if sys.platform == "win32":

    def is_held(path: Path) -> bool:
        """Does a live process hold this lock? One that is not there is held by nobody."""
        if not path.is_file():
            return False
        try:
            with FileLock(path, mode=0o600).acquire(blocking=False):
                return False
        except Timeout:
            return True

else:

    def is_held(path: Path) -> bool:
        """Does a live process hold this lock? One that is not there is held by nobody.

        A shared lock stands in the way of no other who asks.
        """
        import fcntl

        try:
            file = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(file)
        return False


def _path(folder: KeyFolder, origin: str, name: str) -> Path:
    return folder.ledger(origin) / f"{name}.running"
