"""When a shell command began: an empty file whose time is the moment, by the disk's own clock.

Written before a shell command and removed after it. What the command changed is newer.
"""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from moot.core.errors import MootError
from moot.surfaces.hooks.call import Call

FOLDER: Final = "hooks/calls"
_OLD_SECONDS: Final = 24 * 3600
_KEPT: Final = 200


def begin(call: Call, home: Path | None) -> None:
    """Best effort: without a stamp, less is noticed afterwards, and nothing is held back."""
    from moot.flows.guard.guarded_paths import session_spot

    with suppress(OSError, MootError):
        spot = session_spot(call.cwd, home)
        if spot is not None:
            stamp = _stamp(spot.workspace, call)
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.write_bytes(b"")


def ended(workspace: Path, call: Call) -> int | None:
    """Nanoseconds at which the command began, if it was noted; its note is gone afterwards."""
    stamp = _stamp(workspace, call)
    try:
        began = stamp.stat().st_mtime_ns
        stamp.unlink()
    except OSError:
        return _by_duration(call)
    return began


def sweep(workspace: Path) -> None:
    """Remove the notes of commands that never ended."""
    with suppress(OSError):
        for stamp in list((workspace / FOLDER).iterdir())[:_KEPT]:
            if time.time() - stamp.stat().st_mtime > _OLD_SECONDS:
                stamp.unlink()


def _by_duration(call: Call) -> int | None:
    if call.duration_ms is None:
        return None
    return time.time_ns() - (call.duration_ms + 1_000) * 1_000_000


def _stamp(workspace: Path, call: Call) -> Path:
    """A tool without call ids runs one shell command after the other."""
    said = f"{call.tool.name}\n{call.session}\n{call.call_id}".encode("utf-8", "replace")
    return workspace / FOLDER / hashlib.sha256(said).hexdigest()[:32]
