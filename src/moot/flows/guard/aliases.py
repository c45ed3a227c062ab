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

_Identity = tuple[int, int]
_NOWHERE: Final[_Identity] = (0, 0)


def twins(state: State, scopes: Iterable[str], root: Path) -> tuple[Reservation, ...]:
    """What is held, under another name, of one of `scopes`, or of a folder around one."""
    asked = tuple(scopes)
    found = (*_same_file(state, asked, str(root)), *_same_place(state, asked, str(root)))
    return tuple({one.fencing: one for one in found if one.key and one.key not in asked}.values())


def covers(held: Reservation, scope: str, root: Path) -> bool:
    """Is this very file of this root part of what is held, wherever that was counted from?"""
    theirs = _places(held.worktree or str(root), held.key)
    mine = _places(str(root), scope)
    return any(one == place or is_inside(one, place) for one in mine for place in theirs)


def _same_file(state: State, asked: tuple[str, ...], top: str) -> Iterator[Reservation]:
    """By device and number, in both worktrees: a name is held in all of them."""
    wanted = {_identity(f"{top}/{place}") for scope in asked for place in _with_folders(scope)}
    wanted.discard(_NOWHERE)
    for one in state.live if wanted else ():
        roots = (top,) if one.worktree in ("", top) else (top, one.worktree)
        if any(_identity(f"{root}/{one.key}") in wanted for root in roots):
            yield one


def _same_place(state: State, asked: tuple[str, ...], top: str) -> Iterator[Reservation]:
    """By where it lies, of what is held from another root."""
    for root in {one.worktree for one in state.live} - {"", top}:
        for place in (place for scope in asked for place in _places(top, scope)):
            for name in _names_from(root, place):
                held = sorted_index.overlapping_reservations(state, name)
                yield from (one for one in held if one.worktree == root)


def _names_from(root: str, place: str) -> Iterator[str]:
    """What a place is called from a root; a folder around the root is all of it."""
    for top in _places(root, ""):
        if place == top or is_inside(top, place):
            yield ""
        elif is_inside(place, top):
            yield os.path.relpath(place, top).replace(os.sep, "/")


def _places(root: str, scope: str) -> list[str]:
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
        found = os.stat(path)
    except (OSError, ValueError):
        return _NOWHERE
    return found.st_dev, found.st_ino
