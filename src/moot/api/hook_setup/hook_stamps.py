"""Note what happened to the hooks of a tool in a worktree: an empty file each, with a time.

spoke      the tool's hook ran; at most once a minute, because it runs before every edit
taken-out  a person removed the hooks (`moot hook uninstall`)
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
    """What is noted; the value is the name of the folder."""

    HOOK_RAN = "spoke"
    TAKEN_OUT = "taken-out"
    KEPT = "kept"


def stamp_hook_ran(workspace: Path, tool: str, worktree: Path, *, at_start: bool) -> None:
    """Note that the hook runs now. Errors are ignored."""
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
    """Return when it last happened, in seconds since the epoch; None if never."""
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
