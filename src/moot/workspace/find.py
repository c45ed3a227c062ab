"""Where is the workspace? The nearest `.moot/` upward, else through git's common directory.

A `.moot` folder that holds neither a ledger nor a trust file is passed over: whoever makes an empty
one below a workspace does not lead anyone away from it. Only if there is no other is it taken, and
then opening it says what is wrong.

Git's own files are read directly, no process is started: `.git` is a folder, or a file that
points to one; `commondir` in it points to the folder all worktrees share.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from moot.core.errors import Unavailable

FOLDER = ".moot"  # a folder of our own, never inside `.beads` (OPR-003)
LEDGER = "ledger.db"
DATABASE = "database.json"  # in which schema of a database the ledger lies, if not in a file
JOINED = "joined.json"  # where the keeper of a ledger is, of which a copy is here


def find_workspace(start: Path, home: Path | None = None) -> Path:
    """The `.moot` folder for `start`; `home` (or MOOT_HOME) names it or its parent outright."""
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
    """True if the ledger of this workspace lies in a database."""
    return _is_there(place / DATABASE)


def is_joined(place: Path) -> bool:
    """True if the ledger of this workspace is kept elsewhere."""
    return _is_there(place / JOINED)


def _is_there(file: Path) -> bool:
    """Nobody may look: then opening the ledger will say so."""
    try:
        return file.exists()
    except OSError:
        return False


def holds_workspace(place: Path) -> bool:
    """True if a workspace is here, or what is left of a damaged one, or if nobody may look."""
    try:
        return (place / LEDGER).exists() or (place / "trust.json").exists()
    except OSError:  # opening it will say why
        return True


def require_ledger(place: Path) -> Path:
    """`place` itself; Unavailable if its trust file is there and its ledger is missing."""
    try:
        stored = (place / LEDGER).exists() or is_in_database(place)
        gone = (place / "trust.json").is_file() and not stored
    except OSError:  # opening it will say why
        return place
    if gone:
        raise Unavailable(
            "no_ledger",
            f"the ledger file of this workspace is missing: {place / LEDGER}",
            hint="put it back from a backup (`moot ledger backup` makes them); "
            "the keys and what was kept of it are still there",
        )
    return place


def project_root(start: Path) -> Path:
    """Where `moot init` puts the workspace: the main worktree's root, a bare repository's own
    folder, or `start` itself outside of git."""
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
    """Does the disk find the path, or what is there of it, under other letters as well?

    A quick look, because every edit asks: on most Linux disks it is one question with the answer
    no.
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
    """One entry of the disk under two names; links are not followed."""
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except OSError:
        return False


def spell_as_listed(path: str) -> str:
    """Spell an absolute path as the folders list it, where `Src/A.py` and `src/a.py` are one file.

    Scopes are compared by name (OPR-034), so a file would else have as many scopes as spellings.
    What is not there yet keeps the name it was given.
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
    """What the folder calls it; None if it is not there."""
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
    from unicodedata import normalize  # hooks load this module, and hardly ever get here

    return normalize("NFC", normalize("NFC", name).casefold())
