"""Why a worktree or branch that agents left must stay. No reason: nothing is lost with it.

Merged is only what git can prove: every commit is reachable from what the main checkout stands at.
What was squashed into another commit is not, and stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from moot.flows.leftovers.left_work import LeftWork
from moot.system.git import find_dirty_files
from moot.system.git_questions import GitQuestion, ask_git
from moot.system.git_worktrees import find_git_folder

SECONDS: Final = 20.0
SHOWN_FILES: Final = 3
# What git leaves in a worktree's folder while something is not finished.
_UNFINISHED: Final = (
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "rebase-merge",
    "rebase-apply",
)


def reasons_to_keep(work: LeftWork, main: Path, ours: Collection[Path]) -> tuple[str, ...]:
    """`ours` are files that Moot itself wrote there, with which nothing of anybody's goes."""
    return tuple(_reasons(work, main, ours))


def _reasons(work: LeftWork, main: Path, ours: Collection[Path]) -> Iterator[str]:
    if work.still_here:
        yield f"{', '.join(work.still_here)} did not leave"
    if work.root is not None:
        yield from _reasons_in(work.root, ours)
    if work.commit is None:
        yield "its commit cannot be read"
    elif not is_merged(main, work.commit):
        yield "it has commits that are not merged into what the main checkout stands at"


def is_merged(main: Path, commit: str) -> bool:
    """True if git says that the main checkout holds `commit`; no answer is a no."""
    words = ("merge-base", "--is-ancestor", commit, "HEAD")
    (answer,) = ask_git([GitQuestion(main, words)], SECONDS)
    return answer is not None


def _reasons_in(root: Path, ours: Collection[Path]) -> Iterator[str]:
    folder = find_git_folder(root)
    if folder is None:
        yield "it is no worktree any more"
        return
    if (folder / "locked").exists():
        yield "it is locked (`git worktree unlock`)"
    if any((folder / name).exists() for name in _UNFINISHED):
        yield "a merge or rebase is not finished there"
    dirty = find_dirty_files(root)
    if dirty.paths is None:
        yield dirty.why
    elif dirty.paths:
        yield f"not committed: {_first(dirty.paths)}"
    ignored = _ignored_files(root, ours)
    if ignored is None:
        yield "git did not say which files it ignores there"
    elif ignored:
        yield f"ignored by git and kept nowhere else: {_first(ignored)}"


def _ignored_files(root: Path, ours: Collection[Path]) -> tuple[str, ...] | None:
    words = ("ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--directory")
    (answer,) = ask_git([GitQuestion(root, words)], SECONDS)
    if answer is None:
        return None
    names = answer.decode("utf-8", "backslashreplace").split("\0")
    return tuple(name for name in names if name and not _is_ours(root / name, ours))


def _is_ours(path: Path, ours: Collection[Path]) -> bool:
    """A file of ours, or a folder that holds nothing else."""
    if not path.is_dir() or path.is_symlink():
        return path in ours
    return all(each in ours for each in path.rglob("*") if not each.is_dir())


def _first(paths: Collection[str]) -> str:
    shown = ", ".join(list(paths)[:SHOWN_FILES])
    return f"{shown} and {len(paths) - SHOWN_FILES} more" if len(paths) > SHOWN_FILES else shown
