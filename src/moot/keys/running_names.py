"""Which names a running `moot run` uses: a file lock for each name.

The operating system releases the lock when the process exits or is killed. So the name is free at
once, without a lease that must expire; a process id in a file could belong to another process.
Except on Windows, the run's program inherits the lock: if only the run is killed, the name stays
held until its program has exited too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from moot.core.errors import Refused, StoreFailed
from moot.core.names import require_agent_name
from moot.keys.folder import KeyFolder

# `is_held` takes a lock for a moment: a process that wants to hold the name waits that long.
WAIT_SECONDS = 2.0
_POLL_SECONDS = 0.02


class NameLock:
    """A name that is held until `release`, or until every process with the file open has exited.

    A program that inherits `descriptor` holds the name too; None where that is impossible.
    """

    def __init__(self, path: Path, descriptor: int | None, unlock: Callable[[], None]) -> None:
        self.path = path
        self.descriptor = descriptor
        self._unlock = unlock

    def write_note(self, note: bytes) -> None:
        """Write a note about the holder into the locked file, unless the lock keeps readers out."""
        if self.descriptor is not None:
            os.ftruncate(self.descriptor, 0)
            os.pwrite(self.descriptor, note, 0)

    def remove(self) -> None:
        """Release the name and remove its file, since the name will not be used again."""
        self.path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        """Release the name, even if a program that inherited the lock still runs."""
        unlock, self._unlock = self._unlock, _do_nothing
        self.descriptor = None
        unlock()


def _do_nothing() -> None:
    """Replace a lock's release after the first call: its descriptor may belong to another file."""


def hold_name(folder: KeyFolder, origin: str, name: str) -> NameLock:
    """Hold the name until this process ends; Refused if another process holds it."""
    lock = try_to_hold(folder, origin, name)
    if lock is None:
        raise Refused(
            "agent_alive",
            f"another `moot run`, or its program, is still running as {name}",
            hint="choose another name, or give none: Moot then makes one up",
        )
    return lock


def try_to_hold(folder: KeyFolder, origin: str, name: str) -> NameLock | None:
    """Hold the name; None if another process holds it."""
    return _lock(lock_file(folder, origin, require_agent_name(name)))


def is_running(folder: KeyFolder, origin: str, name: str) -> bool:
    """Return whether a live process holds the name. Leaves no file behind."""
    return is_held(lock_file(folder, origin, name))


if sys.platform == "win32":
    from filelock import FileLock, Timeout

    def is_held(path: Path) -> bool:
        """Return whether a live process holds this lock; False if the file does not exist."""
        if not path.is_file():
            return False
        try:
            with FileLock(path, mode=0o600).acquire(blocking=False):
                return False
        except Timeout:
            return True

    def _lock(path: Path) -> NameLock | None:
        lock = FileLock(path, mode=0o600)
        try:
            lock.acquire(timeout=WAIT_SECONDS)
        except Timeout:
            return None
        return NameLock(path, None, lock.release)

else:
    import fcntl
    import time

    _OPEN = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC

    def is_held(path: Path) -> bool:
        """Return whether a live process holds this lock; False if the file does not exist.

        Tries a shared lock, so that several processes can ask at the same time.
        """
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

    def _lock(path: Path) -> NameLock | None:
        """Take the lock; None if another process holds it. Waits for processes that only ask."""
        descriptor = os.open(path, _OPEN, 0o600)
        until = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if is_held(path) or time.monotonic() >= until:
                    os.close(descriptor)
                    return None
                time.sleep(_POLL_SECONDS)
            except OSError as error:
                os.close(descriptor)
                raise _cannot_lock(path, error) from error
            else:
                if _is_same_file(path, descriptor):
                    return NameLock(path, descriptor, partial(_unlock, descriptor))
                os.close(descriptor)  # its holder has just removed it and exited
                descriptor = os.open(path, _OPEN, 0o600)

    def _is_same_file(path: Path, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.stat(path), os.fstat(descriptor))
        except FileNotFoundError:
            return False

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _cannot_lock(path: Path, error: OSError) -> StoreFailed:
    return StoreFailed(
        "lock_failed",
        f"{path} cannot be locked: {error.strerror or error}",
        hint="keep the key folder on a local disk; MOOT_KEYS sets another folder",
    )


def lock_file(folder: KeyFolder, origin: str, name: str) -> Path:
    """Return the file that is locked for a name, in the user's folder, also from a lent one."""
    return folder.user_folder.ledger_folder(origin) / f"{name}.running"
