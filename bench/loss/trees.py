"""The bytes in all worktrees, read from the disk: nothing of git's, of Moot's or of the tools'."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final, NamedTuple

from bench.loss.world import WORKTREES

# What was installed, and what git ignores here: nobody's work.
_LEFT_OUT: Final = frozenset({".git", ".moot", ".claude", ".codex", ".gemini", "opencode.json"})
IGNORED_FOLDER: Final = "build"
_IGNORED_END: Final = ".log"


class Place(NamedTuple):
    """A file: its worktree, and its path from the root of that."""

    worktree: str
    path: str


Tree = dict[Place, bytes]


def read_trees(top: Path) -> Tree:
    """All files of all worktrees that git does not ignore; a link is the path it leads to."""
    found: Tree = {}
    for worktree in WORKTREES:
        _read_folder(worktree, top / worktree, "", found)
    return found


def _read_folder(worktree: str, root: Path, below: str, found: Tree) -> None:
    try:
        entries = sorted(os.scandir(root / below), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        path = f"{below}/{entry.name}" if below else entry.name
        if not below and entry.name in (*_LEFT_OUT, IGNORED_FOLDER):
            continue
        if entry.is_symlink():
            found[Place(worktree, path)] = os.fsencode(os.readlink(entry.path))
        elif entry.is_dir():
            _read_folder(worktree, root, path, found)
        elif not entry.name.endswith(_IGNORED_END):
            found[Place(worktree, path)] = Path(entry.path).read_bytes()


def changed_places(before: Tree, after: Tree) -> set[Place]:
    """Where the bytes are others, gone or new."""
    return {
        place for place in before.keys() | after.keys() if before.get(place) != after.get(place)
    }


def blob_of(data: bytes) -> str:
    """Git's id of these bytes, computed here."""
    digest = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()
