"""The state of a worktree when a shell command began, and the version of each file then.

Before a command, `unsaved_work.py` asks git which files are changed or deleted; all others are as
committed, or do not exist. So a later comparison finds what the command changed, even if a file was
removed with its timestamp.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from moot.api.guard.copies import is_utf8
from moot.core.clock import Millis
from moot.core.errors import StoreFailed
from moot.workspace.file_versions import Act, FileVersion, FileVersions
from moot.workspace.find import git_common_dir

MOST_CHANGED: Final = 5_000
GIT_SECONDS: Final = 3.0


class WorktreeBefore(msgspec.Struct, frozen=True):
    """The worktree at `root` when a command began, and its commit (`head`).

    Of the files that git reports, `changed` existed and `gone` did not. Versions noted after `at`
    were noted while the command ran.
    """

    root: str
    at: Millis
    head: str
    changed: frozenset[str]
    gone: frozenset[str]


def describe_worktree(root: Path, letters: Mapping[str, str], at: Millis) -> WorktreeBefore | None:
    """Return the state of a worktree; `letters` are git's status letters by path. None if the
    commit is unknown, or if too many files are changed."""
    head = _read_commit(root) if len(letters) <= MOST_CHANGED else None
    if head is None:
        return None
    named = [path for path in letters if path.isascii() or is_utf8(path)]
    gone = frozenset(
        path for path in named if "D" in letters[path] and not os.path.lexists(root / path)
    )
    return WorktreeBefore(str(root), at, head, frozenset(named) - gone, gone)


def decode_worktree(data: bytes) -> WorktreeBefore | None:
    """Decode a state; None if it was not written completely."""
    try:
        return msgspec.msgpack.decode(data, type=WorktreeBefore) if data else None
    except msgspec.DecodeError:
        return None


def find_committed_otherwise(before: WorktreeBefore) -> Collection[str]:
    """Return files that differ between the commit then and now, which git does not report as
    changed. Empty if the commit is the same, or if git does not answer."""
    from moot.api.guard.git_changes import find_differences

    if _read_commit(Path(before.root)) in (None, before.head):
        return ()
    try:
        return find_differences(before.root, before.head).keys()
    except StoreFailed:
        return ()


def _read_commit(root: Path) -> str | None:
    """Return the commit of the worktree, read from git's files."""
    from moot.system.git_worktrees import find_git_folder, read_head

    folder, common = find_git_folder(root), git_common_dir(root)
    return None if folder is None or common is None else read_head(folder, common).commit


class TouchedFile(NamedTuple):
    """A file that may have changed: its last noted version, and the id of its content now (empty:
    no file; None: unreadable)."""

    path: str
    noted: FileVersion | None
    present: str | None


def find_blobs_before(
    before: WorktreeBefore,
    files: Collection[TouchedFile],
    changed: Collection[str],
    versions: FileVersions,
) -> dict[str, str | None]:
    """Return the id of each file when the command began; empty if it did not exist, None if
    unknown.

    `changed` is what git reports as changed now. What another call left meanwhile counts as the
    earlier version, so that it is not attributed to the command.
    """
    blobs: dict[str, str | None] = {}
    unchanged = list[TouchedFile]()
    for file in files:
        noted = _leave_out_own_time(file.noted, before, versions)
        if noted is not None and noted.at > before.at:
            blobs[file.path] = noted.blob
        elif file.path in before.gone:
            blobs[file.path] = ""
        elif file.path in before.changed:
            blobs[file.path] = None if noted is None else noted.blob
        else:
            unchanged.append(file._replace(noted=noted))
    return blobs | _committed_before(before, unchanged, changed)


def _leave_out_own_time(
    noted: FileVersion | None, before: WorktreeBefore, versions: FileVersions
) -> FileVersion | None:
    """Skip copies and reads noted while the command ran: they may show what the command itself
    made."""
    if noted is None or noted.at <= before.at or noted.act is Act.LEFT:
        return noted
    history = versions.list_history(before.root, noted.path)
    return next((row for row in history if row.at <= before.at or row.act is Act.LEFT), None)


def _committed_before(
    before: WorktreeBefore, files: Collection[TouchedFile], changed: Collection[str]
) -> dict[str, str | None]:
    """Return the ids of files that were as committed or did not exist, with one question to git."""
    if not files:
        return {}
    from moot.system.git_commands import find_blobs

    commits = before.head, "HEAD"
    names = [f"{commit}:{file.path}" for file in files for commit in commits]
    committed = find_blobs(Path(before.root), names, GIT_SECONDS)
    blobs: dict[str, str | None] = {}
    for file in files:
        fallback = None if file.noted is None else file.noted.blob
        if committed is None:
            blobs[file.path] = fallback
            continue
        then, now = (committed[f"{commit}:{file.path}"] for commit in commits)
        if file.path in changed or then != now:
            blobs[file.path] = then or ""
        elif then is None and file.present:  # ignored
            blobs[file.path] = fallback
        else:
            blobs[file.path] = file.present
    return blobs
