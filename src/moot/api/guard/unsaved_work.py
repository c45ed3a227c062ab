"""Copy all uncommitted work of a worktree before a command that may change files.

The text of a command does not tell what a script will do, and no hook sees a person's edits. So
everything that git reports as changed is copied first. Only files that changed since the previous
copy are read, so this usually costs no more than `git status`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.api.guard.copies import keep_copies
from moot.api.guard.git_changes import changed_files
from moot.api.guard.guarded_paths import GuardedPaths
from moot.api.guard.worktree_before import WorktreeBefore, describe_worktree
from moot.core.errors import StoreFailed
from moot.core.sha256 import sha256
from moot.workspace.file_versions import FILE, Act, FileVersion, FileVersions
from moot.workspace.find import git_common_dir

if TYPE_CHECKING:
    from moot.core.clock import Clock, Millis


FOLDER: Final = "hooks/kept"
LONGEST_TEXT: Final = 60


def keep_unsaved_work(clock: Clock, guarded: GuardedPaths, command: str) -> WorktreeBefore | None:
    """Copy changed files that have no copy yet, and return the state of the worktree.

    Raises StoreFailed (`copy_failed`) if the disk is full: the command must not run then. If git
    does not answer in time, nothing is copied and the command may run.
    """
    stamp = _stamp_file(guarded)
    looked_ns = _read_mtime(stamp)
    fresh = stamp.with_name(f"{stamp.name}.{os.getpid()}")
    try:
        fresh.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(b"")  # before the look, so that later changes are found next time
        changed = changed_files(str(guarded.worktree_root), untracked="all")
    except (OSError, StoreFailed):
        fresh.unlink(missing_ok=True)
        return None
    files = [path for path in changed if _is_touched(guarded.worktree_root / path, looked_ns)]
    try:
        if files:
            keep_copies(clock(), guarded, files, f"before {command[:LONGEST_TEXT]}")
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    with suppress(OSError):
        fresh.replace(stamp)
    return describe_worktree(guarded.worktree_root, changed, clock())


def _stamp_file(guarded: GuardedPaths) -> Path:
    """Return the file whose mtime is the time of the last copy; there is one for each worktree."""
    root = os.fsencode(guarded.worktree_root)
    return guarded.workspace / FOLDER / sha256(root).hexdigest()[:24]


def _read_mtime(stamp: Path) -> int:
    try:
        return stamp.stat().st_mtime_ns
    except OSError:
        return 0


def _is_touched(file: Path, looked_ns: int) -> bool:
    """True if the file changed since then. Uses ctime too, which also changes on a move or
    chmod."""
    try:
        status = os.lstat(file)
    except OSError:
        return False
    return max(status.st_mtime_ns, status.st_ctime_ns) >= looked_ns


# Uncommitted changes are an agent's own if it holds the file, or wrote or read this very version.
# All others are a person's, or their author is unknown.

MOST_FILES: Final = 500


class Observer(NamedTuple):
    """Who asks: the agent (empty if unknown), its session, and which of the files it holds."""

    agent: str
    session: str
    held: frozenset[str] = frozenset()


class SplitChanges(NamedTuple):
    """Changed files: `own` are written or seen by the agent, `unseen` are not.

    `changed_since` are the unseen files that the agent itself holds.
    """

    own: tuple[str, ...]
    unseen: tuple[str, ...]
    changed_since: tuple[str, ...] = ()


def split_changes(
    workspace: Path, root: Path, paths: Iterable[str], observer: Observer
) -> SplitChanges:
    """Separate files that the agent wrote or read from changes it has not seen.

    A person's edits are unseen, so a command must not discard them.
    """
    files = [path for path in paths if (root / path).is_file()][:MOST_FILES]
    if not files:
        return SplitChanges((), ())
    if not observer.agent or not (workspace / FILE).exists():
        own = tuple(path for path in files if path in observer.held)
        return SplitChanges(own, tuple(path for path in files if path not in observer.held))
    with FileVersions(workspace) as versions:
        known = {path: _is_known(versions, root, path, observer) for path in files}
    own = tuple(path for path in files if known[path])
    unseen = tuple(path for path in files if not known[path])
    return SplitChanges(own, unseen, tuple(path for path in unseen if path in observer.held))


def note_changes_shown(
    workspace: Path, root: Path, paths: Iterable[str], observer: Observer, now: Millis
) -> None:
    """Note that the agent was told about these changes, so that it may repeat its command."""
    rows = [
        FileVersion(str(root), path, Act.READ, observer.agent, observer.session, now, blob or "")
        for path in paths
        if (blob := _current_blob(root, path)) is not None
    ]
    with FileVersions(workspace) as versions:
        versions.note(rows)


def _is_known(versions: FileVersions, root: Path, path: str, observer: Observer) -> bool:
    rows = [
        versions.last(str(root), path, act, agent=observer.agent) for act in (Act.LEFT, Act.READ)
    ]
    blobs = {row.blob for row in rows if row is not None}
    if not blobs:
        return path in observer.held
    return _current_blob(root, path) in blobs


def _current_blob(root: Path, path: str) -> str | None:
    """Return git's id of the file's content; None if it is unreadable or too large."""
    from moot.system.git_objects import MOST_BYTES, blob_id, object_format

    common = git_common_dir(root)
    try:
        if (root / path).stat().st_size > MOST_BYTES:
            return None
        data = (root / path).read_bytes()
    except OSError:
        return None
    return blob_id(data, "sha1" if common is None else object_format(common))
