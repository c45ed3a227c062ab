"""Which names a live `moot run` works under: a lock on a file for each name.

The operating system ends the lock with the process, however it ends. So a name whose process was
killed is free at once, without a lease to run out; a process number in a file could be another's.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.errors import Refused
from moot.keys.folder import KeyFolder

if TYPE_CHECKING:
    from filelock import FileLock

# Where asking takes the lock itself for a moment (Windows), whoever wants to hold it waits that
# long.
PATIENCE_SECONDS = 2.0


def hold_name(folder: KeyFolder, origin: str, name: str) -> FileLock:
    """Hold the name until this process ends; Refused if another process holds it."""
    from filelock import FileLock, Timeout

    lock = FileLock(_lock_file(folder, origin, name), mode=0o600)
    try:
        lock.acquire(timeout=PATIENCE_SECONDS)
    except Timeout:
        raise Refused(
            "agent_alive",
            f"another `moot run` works as {name}",
            hint="choose another name, or none: one is made up for you",
        ) from None
    return lock


def is_running(folder: KeyFolder, origin: str, name: str) -> bool:
    """Does a live process hold the name? Asking leaves nothing behind; many may ask at once."""
    return is_held(_lock_file(folder, origin, name))


if sys.platform == "win32":

    def is_held(path: Path) -> bool:
        """Does a live process hold this lock? A file that does not exist is held by nobody."""
        from filelock import FileLock, Timeout

        if not path.is_file():
            return False
        try:
            with FileLock(path, mode=0o600).acquire(blocking=False):
                return False
        except Timeout:
            return True

else:

    def is_held(path: Path) -> bool:
        """Does a live process hold this lock? A file that does not exist is held by nobody.

        Asked with a shared lock, which others that ask can have at the same time.
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


def _lock_file(folder: KeyFolder, origin: str, name: str) -> Path:
    return folder.user_folder.ledger_folder(origin) / f"{name}.running"
