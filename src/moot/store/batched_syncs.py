"""Make many writes of one thread durable together: when a block ends, or on request.

Otherwise every commit is synced by itself: for a decision of nine participants that is a hundred
waits for the disk. A run of participants shows its writes to no other process before it asks the
next participant or ends, so it delays the syncs until then. A killed process loses nothing: the
system has the writes. After a power failure the newest writes may be lost, in order: the run then
continues from the last one that is left. Files are synced before the logs that refer to them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from moot.core.errors import StoreFailed
from moot.store.files import sync_folder, syncs_are_held, this_thread

_BYTES: Final = getattr(os, "O_BINARY", 0)


@contextmanager
def hold_syncs() -> Iterator[None]:
    """Delay this thread's syncs until the block ends, also by an error."""
    if syncs_are_held():
        yield
        return
    this_thread.unsynced, this_thread.unsynced_logs = {}, {}
    try:
        yield
    finally:
        try:
            make_durable()
        finally:
            this_thread.unsynced = this_thread.unsynced_logs = None


def make_durable() -> None:
    """Sync everything that this thread has delayed; StoreFailed if that fails."""
    for held in (this_thread.unsynced, this_thread.unsynced_logs):
        try:
            _sync_all(list(held or ()))
        except OSError as error:
            raise StoreFailed(
                "store_failed",
                f"the last writes could not be made durable: {error.strerror or error}",
                hint="fix the disk, then check with `moot log` what was recorded",
            ) from None
        if held:
            held.clear()


def _sync_all(paths: list[Path]) -> None:
    """Sync several files at a time, so that the disk handles them together."""
    if len(paths) < 2:
        for path in paths:
            _sync(path)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(16, len(paths)), "moot-sync") as pool:
        list(pool.map(_sync, paths))


def _sync(path: Path) -> None:
    """Sync one file or folder. A missing log was already moved into its database and synced."""
    if path.is_dir():
        sync_folder(path)
        return
    try:
        descriptor = os.open(path, os.O_RDWR | _BYTES)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
