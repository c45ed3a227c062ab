"""When a shell command began: a small file whose time is the moment, by the disk's own clock.

Written before a shell command and removed after it. What the command changed is newer. In the file
stands how the worktree was (`worktree_before.py`), if that was looked at. A tool without call ids
runs one shell command after the other.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.core.sha256 import sha256

if TYPE_CHECKING:
    from moot.flows.guard.worktree_before import WorktreeBefore

FOLDER: Final = "hooks/calls"
_OLD_SECONDS: Final = 24 * 3600
_MOST_SWEPT: Final = 200


class CommandBeginning(NamedTuple):
    """When a command began, in nanoseconds, and how its worktree was; each None if not known."""

    began_ns: int | None = None
    worktree: WorktreeBefore | None = None


def stamp_beginning(
    workspace: Path, session: str, call_id: str, worktree: WorktreeBefore | None = None
) -> None:
    """Best effort: without a stamp, less is noticed afterwards, and nothing is held back."""
    data = b""
    if worktree is not None:
        import msgspec

        data = msgspec.msgpack.encode(worktree)
    with suppress(OSError):
        stamp = _stamp_file(workspace, session, call_id)
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_bytes(data)


def take_beginning(
    workspace: Path, session: str, call_id: str, duration_ms: int | None = None
) -> CommandBeginning:
    """When the command began, and how its worktree was; its stamp is gone afterwards.

    Without a stamp it is about `duration_ms` ago, if the tool told how long it took.
    """
    stamp = _stamp_file(workspace, session, call_id)
    try:
        began, data = stamp.stat().st_mtime_ns, stamp.read_bytes()
        stamp.unlink()
    except OSError:
        if duration_ms is None:
            return CommandBeginning()
        return CommandBeginning(time.time_ns() - (duration_ms + 1_000) * 1_000_000)
    return CommandBeginning(began, _read_worktree(data) if data else None)


def _read_worktree(data: bytes) -> WorktreeBefore | None:
    """None for what was not written whole."""
    import msgspec

    from moot.flows.guard.worktree_before import WorktreeBefore

    try:
        return msgspec.msgpack.decode(data, type=WorktreeBefore)
    except msgspec.DecodeError:
        return None


def sweep_old_stamps(workspace: Path) -> None:
    """Remove the stamps of commands that never ended."""
    with suppress(OSError):
        for stamp in list((workspace / FOLDER).iterdir())[:_MOST_SWEPT]:
            if time.time() - stamp.stat().st_mtime > _OLD_SECONDS:
                stamp.unlink()


def _stamp_file(workspace: Path, session: str, call_id: str) -> Path:
    call = f"{session}\n{call_id}".encode("utf-8", "replace")
    return workspace / FOLDER / sha256(call).hexdigest()[:32]
