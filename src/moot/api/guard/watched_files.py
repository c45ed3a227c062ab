"""Keep the list of files that others hold, their folders, and the versions last seen.

A name is held in every worktree (B-11), so a file is looked up in the worktree of the run and in
the holder's. Ignored files are left out. A version is git's id of the bytes.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from moot.protocols.presence.model import Reservation
from moot.system.git_commands import GitQuestion, ask_git
from moot.system.git_objects import blob_id, object_format
from moot.workspace.find import FOLDER, git_common_dir

SECONDS: Final = 10.0
MOST_BYTES: Final = 8 * 1024 * 1024
MOST_FILES: Final = 5_000
MOST_FOLDERS: Final = 2_000
MOST_SCOPES: Final = 100
_OURS: Final = (".git", FOLDER)


class HeldFile(NamedTuple):
    """A file of a worktree: the root, and the path below it."""

    root: str
    path: str

    @property
    def full(self) -> str:
        return f"{self.root}/{self.path}"


class SeenVersion(NamedTuple):
    """A version that was seen at `at_ns`: the stat signature, and git's id of the bytes.

    Both are empty if there is no file. `blob` is None if the file is too large to read.
    """

    signature: tuple[int, ...] = ()
    blob: str | None = ""
    at_ns: int = 0


class WatchedChange(NamedTuple):
    """A file that changed, held by the owner of `held`, after `since_ns` and not after `at_ns`."""

    file: HeldFile
    held: Reservation
    before: str | None
    after: str | None
    since_ns: int
    at_ns: int


class HeldFiles:
    """What others hold, as one run sees it: files with their versions, and folders to watch."""

    def __init__(self) -> None:
        self.folders: tuple[Path, ...] = ()
        self.is_too_much = False
        self._held: dict[str, dict[str, Reservation]] = {}  # by root and key
        self._seen: dict[HeldFile, SeenVersion] = {}
        self._algorithms: dict[str, str] = {}
        self.compared_ns = 0  # everything reported until then was compared

    @property
    def files(self) -> tuple[HeldFile, ...]:
        return tuple(self._seen)

    def refresh(self, live: Iterable[Reservation], own_root: Path) -> list[HeldFile]:
        """Refresh the list from the reservations; return the files that are new in it.

        A file that appeared in a scope which was already held is reported as a change later.
        """
        earlier, self._held = self._held, {}
        for held in live:
            for root in dict.fromkeys((held.worktree or str(own_root), str(own_root))):
                if os.path.isdir(root) or root in earlier:  # a worktree may have been removed
                    self._held.setdefault(root, {})[held.key] = held
        # Git does not list a file that was removed with its folder; keep it, to report that.
        listed = {
            file: seen
            for file, seen in self._seen.items()
            if seen.signature and self.holder_of(file) is not None
        }
        folders: dict[str, None] = {}
        fresh = []
        for root, by_key in self._held.items():
            for path in (*_list_files(root, by_key), *by_key):
                file = HeldFile(root, path)
                folders.update(dict.fromkeys(_folders_of(file)))
                if file in listed or os.path.isdir(file.full) or len(listed) >= MOST_FILES:
                    continue
                seen = self._seen.get(file)
                if seen is None:
                    fresh.append(file)
                    around = self.holder_of(file)
                    was_held = around is not None and around.key in earlier.get(root, {})
                    seen = SeenVersion() if was_held else self.look(file)
                listed[file] = seen
        self.is_too_much = len(listed) >= MOST_FILES or len(folders) > MOST_FOLDERS
        self._seen = listed
        existing = (Path(folder) for folder in folders if os.path.isdir(folder))
        self.folders = tuple(islice(existing, MOST_FOLDERS))
        return fresh

    def find(self, paths: Iterable[str]) -> Iterator[HeldFile]:
        """Yield those of these paths that are held."""
        for path in paths:
            for root in self._held:
                if path.startswith(f"{root}/"):
                    file = HeldFile(root, os.path.relpath(path, root))
                    if self.holder_of(file) is not None:
                        yield file

    def holder_of(self, file: HeldFile) -> Reservation | None:
        """Return the reservation of the file, or of the nearest folder around it."""
        by_key, key = self._held.get(file.root, {}), file.path
        if key.split("/", 1)[0] in _OURS:
            return None
        while key not in by_key:
            if not key:
                return None
            key = key.rpartition("/")[0]
        return by_key[key]

    def take_changes(self, files: Iterable[HeldFile]) -> list[WatchedChange]:
        """Compare the files with their last seen version, and remember the present one."""
        changes, unknown = [], []
        for file in dict.fromkeys(files):
            held, before = self.holder_of(file), self._seen.get(file)
            if held is None or (before is not None and before.signature == _signature(file.full)):
                continue
            if before is None and len(self._seen) >= MOST_FILES:
                continue
            now = self.look(file)
            self._seen[file] = now
            if before is None:
                unknown.append(file)
            if now.blob != (before or SeenVersion()).blob or now.blob is None:
                was = (before or SeenVersion()).blob
                since = max(self.compared_ns, 0 if before is None else before.at_ns)
                changes.append(WatchedChange(file, held, was, now.blob, since, _time_of(file, now)))
        ignored = _ignored(unknown)
        for file in ignored:
            del self._seen[file]
        return [change for change in changes if change.file not in ignored]

    def look(self, file: HeldFile) -> SeenVersion:
        """Return the present version; a folder counts as no file."""
        signature, now = _signature(file.full), time.time_ns()
        if not signature or stat.S_ISDIR(signature[-1]):
            return SeenVersion(at_ns=now)
        try:
            if os.path.islink(file.full):
                data = os.fsencode(os.readlink(file.full))
            elif signature[1] > MOST_BYTES:
                return SeenVersion(signature, None, now)
            else:
                data = Path(file.full).read_bytes()
        except OSError:
            return SeenVersion(signature, None, now)
        return SeenVersion(signature, blob_id(data, self._algorithm(file.root)), now)

    def _algorithm(self, root: str) -> str:
        if root not in self._algorithms:
            common = git_common_dir(Path(root))
            self._algorithms[root] = "sha1" if common is None else object_format(common)
        return self._algorithms[root]


def _list_files(root: str, by_key: Mapping[str, Reservation]) -> list[str]:
    """List tracked and untracked files below the held folders; single files need no git."""
    folders = [key for key in by_key if os.path.isdir(f"{root}/{key}")]
    if not folders:
        return []
    asked = [f":(top,literal){key}" if key else ":(top)" for key in folders]
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--")
    question = GitQuestion(Path(root), (*words, *(asked if len(asked) <= MOST_SCOPES else ())))
    (answer,) = ask_git([question], SECONDS)
    if answer is None:
        return list(_walk(root, folders))
    names = answer.decode("utf-8", "surrogateescape").split("\0")
    return [name for name in dict.fromkeys(names) if name and _is_below(name, by_key)]


def _walk(root: str, folders: Iterable[str]) -> Iterator[str]:
    """List files without git, up to a limit."""
    count = 0
    for key in folders:
        for folder, inner, names in os.walk(f"{root}/{key}"):
            inner[:] = [name for name in inner if name not in _OURS]
            for name in names:
                yield os.path.relpath(f"{folder}/{name}", root)
                count += 1
                if count >= MOST_FILES:
                    return


def _is_below(path: str, by_key: Mapping[str, Reservation]) -> bool:
    folders = ("", *(path[:at] for at, letter in enumerate(path) if letter == "/"), path)
    return any(folder in by_key for folder in folders)


def _folders_of(file: HeldFile) -> Iterator[str]:
    """Yield the folder to watch: the path itself if it is one, or its nearest existing parent."""
    folder = file.full if os.path.isdir(file.full) else os.path.dirname(file.full)
    while not os.path.isdir(folder) and len(folder) > len(file.root):
        folder = os.path.dirname(folder)
    yield folder


def _signature(full: str) -> tuple[int, ...]:
    try:
        status = os.lstat(full)
    except (OSError, ValueError):
        return ()
    return status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode


def _time_of(file: HeldFile, version: SeenVersion) -> int:
    """Return when the file last changed, or its folder if it was removed."""
    from moot.api.guard.held_changes import LAG_NS, latest_change_time

    return version.signature[0] + LAG_NS if version.signature else latest_change_time(file.full)


def find_uncommitted(files: Iterable[HeldFile]) -> list[HeldFile]:
    """Return files whose content git does not have: modified or untracked."""
    by_root: dict[str, list[HeldFile]] = {}
    for file in files:
        by_root.setdefault(file.root, []).append(file)
    words = ("ls-files", "-z", "--modified", "--others", "--exclude-standard", "--")
    questions = [
        GitQuestion(Path(root), (*words, *(f":(top,literal){file.path}" for file in names)))
        if len(names) <= MOST_SCOPES
        else GitQuestion(Path(root), words)
        for root, names in by_root.items()
    ]
    found: list[HeldFile] = []
    for (root, names), answer in zip(by_root.items(), ask_git(questions, SECONDS), strict=True):
        paths = set((answer or b"").decode("utf-8", "surrogateescape").split("\0"))
        found += [file for file in names if file.path in paths and file.root == root]
    return found


def _ignored(files: Iterable[HeldFile]) -> frozenset[HeldFile]:
    """Return the files that git ignores, with one question for each worktree."""
    by_root: dict[str, list[HeldFile]] = {}
    for file in files:
        by_root.setdefault(file.root, []).append(file)
    questions = [
        GitQuestion(
            Path(root),
            ("check-ignore", "-z", "--stdin"),
            b"".join(os.fsencode(file.path) + b"\0" for file in names),
        )
        for root, names in by_root.items()
    ]
    found: set[HeldFile] = set()
    for root, answer in zip(by_root, ask_git(questions, SECONDS), strict=True):
        paths = (answer or b"").decode("utf-8", "surrogateescape").split("\0")
        found.update(HeldFile(root, path) for path in paths if path)
    return frozenset(found)
