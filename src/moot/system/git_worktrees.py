"""The worktrees of a repository and the commits they stand at, read from git's own files.

No process is started, because hooks ask before every edit. What is stored in another way (a newer
form of references) is not known here, and is given as None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_BRANCHES: Final = "refs/heads/"
_REFERENCE: Final = "ref: "
_COMMIT: Final = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?\Z")


class Head(NamedTuple):
    """What is checked out: a branch, if it is one, and its commit, if there is one yet."""

    branch: str | None
    commit: str | None


class Worktree(NamedTuple):
    """A folder with files of a repository, and what is checked out there."""

    root: Path
    head: Head


def find_git_folder(root: Path) -> Path | None:
    """The folder that git keeps for the worktree at `root`; None if it is none."""
    marker = root / ".git"
    if marker.is_dir():
        return marker
    text = _read(marker)
    return None if text is None else root / text.removeprefix("gitdir: ")


def read_head(git_folder: Path, common: Path) -> Head:
    """`common` is the folder that all worktrees of the repository share."""
    text = _read(git_folder / "HEAD") or ""
    if not text.startswith(_REFERENCE):
        return Head(None, text if _COMMIT.match(text) else None)
    name = text.removeprefix(_REFERENCE)
    branch = name.removeprefix(_BRANCHES) if name.startswith(_BRANCHES) else None
    return Head(branch, _read_reference(common, name))


def read_branch(common: Path, branch: str) -> str | None:
    """Return the commit of a branch; None if there is no such branch."""
    unsafe = ".." in branch or branch.startswith("/") or "\0" in branch
    return None if unsafe else _read_reference(common, f"{_BRANCHES}{branch}")


def list_worktrees(common: Path) -> Iterator[Worktree]:
    """Return all worktrees, the main one first."""
    if common.name == ".git" and common.parent.is_dir():
        yield Worktree(common.parent, read_head(common, common))
    try:
        folders = sorted((common / "worktrees").iterdir())
    except OSError:
        return
    for folder in folders:
        pointer = _read(folder / "gitdir")
        root = (folder / pointer).parent if pointer else None
        if root is not None and root.is_dir():
            yield Worktree(root, read_head(folder, common))


def _read_reference(common: Path, name: str) -> str | None:
    text = _read(common / name)
    if text is not None:
        return text if _COMMIT.match(text) else None
    for line in (_read(common / "packed-refs") or "").splitlines():
        commit, _, packed = line.partition(" ")
        if packed == name:
            return commit
    return None


def _read(file: Path) -> str | None:
    try:
        return file.read_text("utf-8", "surrogateescape").strip()
    except (OSError, ValueError):
        return None
