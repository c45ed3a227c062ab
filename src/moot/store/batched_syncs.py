"""Many writes of one thread, made durable together: when the block ends, or when it asks for it.

Every commit is otherwise synced by itself, which for a decision of nine participants is a hundred
waits for the disk. A run of participants tells nobody outside of its writes until it asks the next
one or ends; so it holds the syncs back until then. A killed process loses nothing by it: what was
written is the system's. After a power failure the newest writes may be gone, and then the later
ones are gone too: the log keeps its order, and the run goes on from there. Files are synced before
the logs that speak of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from moot.core.errors import StoreFailed
from moot.store.files import are_held, sync_folder, this_thread

_BYTES: Final = getattr(os, "O_BINARY", 0)


@contextmanager
def hold_syncs() -> Iterator[None]:
    """What this thread writes in the block is durable when the block ends, also by an error."""
    if are_held():
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
    """Whatever this thread has held back is on the disk when this returns, or StoreFailed."""
    for held in (this_thread.unsynced, this_thread.unsynced_logs):
        try:
            _sync_all(list(held or ()))
        except OSError as error:
            raise StoreFailed(
                "store_failed",
                f"what was written could not be made durable: {error.strerror or error}",
                hint="mend the disk, then look at what is on record",
            ) from None
        if held:
            held.clear()


def _sync_all(paths: list[Path]) -> None:
    """Several at a time: the disk then makes them durable in one go."""
    if len(paths) < 2:
        for path in paths:
            _sync(path)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(16, len(paths)), "moot-sync") as pool:
        list(pool.map(_sync, paths))


def _sync(path: Path) -> None:
    """One that is gone needs none: a log that was moved into its database was synced there."""
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
