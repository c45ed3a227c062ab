"""Other names under which a file is held: a hard link, a link that was reserved by its own name,
the same letters in another case or form where the disk sees no difference; and, where somebody
else counts from another root, the name it has from there.

Names are compared everywhere else (section 5); only here is the disk asked whether two of them
are one file. What does not exist yet has no other name but the one from another root.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from moot.protocols.presence import sorted_index
from moot.protocols.presence.model import Reservation, State
from moot.protocols.presence.paths import is_inside
from moot.protocols.presence.resources import is_resource, key_of_file

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
                overlapping = sorted_index.overlapping_reservations(state, key_of_file(name))
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
