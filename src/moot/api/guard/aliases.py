"""Other names under which a file is held: a hard link, a link that was reserved by its own name,
the same letters in another case or form where the disk sees no difference; and, where somebody
else counts from another root, the name it has from there.

Names are compared everywhere else (section 5); only here is the disk asked whether two of them
are one file. What does not exist yet has no other name but the one from another root.
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
    """What is held, under another name, of one of `scopes`, or of a folder around one."""
    asked, root = tuple(scopes), str(worktree_root)
    aliases = (*_same_file(state, asked, root), *_same_location(state, asked, root))
    by_fencing = {held.fencing: held for held in aliases if held.key and held.key not in asked}
    return tuple(by_fencing.values())


def covers_file(held: Reservation, scope: str, root: Path) -> bool:
    """Is this very file of this root part of what is held, wherever that was counted from?"""
    held_locations = _locations(held.worktree or str(root), held.key)
    return any(
        location == held_location or is_inside(location, held_location)
        for location in _locations(str(root), scope)
        for held_location in held_locations
    )


def _same_file(state: State, asked: tuple[str, ...], root: str) -> Iterator[Reservation]:
    """By device and number, in both worktrees: a name is held in all of them."""
    wanted = {_identity(f"{root}/{path}") for scope in asked for path in _with_folders(scope)}
    wanted.discard(_NOWHERE)
    for held in state.live_by_key.values() if wanted else ():
        if is_resource(held.key):
            continue
        roots = (root,) if held.worktree in ("", root) else (root, held.worktree)
        if any(_identity(f"{each}/{held.key}") in wanted for each in roots):
            yield held


def _same_location(state: State, asked: tuple[str, ...], root: str) -> Iterator[Reservation]:
    """By where it lies, of what is held from another root."""
    for other in state.held_worktrees - {"", root}:
        for location in (location for scope in asked for location in _locations(root, scope)):
            for name in _names_from(other, location):
                overlapping = model.overlapping_reservations(state, key_of_file(name))
                yield from (held for held in overlapping if held.worktree == other)


def _names_from(root: str, location: str) -> Iterator[str]:
    """What a location is called from a root; a folder around the root is all of it."""
    for top in _locations(root, ""):
        if location == top or is_inside(top, location):
            yield ""
        elif is_inside(location, top):
            yield os.path.relpath(location, top).replace(os.sep, "/")


def _locations(root: str, scope: str) -> list[str]:
    """Where it lies, by the name of the root and by the folder that this really is."""
    tops = dict.fromkeys((root, os.path.realpath(root)))
    return [os.path.normpath(f"{top}/{scope}") for top in tops]


def _with_folders(scope: str) -> Iterator[str]:
    """The path and every folder above it that lies below the root."""
    parts = Path(os.path.normpath(scope)).parts
    if parts and parts[0] != os.pardir:
        yield from (os.path.join(*parts[: n + 1]) for n in range(len(parts)))


def _identity(path: str) -> _Identity:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return _NOWHERE
    return status.st_dev, status.st_ino


# A file that has a second name inside a folder which somebody else holds: looked for only if it
# has several hard links. A search that would take too long is refused.

MOST_ENTRIES: Final = 50_000
_SKIPPED: Final = frozenset({".git", ".moot"})


def names_in_held_folders(
    scopes: Iterable[str], root: Path, held_by_others: Iterable[Reservation]
) -> tuple[str, ...]:
    """The names, relative to the root, under which one of `scopes` lies in such a folder."""
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
    """Where what is held lies: a name is held in all worktrees."""
    if is_resource(held.key):
        return
    for top in dict.fromkeys((root, held.worktree or root)):
        folder = os.path.join(top, held.key)
        if os.path.isdir(folder):
            yield folder


def _files_below(folder: str, budget: list[int]) -> Iterator[tuple[_Identity, str]]:
    """Every file below, until the budget is used up; its number is known without a look at it."""
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
        f"{quote_name(scope)} has a second name, a hard link, and {held.owner} holds more than"
        f" can be searched for it ({quote_name(held.scope)})",
        hint=f"ask {held.owner}, or work on a copy under a new name",
    )
