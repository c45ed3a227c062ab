"""What happened to the guard of a tool in a worktree: a small file each, whose time is all it says.

spoke      the tool's hook spoke; at most once a minute, because it runs before every edit
taken-out  a person took the hooks out (`moot hook uninstall`): they are not missed
kept       the tool was told to keep its hooks although its settings lost them
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Final

from moot.core.sha256 import sha256

FOLDER: Final = "hooks"
PAUSE_SECONDS: Final = 60.0


class Stamp(StrEnum):
    """What is noted, by the folder that it is in."""

    HOOK_RAN = "spoke"
    TAKEN_OUT = "taken-out"
    KEPT = "kept"


def stamp_hook_ran(workspace: Path, tool: str, worktree: Path, *, at_start: bool) -> None:
    """Note that the hook speaks now. It is no matter if that cannot be written."""
    spoke = last_stamped(workspace, Stamp.HOOK_RAN, tool, worktree) or 0.0
    if at_start or time.time() - spoke >= PAUSE_SECONDS:
        stamp(workspace, Stamp.HOOK_RAN, tool, worktree)


def stamp(workspace: Path, kind: Stamp, tool: str, worktree: Path) -> None:
    """Note that it happens now."""
    file = _file(workspace, kind, tool, worktree)
    with suppress(OSError):
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "wb"):
            os.utime(file)


def last_stamped(workspace: Path, kind: Stamp, tool: str, worktree: Path) -> float | None:
    """Seconds since the epoch; None if it never happened there."""
    try:
        return os.stat(_file(workspace, kind, tool, worktree)).st_mtime
    except OSError:
        return None


def remove_stamp(workspace: Path, kind: Stamp, tool: str, worktree: Path) -> None:
    file = _file(workspace, kind, tool, worktree)
    with suppress(OSError):
        os.unlink(file)
    with suppress(OSError):
        os.rmdir(os.path.dirname(file))


def _file(workspace: Path, kind: Stamp, tool: str, worktree: Path) -> str:
    name = sha256(os.fsencode(os.path.realpath(worktree))).hexdigest()[:16]
    return os.path.join(workspace, FOLDER, kind, f"{tool}-{name}")
