"""Temporary folders in memory, where that has room: tests sync thousands of small files, and nobody
need wait for a disk that is to keep none of them.

A TMPDIR that is set chooses another place. The folder of a test that passed is removed.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

MEMORY: Final = Path("/dev/shm")
ROOM_BYTES: Final = 2 * 1024**3  # several times what a whole run holds at any moment


def keep_temporary_files_in_memory() -> None:
    if "TMPDIR" not in os.environ and is_usable(MEMORY):
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def is_usable(folder: Path) -> bool:
    """It has room, and programs can be started there, which some containers forbid."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    about = os.statvfs(folder)
    has_room = about.f_bavail * about.f_frsize >= ROOM_BYTES
    return has_room and not about.f_flag & os.ST_NOEXEC
