"""Ask git which files are changed, staged, hidden or different from another commit.

Each caller asks only for what it needs, because looking for untracked and ignored files is slow.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from moot.api.guard.shell.act import DestructiveAct
from moot.core.errors import StoreFailed

GIT_SECONDS: Final = 4.0
NOT_TRACKED: Final = "??"
IGNORED: Final = "!!"


def changed_files(
    folder: str,
    pathspecs: tuple[str, ...] = (),
    *,
    untracked: str = "no",
    also_ignored: bool = False,
    git_options: tuple[str, ...] = (),
) -> Mapping[str, str]:
    """Return git's two status letters by path, relative to the worktree root; nothing if git fails.

    `untracked` is `no`, `normal` (a folder as one entry) or `all`. Raises StoreFailed if git does
    not answer in time.
    """
    words = ["status", "--porcelain=v1", "-z"]
    words += ["--no-renames", "--ignore-submodules=none", f"--untracked-files={untracked}"]
    words += ["--ignored=matching"] if also_ignored else []
    answer = query_git(folder, (*git_options, *words, "--", *pathspecs))
    entries = () if answer is None else answer.split("\0")
    return {entry[3:]: entry[:2] for entry in entries if len(entry) > 3}


def list_changed_or_empty(root: Path, path: str = "") -> list[str]:
    """List the changed files of a worktree, or check one file; empty if git does not answer in
    time."""
    try:
        pathspecs = (f":(top,literal){path}",) if path else ()
        return list(changed_files(str(root), pathspecs, untracked="all"))
    except StoreFailed:
        return []


def find_hidden(
    folder: str, pathspecs: tuple[str, ...], git_options: tuple[str, ...] = ()
) -> Mapping[str, str]:
    """Return files that git was told to ignore (`update-index --assume-unchanged`,
    `--skip-worktree`) as if they were changed: `git status` does not list them."""
    words = (*git_options, "ls-files", "-v", "-z", "--full-name", "--", *pathspecs)
    answer = query_git(folder, words)
    entries = () if answer is None else answer.split("\0")
    return {
        entry[2:]: " M" for entry in entries if entry and (entry[0].islower() or entry[0] == "S")
    }


def query_git(folder: str, words: tuple[str, ...]) -> str | None:
    """Return git's output; None if git fails. Raises StoreFailed if it does not answer in time."""
    from moot.system.git_status import git_environment

    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", *words],
            cwd=folder,
            env=git_environment(),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=GIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise StoreFailed(
            "git_failed", f"git did not answer within {GIT_SECONDS:g} s in {folder}"
        ) from None
    except (OSError, ValueError):
        return None
    return os.fsdecode(done.stdout) if done.returncode == 0 else None


# The difference between the worktree's commit and one that it is forced to: git replaces unchanged
# files, and untracked files in their place.

_DIFF: Final = ("diff-tree", "-r", "-z", "--name-status", "--no-renames", "--no-ext-diff")
# Git's letters for a file that only the other commit has, and one that only this commit has.
ADDED: Final = "A"
DELETED: Final = "D"


def find_differences(
    folder: str, target: str, git_options: tuple[str, ...] = ()
) -> Mapping[str, str]:
    """Return git's letter for each file that differs from `target`; nothing if that is no commit.
    Raises StoreFailed if git does not answer in time."""
    if target.startswith("-"):  # git would read it as an option
        return {}
    answer = query_git(folder, (*git_options, *_DIFF, "HEAD", target, "--"))
    fields = [] if answer is None else answer.split("\0")  # letter and path by turns
    return dict(zip(fields[1::2], fields[::2], strict=False))


# What a commit, merge or rebase would change, asked inside of git's hooks.

STAGED_GIT_SECONDS: Final = 10.0
PRE_COMMIT: Final = "pre-commit"
_STAGED: Final = ("--cached",)
# What to compare in each of git's hooks. `@1` is the hook's first argument.
_COMPARED: Final[Mapping[str, tuple[str, ...]]] = {
    PRE_COMMIT: _STAGED,
    "pre-merge-commit": _STAGED,
    "prepare-commit-msg": _STAGED,
    "pre-rebase": ("HEAD...@1",),
    "post-merge": ("ORIG_HEAD", "HEAD"),
}
# Hooks that run after the fact: git ignores their answer.
TOO_LATE: Final = frozenset({"post-merge"})


def list_files_to_change(root: Path, hook: str, arguments: Sequence[str] = ()) -> tuple[str, ...]:
    """List the files that git is about to commit, merge or rebase, with both sides of a rename.

    Git's environment variables stay as they are: in a hook they name the index that is committed.
    """
    compared = _COMPARED.get(hook, _STAGED)
    first = arguments[0] if arguments else "HEAD"
    words = [word.replace("@1", first) for word in compared]
    try:
        done = subprocess.run(
            ["git", "diff", "--name-only", "--no-renames", "-z", *words, "--"],
            cwd=root,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=STAGED_GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise StoreFailed("git_failed", f"git failed to list the changed files: {error}") from None
    names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return tuple(name for name in names if name)


# `git reset --merge` does nothing if a staged file was changed again, or if a file exists whose
# removal is staged.


def is_refused_by_git(act: DestructiveAct, folder: str, root: Path) -> bool:
    """True if git itself would refuse the whole act; False if that is unknown."""
    if not act.is_all_or_nothing:
        return False
    if any(not word.is_known or word.text.startswith(":") for word in act.staged_before):
        return False
    # Files that the same command stages first have no unstaged change left.
    others = (":(top)", *(f":(exclude){word.text}" for word in act.staged_before))
    letters = changed_files(folder, others, git_options=act.git_options)
    return any(
        (state[0] in "MAT" and state[1] in "MT")
        or (state[0] == "D" and os.path.lexists(root / path))
        for path, state in letters.items()
    )


def moves_head(act: DestructiveAct, folder: str) -> bool:
    """True if HEAD would be on another branch or commit afterwards.

    With `act.may_be_branches` the branch stays and only its commit moves, as with `git reset`. A
    move to an ancestor or a descendant does not count: other agents stay on their branch.
    """
    name = act.target

    def ask(*words: str) -> str:
        return (query_git(folder, (*act.git_options, *words)) or "").strip()

    head = ask("rev-parse", "--verify", "--quiet", "HEAD")
    commit = ask("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if act.may_be_branches:
        return bool(commit) and ask("merge-base", commit, head) not in (commit, head)
    branch = ask("symbolic-ref", "--quiet", "--short", "HEAD")
    if name in (branch, "HEAD", "@"):
        return False
    if commit or act.name == "git symbolic-ref":  # which accepts any name
        return True
    return bool(ask("for-each-ref", "--count=1", "--format=1", f"refs/remotes/*/{name}"))
