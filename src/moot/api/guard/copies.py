"""Read files as git would, and copy their content before it is overwritten.

A symlink is read as git reads it: its bytes are its target. Anything else that is not a regular
file (a folder, a pipe) has no content to copy.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from moot.core.clock import DAY
from moot.workspace.file_versions import Act, FileVersion, FileVersions
from moot.workspace.find import git_common_dir, worktree_root

if TYPE_CHECKING:
    from moot.api.guard.guarded_paths import GuardedPaths
    from moot.core.clock import Millis


# Larger files are not copied, so that an edit does not wait.
MOST_BYTES_COPIED: Final = 8 * 1024 * 1024
# Larger files are not even compared.
MOST_BYTES_READ: Final = 64 * 1024 * 1024


class PresentFile(NamedTuple):
    """`blob` is empty if there is no file; `data` is None if there is none, or if it is too
    large."""

    blob: str
    size: int = 0
    mode: int = 0
    data: bytes | None = None


NO_FILE: Final = PresentFile("")


def read_present_file(file: str, algorithm: str) -> PresentFile | None:
    """Return the file as it is now; None if it is unreadable or too large."""
    try:
        status = os.lstat(file)
        if stat.S_ISLNK(status.st_mode):
            return _make_present_file(os.fsencode(os.readlink(file)), status.st_mode, algorithm)
        if not stat.S_ISREG(status.st_mode):
            return NO_FILE
        if status.st_size > MOST_BYTES_READ:
            return None
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as stream:
            data = stream.read(MOST_BYTES_READ + 1)
    except (FileNotFoundError, NotADirectoryError):
        return NO_FILE
    except (OSError, ValueError):
        return None
    return (
        _make_present_file(data, status.st_mode, algorithm)
        if len(data) <= MOST_BYTES_READ
        else None
    )


def _make_present_file(data: bytes, mode: int, algorithm: str) -> PresentFile:
    digest = hashlib.new(algorithm, b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    kept = data if len(data) <= MOST_BYTES_COPIED else None
    return PresentFile(digest.hexdigest(), len(data), mode, kept)


# Copies are loose objects of the repository (`system/git_objects.py`); `workspace/file_versions.py`
# keeps author and time. Not copied: ignored files, large files, and what exceeds the daily limit.

MOST_BYTES_A_DAY: Final[Mapping[Act, int]] = {Act.LEFT: 512 << 20, Act.KEPT: 2048 << 20}
MOST_FILES_AT_ONCE: Final = 500
LONGEST_WHY: Final = 100


class Editor(NamedTuple):
    """Who acts, in which session, when, and with what: a tool's name, or a command."""

    agent: str
    session: str
    at: Millis
    why: str = ""


class NotKept(NamedTuple):
    """A file that was not copied, and the reason."""

    path: str
    why: str


def keep_copies(
    now: Millis, guarded: GuardedPaths, paths: Iterable[str], why: str = ""
) -> tuple[NotKept, ...]:
    """Copy these files (relative to the worktree) before an act, named by `why`, may destroy them.

    Returns the files that were not copied. Content that has a copy is not copied again. Raises
    StoreFailed (`copy_failed`, `file_memory_failed`) if storing fails: the act must not run then.
    """
    editor = Editor("", "", now, why)
    with Copies(guarded.workspace, guarded.worktree_root) as copies:
        return copies.keep(list(dict.fromkeys(paths))[:MOST_FILES_AT_ONCE], editor)


def read_stored(root: Path, blob: str) -> bytes | None:
    """Return the bytes of a git object; None if git does not have it."""
    from moot.system.git_objects import read_blob, read_loose_blob

    repository = git_common_dir(root)
    data = None if repository is None else read_loose_blob(repository, blob)
    return read_blob(root, blob) if data is None else data


class Copies:
    """The copies of one worktree's files. Use it in a `with` block."""

    def __init__(self, workspace: Path, root: Path, *, only_reads: bool = False) -> None:
        from moot.system.git_objects import object_format

        self.root = root
        self._repository = git_common_dir(root)
        self._algorithm = "sha1" if self._repository is None else object_format(self._repository)
        self.versions = FileVersions(workspace, only_reads=only_reads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.versions.close()

    def read(self, path: str) -> PresentFile | None:
        """Return a file as it is now; None if it cannot be read."""
        return read_present_file(f"{self.root}/{path}", self._algorithm)

    def keep(self, paths: Iterable[str], editor: Editor) -> tuple[NotKept, ...]:
        """Copy the present content of these files, unless it has a copy."""
        present = self._read_all(paths)
        fresh = {path: file for path, file in present.items() if not self._is_kept(path, file)}
        rows, not_kept = self._store(fresh, Act.KEPT, editor)
        if rows:
            self.versions.note(row for row in rows if row.is_stored)
        return not_kept

    def identify(self, data: bytes) -> str:
        """Return git's id of these bytes."""
        from moot.system.git_objects import blob_id

        return blob_id(data, self._algorithm)

    def read_version(self, blob: str | None) -> bytes | None:
        """Return the bytes of an earlier version, if git has them; empty bytes for "no file"."""
        if blob is None or self._repository is None:
            return None
        return read_stored(self.root, blob) if blob else b""

    def note_left(
        self, paths: Iterable[str], editor: Editor, explained: Mapping[str, str] | None = None
    ) -> None:
        """Note and copy these files as this agent's call left them; a removed file counts as
        changed.

        Files that the call did not change, or that are noted already, are left out. `explained` are
        the ids of versions that are the agent's: a file with another id is left out, and a copy
        made in the meantime without an author does not count as a note.
        """
        present = self._read_all(paths, with_missing=True)
        fresh = dict[str, PresentFile]()
        for path, file in present.items():
            newest = self.versions.newest(str(self.root), path)
            is_noted = _is_same(file, newest)
            if explained is not None and newest is not None:
                is_noted = is_noted and newest.agent == editor.agent
            if not is_noted and (explained is None or explained.get(path) == file.blob):
                fresh[path] = file
        rows, _not_kept = self._store(fresh, Act.LEFT, editor)
        if rows:
            self.versions.note(rows)

    def _read_all(
        self, paths: Iterable[str], *, with_missing: bool = False
    ) -> dict[str, PresentFile]:
        """Read the files; unreadable ones and names that are not UTF-8 are left out."""
        found = {path: self.read(path) for path in paths if is_utf8(path)}
        return {
            path: file
            for path, file in found.items()
            if file is not None and (file.blob or with_missing)
        }

    def _is_kept(self, path: str, file: PresentFile) -> bool:
        """True if the newest version seen has this content and a copy.

        The copy is refreshed, so that git prunes it no earlier than a new one.
        """
        from moot.system.git_objects import store_blob

        if file.data is None or not self.versions.has_copy(str(self.root), path, file.blob):
            return False
        assert self._repository is not None
        store_blob(self._repository, file.data, file.mode)
        newest = self.versions.newest(str(self.root), path)
        return newest is not None and newest.blob == file.blob

    def _store(
        self, files: Mapping[str, PresentFile], act: Act, editor: Editor
    ) -> tuple[list[FileVersion], tuple[NotKept, ...]]:
        """Return a row for each file, stored or not, and the reasons of those that were not."""
        from moot.system.git_objects import store_blob

        reasons = self._reasons_not_to_copy(files, act, editor.at)
        rows = []
        for path, file in files.items():
            is_stored = bool(file.blob) and path not in reasons
            if is_stored and file.data is not None and self._repository is not None:
                store_blob(self._repository, file.data, file.mode)
            rows.append(
                FileVersion(
                    worktree=str(self.root),
                    path=path,
                    act=act,
                    agent=editor.agent,
                    session=editor.session,
                    at=editor.at,
                    blob=file.blob,
                    size=file.size,
                    is_stored=is_stored,
                    mode=file.mode,
                    why=editor.why[:LONGEST_WHY],
                )
            )
        return rows, tuple(NotKept(path, reason) for path, reason in reasons.items())

    def _reasons_not_to_copy(
        self, files: Mapping[str, PresentFile], act: Act, now: Millis
    ) -> dict[str, str]:
        """Return why some files are not copied; a removed file needs no reason."""
        there = {path: file for path, file in files.items() if file.blob}
        if not there:
            return {}
        if self._repository is None:
            return dict.fromkeys(there, "there is no git repository")
        reasons = dict.fromkeys(self._find_ignored(act, there), "git ignores it")
        left = MOST_BYTES_A_DAY[act] - self.versions.copied_bytes(act, now - DAY)
        for path, file in there.items():
            if file.data is None:
                reasons.setdefault(path, "it is too large")
            elif path not in reasons:
                left -= file.size
                if left < 0:
                    reasons[path] = "the daily limit for copies is reached"
        return reasons

    def _find_ignored(self, act: Act, paths: Iterable[str]) -> set[str]:
        """Ask the innermost repository of each file: a submodule has its own ignore rules."""
        from moot.system.git_commands import find_ignored

        by_root: dict[Path, list[str]] = {}
        for path in paths:
            if not self._was_copied(act, path):
                inner = worktree_root((self.root / path).parent) or self.root
                by_root.setdefault(inner, []).append(path)
        ignored = set[str]()
        for inner, some in by_root.items():
            names = {str((self.root / path).relative_to(inner)): path for path in some}
            ignored |= {names[name] for name in find_ignored(inner, names)}
        return ignored

    def _was_copied(self, act: Act, path: str) -> bool:
        """True if the file was copied before, so that git did not ignore it."""
        last = self.versions.last(str(self.root), path, act)
        return last is not None and last.is_stored


def _is_same(file: PresentFile, version: FileVersion | None) -> bool:
    return version is not None and version.blob == file.blob and version.mode == file.mode


def is_utf8(path: str) -> bool:
    """False for a file name that is not UTF-8: nothing is noted of such files."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
