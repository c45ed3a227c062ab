"""Which names a live `moot run` works under: a lock on a file for each name.

The operating system ends the lock with the process, however it ends. So a name whose process was
killed is free at once, without a lease to run out; a process number in a file could be another's.
Where the system can (not on Windows), the program of the run inherits the lock: if the run alone
is killed, its program may live on, and the name stays held until both are gone.
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

# Asking takes a lock for a moment: whoever wants to hold the name waits that long.
PATIENCE_SECONDS = 2.0
_POLL_SECONDS = 0.02


class NameLock:
    """A name that is held until `release`, or until every process that has it open has ended.

    `descriptor` is what a program must inherit to hold it, too; None where that is impossible.
    """

    def __init__(self, path: Path, descriptor: int | None, unlock: Callable[[], None]) -> None:
        self.path = path
        self.descriptor = descriptor
        self._unlock = unlock

    def write_note(self, note: bytes) -> None:
        """Put into the locked file what is to be known of its holder; nothing where it is closed
        to readers while it is locked."""
        if self.descriptor is not None:
            os.ftruncate(self.descriptor, 0)
            os.pwrite(self.descriptor, note, 0)

    def remove(self) -> None:
        """The name will not be held again: remove the file, too."""
        self.path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        """Free the name for everyone, also if a program that inherited it still runs."""
        unlock, self._unlock = self._unlock, _do_nothing
        self.descriptor = None
        unlock()


def _do_nothing() -> None:
    """A lock that was released is not released again: its descriptor may be another file's."""


def hold_name(folder: KeyFolder, origin: str, name: str) -> NameLock:
    """Hold the name until this process ends; Refused if another process holds it."""
    lock = try_to_hold(folder, origin, name)
    if lock is None:
        raise Refused(
            "agent_alive",
            f"another `moot run` works as {name}, or its program still does",
            hint="choose another name, or none: one is made up for you",
        )
    return lock


def try_to_hold(folder: KeyFolder, origin: str, name: str) -> NameLock | None:
    """Hold the name; None if another process holds it."""
    return _lock(lock_file(folder, origin, require_agent_name(name)))


def is_running(folder: KeyFolder, origin: str, name: str) -> bool:
    """Does a live process hold the name? Asking leaves nothing behind; many may ask at once."""
    return is_held(lock_file(folder, origin, name))


if sys.platform == "win32":
    from filelock import FileLock, Timeout

    def is_held(path: Path) -> bool:
        """Does a live process hold this lock? A file that does not exist is held by nobody."""
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
            lock.acquire(timeout=PATIENCE_SECONDS)
        except Timeout:
            return None
        return NameLock(path, None, lock.release)

else:
    import fcntl
    import time

    _OPEN = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC

    def is_held(path: Path) -> bool:
        """Does a live process hold this lock? A file that does not exist is held by nobody.

        Asked with a shared lock, which others that ask can have at the same time.
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
        """Those who only ask are waited for; a holder is not."""
        descriptor = os.open(path, _OPEN, 0o600)
        until = time.monotonic() + PATIENCE_SECONDS
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
                if _is_still(path, descriptor):
                    return NameLock(path, descriptor, partial(_unlock, descriptor))
                os.close(descriptor)  # its holder has removed it, and ended, in this moment
                descriptor = os.open(path, _OPEN, 0o600)

    def _is_still(path: Path, descriptor: int) -> bool:
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
        hint="keep the key folder on a disk of this machine: MOOT_KEYS names another",
    )


def lock_file(folder: KeyFolder, origin: str, name: str) -> Path:
    """The file that is locked for a name; in a lent folder the one of its user."""
    return folder.user_folder.ledger_folder(origin) / f"{name}.running"
