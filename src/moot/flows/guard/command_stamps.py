"""When a shell command began: an empty file whose time is the moment, by the disk's own clock.

Written before a shell command and removed after it. What the command changed is newer. A tool
without call ids runs one shell command after the other.
"""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

FOLDER: Final = "hooks/calls"
_OLD_SECONDS: Final = 24 * 3600
_MOST_SWEPT: Final = 200


def stamp_beginning(workspace: Path, session: str, call_id: str) -> None:
    """Best effort: without a stamp, less is noticed afterwards, and nothing is held back."""
    with suppress(OSError):
        stamp = _stamp_file(workspace, session, call_id)
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_bytes(b"")


def take_beginning(
    workspace: Path, session: str, call_id: str, duration_ms: int | None = None
) -> int | None:
    """Nanoseconds at which the command began; its stamp is gone afterwards.

    Without a stamp it is about `duration_ms` ago, if the tool told how long it took.
    """
    stamp = _stamp_file(workspace, session, call_id)
    try:
        began = stamp.stat().st_mtime_ns
        stamp.unlink()
    except OSError:
        if duration_ms is None:
            return None
        return time.time_ns() - (duration_ms + 1_000) * 1_000_000
    return began


def sweep_old_stamps(workspace: Path) -> None:
    """Remove the stamps of commands that never ended."""
    with suppress(OSError):
        for stamp in list((workspace / FOLDER).iterdir())[:_MOST_SWEPT]:
            if time.time() - stamp.stat().st_mtime > _OLD_SECONDS:
                stamp.unlink()


def _stamp_file(workspace: Path, session: str, call_id: str) -> Path:
    call = f"{session}\n{call_id}".encode("utf-8", "replace")
    return workspace / FOLDER / hashlib.sha256(call).hexdigest()[:32]
