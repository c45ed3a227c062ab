"""Find other names under which a file is held: a hard link, a symlink that was reserved by its own
name, another letter case or Unicode form on a disk that ignores it, or a name from another root.

Everywhere else names are compared (section 5); only here the disk is asked whether two names are
one file. A file that does not exist yet can only have another name from another root.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from moot.core.errors import Refused
from moot.core.text import quote_name
from moot.protocols.presence import model
from moot.protocols.presence.model import Reservation, State, is_resource, key_of_file
from moot.protocols.presence.paths import is_inside

_Identity = tuple[int, int]  # device and number of a file
_NOWHERE: Final[_Identity] = (0, 0)


def find_aliases(
    state: State, scopes: Iterable[str], worktree_root: Path
) -> tuple[Reservation, ...]:
    """Return reservations, under another name, of one of `scopes` or of a folder around one."""
    asked, root = tuple(scopes), str(worktree_root)
    aliases = (*_same_file(state, asked, root), *_same_location(state, asked, root))
    by_fencing = {held.fencing: held for held in aliases if held.key and held.key not in asked}
    return tuple(by_fencing.values())


def covers_file(held: Reservation, scope: str, root: Path) -> bool:
    """True if `held` covers this file of this root, whatever root it was counted from."""
    held_locations = _locations(held.worktree or str(root), held.key)
    return any(
        location == held_location or is_inside(location, held_location)
        for location in _locations(str(root), scope)
        for held_location in held_locations
    )


def _same_file(state: State, asked: tuple[str, ...], root: str) -> Iterator[Reservation]:
    """Yield reservations of the same inode, in both worktrees: a name is held in all worktrees."""
    wanted = {_identity(f"{root}/{path}") for scope in asked for path in _with_folders(scope)}
    wanted.discard(_NOWHERE)
    for held in state.live_by_key.values() if wanted else ():
        if is_resource(held.key):
            continue
        roots = (root,) if held.worktree in ("", root) else (root, held.worktree)
        if any(_identity(f"{each}/{held.key}") in wanted for each in roots):
            yield held


def _same_location(state: State, asked: tuple[str, ...], root: str) -> Iterator[Reservation]:
    """Yield reservations from another root that cover the same location."""
    for other in state.held_worktrees - {"", root}:
        for location in (location for scope in asked for location in _locations(root, scope)):
            for name in _names_from(other, location):
                overlapping = model.overlapping_reservations(state, key_of_file(name))
                yield from (held for held in overlapping if held.worktree == other)


def _names_from(root: str, location: str) -> Iterator[str]:
    """Yield the name of a location from a root; a folder around the root is the whole root."""
    for top in _locations(root, ""):
        if location == top or is_inside(top, location):
            yield ""
        elif is_inside(location, top):
            yield os.path.relpath(location, top).replace(os.sep, "/")


def _locations(root: str, scope: str) -> list[str]:
    """Return the absolute path, by the given root and by its real path."""
    tops = dict.fromkeys((root, os.path.realpath(root)))
    return [os.path.normpath(f"{top}/{scope}") for top in tops]


def _with_folders(scope: str) -> Iterator[str]:
    """Yield the path and every folder above it, below the root."""
    parts = Path(os.path.normpath(scope)).parts
    if parts and parts[0] != os.pardir:
        yield from (os.path.join(*parts[: n + 1]) for n in range(len(parts)))


def _identity(path: str) -> _Identity:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return _NOWHERE
    return status.st_dev, status.st_ino


# A file with several hard links may have another name inside of a folder that others hold.

MOST_ENTRIES: Final = 50_000
_SKIPPED: Final = frozenset({".git", ".moot"})


def names_in_held_folders(
    scopes: Iterable[str], root: Path, held_by_others: Iterable[Reservation]
) -> tuple[str, ...]:
    """Return names, relative to the root, of `scopes` inside of folders that others hold."""
    linked = {identity: scope for scope in scopes for identity in _if_linked(root / scope)}
    if not linked:
        return ()
    names: dict[str, None] = {}
    budget = [MOST_ENTRIES]
    for held in held_by_others:
        for folder in _folders_of(held, str(root)):
            for identity, path in _files_below(folder, budget):
                if identity in linked:
                    below = os.path.relpath(path, folder).replace(os.sep, "/")
                    names[key_of_file(f"{held.key}/{below}" if held.key else below)] = None
            if budget[0] < 0:
                raise _too_large(next(iter(linked.values())), held)
    return tuple(names)


def _if_linked(file: Path) -> Iterator[_Identity]:
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        yield status.st_dev, status.st_ino


def _folders_of(held: Reservation, root: str) -> Iterator[str]:
    """Yield the held folder in each worktree."""
    if is_resource(held.key):
        return
    for top in dict.fromkeys((root, held.worktree or root)):
        folder = os.path.join(top, held.key)
        if os.path.isdir(folder):
            yield folder


def _files_below(folder: str, budget: list[int]) -> Iterator[tuple[_Identity, str]]:
    """Yield every file below with its inode, which needs no stat, until the budget is used up."""
    waiting = [folder]
    while waiting and budget[0] >= 0:
        place = waiting.pop()
        try:
            device = os.stat(place).st_dev
            entries = list(os.scandir(place))
        except OSError:
            continue
        budget[0] -= len(entries)
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                yield (device, entry.inode()), entry.path
            elif entry.name not in _SKIPPED:
                waiting.append(entry.path)


def _too_large(scope: str, held: Reservation) -> Refused:
    return Refused(
        "links_not_searched",
        f"{quote_name(scope)} has another hard link, and {held.owner} holds a folder that is too"
        f" large to search for it ({quote_name(held.scope)})",
        hint=f"ask {held.owner}, or work on a copy under a new name",
    )
