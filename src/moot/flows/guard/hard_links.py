"""A file that has a second name inside a folder which somebody else holds.

Only a file with more than one hard link is looked for, and only in the folders of others; most
edits pay one look at the file. A search that would take too long is no answer: then it is refused.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from moot.core.errors import Refused
from moot.core.quoted import quote_name
from moot.protocols.presence.model import Reservation
from moot.protocols.presence.resources import is_resource, key_of_file

MOST_ENTRIES: Final = 50_000
_SKIPPED: Final = frozenset({".git", ".moot"})
_Identity = tuple[int, int]  # device and number of a file


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
