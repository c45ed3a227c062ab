"""Whether a keeper of this ledger runs right now: each holds a lock on one file beside it, which
the system takes back when it ends or is killed. On a disk without such locks nobody can tell: there
one that has ever run is taken to run, for nobody is to be told that it does not if it does."""

from __future__ import annotations

import fcntl
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

FILE: Final = "running"


def mark_running(folder: Path) -> IO[bytes]:
    """The mark of one more keeper, which lasts until this is closed."""
    mark = open(folder / FILE, "ab")  # noqa: SIM115 - as long as the keeper runs
    with suppress(OSError):  # no such locks: it keeps the ledger all the same
        fcntl.flock(mark, fcntl.LOCK_SH)
    return mark


def is_any_running(folder: Path) -> bool:
    with suppress(OSError), open(folder / FILE, "rb") as mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False
