"""Before a command that may change files: copies of all work in its worktree that git lacks.

What a script or a program will do cannot be read from the command that starts it, and a person's
edits are seen by no hook. So everything that git calls changed is copied first, whoever wrote it.
Only what was touched since the last such look is read: mostly it costs no more than `git status`.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from moot.core.errors import StoreFailed
from moot.core.sha256 import sha256
from moot.flows.guard.copies import CallingSession, keep_copies
from moot.flows.guard.git_changes import changed_files
from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.guard.worktree_before import WorktreeBefore, describe_worktree

FOLDER: Final = "hooks/kept"
LONGEST_TEXT: Final = 60


def keep_unsaved_work(
    session: CallingSession, guarded: GuardedPaths, command: str
) -> WorktreeBefore | None:
    """Copy what is changed here and not copied yet. Given back is how the worktree is now.

    StoreFailed (`copy_failed`) if there is no room for that: then the command must wait. If git
    does not say in time what is changed, nothing is copied: a command is not held back for that.
    """
    stamp = _stamp_file(guarded)
    looked_ns = _time_of(stamp)
    fresh = stamp.with_name(f"{stamp.name}.{os.getpid()}")
    try:
        fresh.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(b"")  # before the look: what changes meanwhile is looked at next time
        changed = changed_files(str(guarded.worktree_root), untracked="all")
    except (OSError, StoreFailed):
        fresh.unlink(missing_ok=True)
        return None
    files = [path for path in changed if _is_touched(guarded.worktree_root / path, looked_ns)]
    try:
        if files:
            keep_copies(session, guarded, files, f"before {command[:LONGEST_TEXT]}")
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    with suppress(OSError):
        fresh.replace(stamp)
    return describe_worktree(guarded.worktree_root, changed, session.clock())


def _stamp_file(guarded: GuardedPaths) -> Path:
    """One for each worktree; its time is that of the last look, by the disk's own clock."""
    root = os.fsencode(guarded.worktree_root)
    return guarded.workspace / FOLDER / sha256(root).hexdigest()[:24]


def _time_of(stamp: Path) -> int:
    try:
        return stamp.stat().st_mtime_ns
    except OSError:
        return 0


def _is_touched(file: Path, looked_ns: int) -> bool:
    """Also by a move or a new mode: the system's own time of change counts. Not if it is gone."""
    try:
        status = os.lstat(file)
    except OSError:
        return False
    return max(status.st_mtime_ns, status.st_ctime_ns) >= looked_ns
