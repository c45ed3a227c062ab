"""When a tool's hook last spoke in a worktree: one small file each, whose time is all it says.

Written at the start of a session, and at most once a minute at other moments: a hook runs before
every edit. Nothing rests on it but what `moot hook status` tells.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from moot.core.sha256 import sha256

FOLDER: Final = "hooks/spoke"
PAUSE_SECONDS: Final = 60.0


def stamp_spoken(workspace: Path, tool: str, worktree: Path, *, at_start: bool) -> None:
    """Note that the hook speaks now. It is no matter if that cannot be written."""
    file = _stamp(workspace, tool, worktree)
    with suppress(OSError):
        if not at_start and time.time() - _time_of(file) < PAUSE_SECONDS:
            return
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "wb"):
            os.utime(file)


def last_spoken(workspace: Path, tool: str, worktree: Path) -> float | None:
    """Seconds since the epoch; None if the hook never spoke there."""
    return _time_of(_stamp(workspace, tool, worktree)) or None


def forget_spoken(workspace: Path, tool: str, worktree: Path) -> None:
    file = _stamp(workspace, tool, worktree)
    with suppress(OSError):
        os.unlink(file)
    with suppress(OSError):
        os.rmdir(os.path.dirname(file))


def _time_of(file: str) -> float:
    try:
        return os.stat(file).st_mtime
    except OSError:
        return 0.0


def _stamp(workspace: Path, tool: str, worktree: Path) -> str:
    name = sha256(os.fsencode(os.path.realpath(worktree))).hexdigest()[:16]
    return os.path.join(workspace, FOLDER, f"{tool}-{name}")
