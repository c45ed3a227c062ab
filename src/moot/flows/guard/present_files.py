"""What stands in a file now: its bytes, git's id of them, and what kind of file it is.

A link is read as git reads it: its bytes are the path it leads to. What is neither a file nor a
link (a folder, a pipe) has no bytes that could be kept.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import Final, NamedTuple

# Beyond this no copy is kept, so that an edit of a large file does not wait for one.
MOST_BYTES_COPIED: Final = 8 * 1024 * 1024
# Beyond this a file is not even compared.
MOST_BYTES_READ: Final = 64 * 1024 * 1024


class PresentFile(NamedTuple):
    """`blob` is empty if there is no file; `data` is None if there is none, or it is too large."""

    blob: str
    size: int = 0
    mode: int = 0
    data: bytes | None = None


NO_FILE: Final = PresentFile("")


def read_present_file(file: str, algorithm: str) -> PresentFile | None:
    """The file as it is; None if that cannot be told: unreadable, or too large to look at."""
    try:
        status = os.lstat(file)
        if stat.S_ISLNK(status.st_mode):
            return _present(os.fsencode(os.readlink(file)), status.st_mode, algorithm)
        if not stat.S_ISREG(status.st_mode):
            return NO_FILE
        if status.st_size > MOST_BYTES_READ:
            return None
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as stream:
            data = stream.read(MOST_BYTES_READ + 1)
    except (FileNotFoundError, NotADirectoryError):
        return NO_FILE
    except (OSError, ValueError):
        return None
    return _present(data, status.st_mode, algorithm) if len(data) <= MOST_BYTES_READ else None


def _present(data: bytes, mode: int, algorithm: str) -> PresentFile:
    digest = hashlib.new(algorithm, b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    kept = data if len(data) <= MOST_BYTES_COPIED else None
    return PresentFile(digest.hexdigest(), len(data), mode, kept)
