"""Find the workspace: the nearest `.moot/` upward, else through git's common directory.

A `.moot` folder with neither a ledger nor a trust file is skipped, so that an empty one cannot hide
a workspace above it. It is used only if there is no other; opening it then reports the problem.

Git's files are read directly, without starting a process: `.git` is a folder, or a file that points
to one; `commondir` in it points to the folder that all worktrees share.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from moot.core.errors import Unavailable

FOLDER = ".moot"  # a folder of our own, never inside `.beads` (OPR-003)
LEDGER = "ledger.db"
DATABASE = "database.json"  # the schema of a ledger that is in a database
JOINED = "joined.json"  # the keeper's address, if this is a copy


def find_workspace(start: Path, home: Path | None = None) -> Path:
    """Return the `.moot` folder for `start`; `home` (or MOOT_HOME) names it or its parent."""
    if home is not None:
        return _workspace_at(home.absolute())
    empty: Path | None = None
    for folder in _upward(start):
        if (folder / FOLDER).is_dir():
            if holds_workspace(folder / FOLDER):
                return folder / FOLDER
            empty = empty or folder / FOLDER
    common = git_common_dir(start)
    shared = (_in_repository(common) if common is not None else None) or empty
    if shared is None:
        raise Unavailable(
            "no_workspace",
            f"no workspace for {start}",
            hint="run `moot init` in the repository",
        )
    return shared


def is_in_database(place: Path) -> bool:
    """Return whether the ledger of this workspace is in a database."""
    return _is_there(place / DATABASE)


def is_joined(place: Path) -> bool:
    """Return whether another machine keeps the ledger of this workspace."""
    return _is_there(place / JOINED)


def _is_there(file: Path) -> bool:
    """Return whether a file exists; False if unreadable, which opening the ledger reports."""
    try:
        return file.exists()
    except OSError:
        return False


def holds_workspace(place: Path) -> bool:
    """Return whether there is a workspace, even a damaged or unreadable one."""
    try:
        return (place / LEDGER).exists() or (place / "trust.json").exists()
    except OSError:  # opening it reports why
        return True


def require_ledger(place: Path) -> Path:
    """Return `place`; Unavailable if it has a trust file but no ledger."""
    try:
        stored = (place / LEDGER).exists() or is_in_database(place)
        gone = (place / "trust.json").is_file() and not stored
    except OSError:  # opening it reports why
        return place
    if gone:
        raise Unavailable(
            "no_ledger",
            f"{place / LEDGER}, the ledger file of this workspace, is missing",
            hint="restore it from a backup (`moot ledger backup` makes them); "
            "its keys and remembered checkpoints are still there",
        )
    return place


def project_root(start: Path) -> Path:
    """Return where `moot init` creates the workspace: the main worktree's root, a bare repository's
    own folder, or `start` itself outside of git."""
    common = git_common_dir(start)
    if common is None:
        return start
    return common.parent if common.name == ".git" else common


def git_common_dir(start: Path) -> Path | None:
    """The folder that all worktrees of the repository around `start` share."""
    for folder in _upward(start):
        marker = folder / ".git"
        if marker.is_dir():
            return marker
        if marker.is_file():
            return _common_of(_follow_pointer(marker, "gitdir: "))
        if _is_bare(folder):
            return folder
    return None


def worktree_root(start: Path) -> Path | None:
    """The root of the worktree around `start`: scopes are relative to it."""
    for folder in _upward(start):
        if (folder / ".git").exists():
            return folder
    return None


def _workspace_at(home: Path) -> Path:
    for candidate in (home / FOLDER, home):
        ours = candidate.name == FOLDER and (candidate / "trust.json").is_file()
        if ours or (candidate / LEDGER).is_file():
            return candidate
    raise Unavailable("no_workspace", f"no workspace at {home}", hint="run `moot init` there")


def _in_repository(common: Path) -> Path | None:
    root = common.parent if common.name == ".git" else common
    return root / FOLDER if (root / FOLDER).is_dir() else None


def _common_of(git_dir: Path | None) -> Path | None:
    """The folder shared by all worktrees: a worktree's git folder names it, a submodule's is it."""
    if git_dir is None or not git_dir.is_dir():
        return None
    pointer = git_dir / "commondir"
    return _follow_pointer(pointer, "") if pointer.is_file() else git_dir


def _follow_pointer(file: Path, prefix: str) -> Path | None:
    try:
        line = file.read_text("utf-8", "surrogateescape").strip()
    except OSError:
        return None
    if not line.startswith(prefix):
        return None
    return (file.parent / line[len(prefix) :]).resolve()


def _is_bare(folder: Path) -> bool:
    names = ("HEAD", "objects", "refs")
    return all((folder / name).exists() for name in names)


def _upward(start: Path) -> Iterator[Path]:
    start = start.absolute()
    yield start
    yield from start.parents


def may_fold_names(path: str) -> bool:
    """Return whether the disk ignores case in the path, or in the part of it that exists.

    Quick, because every edit calls it: on most Linux disks it is one system call.
    """
    while True:
        above, name = os.path.split(path)
        if not name:
            return False
        other = name.swapcase()
        if other != name and os.path.lexists(path):
            return is_same_entry(path, os.path.join(above, other))
        path = above


def is_same_entry(one: str, other: str) -> bool:
    """Return whether two paths are the same entry of the disk; does not follow links."""
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except OSError:
        return False


def spell_as_listed(path: str) -> str:
    """Spell an absolute path as the folders list it, where `Src/A.py` and `src/a.py` are one file.

    Scopes are compared by name (OPR-034), so a file would otherwise have a scope for each spelling.
    A part that does not exist yet keeps its name.
    """
    if not may_fold_names(path):
        return path
    start, *parts = os.path.normpath(path).split(os.sep)
    spelled = start or os.sep
    for place, part in enumerate(parts):
        name = _listed_name(spelled, part)
        if name is None:
            return os.path.join(spelled, *parts[place:])
        spelled = os.path.join(spelled, name)
    return spelled


def _listed_name(folder: str, part: str) -> str | None:
    """Return the name as the folder lists it; None if it does not exist."""
    here = os.path.join(folder, part)
    if not os.path.lexists(here):
        return None
    try:
        names = os.listdir(folder)
    except OSError:  # it may be passed through without being read
        return part
    if part in names:
        return part
    alike = [name for name in names if _fold(name) == _fold(part)]
    return next((name for name in alike if is_same_entry(here, os.path.join(folder, name))), part)


def _fold(name: str) -> str:
    from unicodedata import normalize  # hooks load this module and rarely need this

    return normalize("NFC", normalize("NFC", name).casefold())
