"""What a command changed: files compared before and after by their content, and what git says.

`take_footprint` takes a picture of the declared scopes and of everything git calls changed;
`compare_footprints` lists the differences of two pictures. A change outside of every declared
scope was not declared. Links are compared by where they point and never followed; a scope that
leads out of the project is not read. The work is bounded: beyond a number of files the picture
says that it is incomplete, beyond an amount of bytes files are compared by size and time only.

Without git only the declared scopes are seen, and the picture says so. What git ignores is not
seen; but the files that tell git what to ignore, or make it run something, are.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from moot.system import git_status

MOST_FILES: Final = 20_000
MOST_BYTES: Final = 512 * 1024 * 1024
PIECE: Final = 1024 * 1024
# Our own folder changes with every command we record.
OURS: Final = ".moot"
_GIT_SECONDS: Final = 20.0
# Git does not report these, although they decide what it reports and what it runs.
_GITS_OWN: Final = (".git/config", ".git/hooks", ".git/info")


class Footprint(NamedTuple):
    """Fingerprints by path (relative to the root, `/` between names), and what was not seen."""

    files: Mapping[str, str]
    dirty: Mapping[str, str] | None = None
    head: str = ""
    remarks: tuple[str, ...] = ()


class FileChange(NamedTuple):
    """One file that differs; `declared` says that it lies in a declared scope."""

    path: str
    how: str
    declared: bool


def take_footprint(root: Path, scopes: Iterable[str]) -> Footprint:
    """Fingerprint `scopes` and the files that git reports as changed, below `root`."""
    budget = _Budget()
    files: dict[str, str] = {}
    gits = _GITS_OWN if (root / ".git").is_dir() else ()
    for scope in (*gits, *map(plain_scope, scopes)):
        files.update(_scope(root, scope, budget))
    found = git_status.read_file_states(root)
    if found.letters is None:
        budget.remarks.append(f"only declared files were compared: {found.why}")
        return Footprint(files, remarks=tuple(dict.fromkeys(budget.remarks)))
    dirty = {path: one for path, one in found.letters.items() if not _is_ours(path)}
    files.update((path, _one(root, path, budget)) for path in dirty if path not in files)
    return Footprint(files, dirty, _head(root), tuple(dict.fromkeys(budget.remarks)))


def compare_footprints(
    root: Path, scopes: Iterable[str], before: Footprint, after: Footprint
) -> list[FileChange]:
    """What differs, by path. A file git calls changed only afterwards was as committed before."""
    budget = _Budget()
    declared = [plain_scope(scope) for scope in scopes]
    found: dict[str, str] = {}
    for path in sorted(before.files.keys() | after.files.keys()):
        was, now = before.files.get(path), after.files.get(path)
        if was is None and after.dirty is not None and not _is_new(after.dirty.get(path, "??")):
            was = _COMMITTED
        if now is None and before.dirty is not None and path in before.dirty:
            now = _one(root, path, budget)
        how = _how(was, now)
        if how:
            found[path] = how
    for path in _committed(root, before.head, after.head):
        found.setdefault(path, "changed")
    return [FileChange(path, how, _within(path, declared)) for path, how in sorted(found.items())]


def plain_scope(scope: str) -> str:
    """`src/*` is the folder and all in it; so is `src`."""
    path = scope.replace("\\", "/").rstrip("/")
    for ending in ("/**", "/*"):
        path = path.removesuffix(ending)
    return "" if path in ("", ".", "*", "**") else os.path.normpath(path).replace(os.sep, "/")


_ABSENT: Final = ""
_COMMITTED: Final = "as committed"


def _is_new(letters: str) -> bool:
    return letters == "??" or letters[0] == "A"


def _how(was: str | None, now: str | None) -> str:
    was, now = was or _ABSENT, now or _ABSENT
    if was == now:
        return ""
    if was == _ABSENT:
        return "added"
    return "removed" if now == _ABSENT else "changed"


def _within(path: str, declared: list[str]) -> bool:
    return any(not one or path == one or path.startswith(one + "/") for one in declared)


class _Budget:
    """Remaining limits on files and bytes, and remarks on what was skipped."""

    def __init__(self) -> None:
        self.files = MOST_FILES
        self.bytes = MOST_BYTES
        self.remarks: list[str] = []

    def take_file(self) -> bool:
        self.files -= 1
        if self.files == -1:
            self.remarks.append(f"more than {MOST_FILES} files: the rest was not compared")
        return self.files >= 0

    def take_bytes(self, size: int) -> bool:
        if size <= self.bytes:
            self.bytes -= size
            return True
        self.remarks.append(f"beyond {MOST_BYTES} bytes files were compared by size and time only")
        return False


def _scope(root: Path, scope: str, budget: _Budget) -> Iterator[tuple[str, str]]:
    place = root / scope
    if not _below(root, place):
        budget.remarks.append(f"{scope} leads out of the project and was not looked at")
        return
    if place.is_dir() and not place.is_symlink():
        yield from _folder(place, scope, budget)
        return
    mark = _one(root, scope, budget)
    if mark:
        yield scope, mark


def _below(root: Path, place: Path) -> bool:
    """Return whether the real folder is below the root; does not follow a final link."""
    top, folder = os.path.realpath(root), os.path.realpath(place.parent)
    if os.path.realpath(place) == top and not place.is_symlink():
        return True
    return folder == top or folder.startswith(top.rstrip(os.sep) + os.sep)


def _folder(place: Path, scope: str, budget: _Budget) -> Iterator[tuple[str, str]]:
    waiting = [(str(place), scope)]
    while waiting:
        folder, name = waiting.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            budget.remarks.append(f"{printable_name(name)} could not be read")
            continue
        for entry in entries:
            path = f"{name}/{printable_name(entry.name)}" if name else printable_name(entry.name)
            if path in (OURS, ".git"):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, path))
            elif not budget.take_file():
                return
            else:
                mark = _fingerprint(entry.path, budget)
                if mark:
                    yield path, mark


def _one(root: Path, path: str, budget: _Budget) -> str:
    return _fingerprint(str(root / path), budget) if budget.take_file() else _ABSENT


def _fingerprint(path: str, budget: _Budget) -> str:
    """Its content, or where a link points, or what kind of thing it is; empty if it is not there.

    A file whose name is not UTF-8 is known by its shown name only and counts by its presence.
    """
    try:
        about = os.lstat(path)
        if stat.S_ISLNK(about.st_mode):
            return f"link {os.readlink(path)}"
        if not stat.S_ISREG(about.st_mode):
            return f"kind {stat.S_IFMT(about.st_mode)}"
        if not budget.take_bytes(about.st_size):
            return f"stat {about.st_size} {about.st_mtime_ns} {about.st_ino}"
        return f"{about.st_mode & 0o111:o} {_digest(path)}"
    except (OSError, ValueError):
        return _ABSENT


def _digest(path: str) -> str:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    digest = hashlib.sha256()
    with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def printable_name(name: str) -> str:
    """The name with bytes that are not UTF-8 escaped, so that it can be recorded."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _is_ours(path: str) -> bool:
    return path == OURS or path.startswith(OURS + "/")


def _head(root: Path) -> str:
    return _git(root, "rev-parse", "--verify", "-q", "HEAD").decode("ascii", "replace").strip()


def _committed(root: Path, before: str, after: str) -> Iterable[str]:
    """Files that differ between two commits: what was written and committed at once."""
    if not before or not after or before == after:
        return ()
    names = _git(root, "diff", "--name-only", "--no-renames", "-z", before, after, "--")
    paths = names.decode("utf-8", "backslashreplace").split("\0")
    return [path for path in paths if path and not _is_ours(path)]


def _git(root: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", *words],
            cwd=root,
            env=git_status.git_environment(),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout if done.returncode == 0 else b""
