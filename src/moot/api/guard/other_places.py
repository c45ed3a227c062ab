"""Find the places that may have other versions of a file: worktrees, and branches of agents here.

Every edit asks this, so it reads git's files and the presence state and starts no process. Only if
something may differ, `other_versions.py` asks git.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.system.git_worktrees import (
    Head,
    Worktree,
    find_git_folder,
    list_worktrees,
    read_branch,
    read_head,
)
from moot.workspace.find import git_common_dir

if TYPE_CHECKING:
    from moot.core.clock import Millis
    from moot.protocols.presence.model import State

MOST_BYTES: Final = 8 * 1024 * 1024
MOST_WORKTREES: Final = 32
MOST_BRANCHES: Final = 32


class OtherPlaces(NamedTuple):
    """Our own head, the other worktrees, and the branches that agents worked on."""

    root: Path
    common: Path
    own: Head
    worktrees: tuple[Worktree, ...]
    branches: tuple[Head, ...]

    @property
    def other_commits(self) -> tuple[str, ...]:
        heads = (*(worktree.head for worktree in self.worktrees), *self.branches)
        commits = dict.fromkeys(head.commit for head in heads if head.commit)
        return tuple(commit for commit in commits if commit != self.own.commit)


def find_other_places(state: State, root: Path) -> OtherPlaces | None:
    """Return the other places; None if `root` is not a git worktree."""
    common, folder = git_common_dir(root), find_git_folder(root)
    if common is None or folder is None:
        return None
    own = read_head(folder, common)
    worktrees = tuple(_other_worktrees(common, root))
    known = {own.branch, *(worktree.head.branch for worktree in worktrees)}
    return OtherPlaces(root, common, own, worktrees, tuple(_branches(state, common, known)))


def _other_worktrees(common: Path, root: Path) -> Iterator[Worktree]:
    for number, worktree in enumerate(list_worktrees(common)):
        if number >= MOST_WORKTREES:
            return
        if worktree.root != root and not _is_same_folder(worktree.root, root):
            yield worktree


def _is_same_folder(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _branches(state: State, common: Path, known: Iterable[str | None]) -> Iterator[Head]:
    """Yield the existing branches that agents here worked on, most recent first."""
    worked_at: dict[str, Millis] = {}
    for member in state.members:
        if member.branch is not None:
            worked_at[member.branch] = max(worked_at.get(member.branch, 0), member.last_at)
    for held in state.live:
        if held.branch is not None:
            worked_at[held.branch] = max(worked_at.get(held.branch, 0), held.since)
    others = [branch for branch in worked_at if branch not in known]
    others.sort(key=lambda branch: worked_at[branch], reverse=True)
    for branch in others[:MOST_BRANCHES]:
        commit = read_branch(common, branch)
        if commit is not None:
            yield Head(branch, commit)


def may_differ(places: OtherPlaces, path: str) -> bool:
    """False if all worktrees are on our commit and have the same bytes in this file."""
    if places.other_commits:
        return True
    own = read_bytes(places.root / path)
    return any(read_bytes(other.root / path) != own for other in places.worktrees)


def read_bytes(file: Path) -> bytes | None:
    """Return a file's bytes; None if it is missing, not a regular file, or too large."""
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > MOST_BYTES:
            return None
        return file.read_bytes()
    except OSError:
        return None
