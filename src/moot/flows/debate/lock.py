"""One writer of a session file at a time, for all programs on all names of it.

The lock is on the file itself, so nothing lies beside it, and whoever can reach the file, through
a link or from another container, meets the same lock. A file that was replaced while one waited
is another file: its lock is taken instead. Windows would forbid others to read a locked file;
there a lock file stands beside it for as long as someone writes.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from moot.core.errors import StoreFailed
from moot.flows.debate.file import real_path, require_file, unreadable, unwritable

LOCK_SECONDS: Final = 30
LOOK_SECONDS: Final = 0.002  # how often whoever waits for the lock tries again


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """BNC-101, BNC-104: nobody else writes this file meanwhile."""
    try:
        require_file(path, os.stat(path).st_mode)
    except OSError as error:
        raise unreadable(path, error) from None
    try:
        release = _acquire(path, time.monotonic() + LOCK_SECONDS)
    except OSError as error:
        raise unwritable(path, error) from None
    try:
        yield
    finally:
        release()


def _busy(path: Path) -> StoreFailed:
    return StoreFailed(
        "lock_timeout", f"{path} is being written by another program", hint="try again"
    )


if sys.platform == "win32":
    from collections.abc import Callable

    def _acquire(path: Path, until: float) -> Callable[[], None]:
        from filelock import FileLock, Timeout

        lock = FileLock(f"{real_path(path)}.lock", poll_interval=LOOK_SECONDS)
        try:
            lock.acquire(timeout=until - time.monotonic())
        except Timeout:
            raise _busy(path) from None
        return lock.release

else:
    import fcntl
    from collections.abc import Callable
    from functools import partial

    def _acquire(path: Path, until: float) -> Callable[[], None]:
        while True:
            descriptor = _open(path)
            try:
                _wait(path, descriptor, until)
                if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                    return partial(os.close, descriptor)
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # replaced while we waited

    def _open(path: Path) -> int:
        """For writing, which locks on a network disk demand; a file that may only be read can
        still be recorded."""
        try:
            return os.open(path, os.O_RDWR | os.O_NONBLOCK)
        except OSError:
            return os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def _wait(path: Path, descriptor: int, until: float) -> None:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise _busy(path) from None
                time.sleep(LOOK_SECONDS)
            else:
                return
