"""Which files git calls changed, with its two letters for each: the look before a git command.

Only what a command needs is asked for: files that git does not track are looked for one by one, in
folders, or not at all, and ignored ones by the folders that are ignored.
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
    """Git's letters by path, from the root of the worktree; nothing where git would fail too.

    `untracked` is `no`, `normal` (folders as one) or `all`. StoreFailed if git gives no answer in
    time: then nobody knows.
    """
    words = ["status", "--porcelain=v1", "-z"]
    words += ["--no-renames", "--ignore-submodules=none", f"--untracked-files={untracked}"]
    words += ["--ignored=matching"] if also_ignored else []
    answer = query_git(folder, (*git_options, *words, "--", *pathspecs))
    entries = () if answer is None else answer.split("\0")
    return {entry[3:]: entry[:2] for entry in entries if len(entry) > 3}


def list_changed_or_empty(root: Path, path: str = "") -> list[str]:
    """What git calls changed in a worktree, or of one file; nothing if it does not say in time."""
    try:
        pathspecs = (f":(top,literal){path}",) if path else ()
        return list(changed_files(str(root), pathspecs, untracked="all"))
    except StoreFailed:
        return []


def find_hidden(
    folder: str, pathspecs: tuple[str, ...], git_options: tuple[str, ...] = ()
) -> Mapping[str, str]:
    """Files that git was told not to look at (`update-index --assume-unchanged`,
    `--skip-worktree`), as if they were changed: `git status` says nothing of them."""
    words = (*git_options, "ls-files", "-v", "-z", "--full-name", "--", *pathspecs)
    answer = query_git(folder, words)
    entries = () if answer is None else answer.split("\0")
    return {
        entry[2:]: " M" for entry in entries if entry and (entry[0].islower() or entry[0] == "S")
    }


def query_git(folder: str, words: tuple[str, ...]) -> str | None:
    """Git's answer to these words; None if it fails. StoreFailed if there is none in time."""
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
            "git_failed", f"git does not say in {GIT_SECONDS:g} s what is changed in {folder}"
        ) from None
    except (OSError, ValueError):
        return None
    return os.fsdecode(done.stdout) if done.returncode == 0 else None


# What differs between the commit of a worktree and another one that it would be forced to: files
# that are as committed are replaced by that, and untracked ones in its way.

_DIFF: Final = ("diff-tree", "-r", "-z", "--name-status", "--no-renames", "--no-ext-diff")
# Git's letters: a file that the other commit has and this one has not, and the reverse.
ADDED: Final = "A"
DELETED: Final = "D"


def find_differences(
    folder: str, target: str, git_options: tuple[str, ...] = ()
) -> Mapping[str, str]:
    """Git's letter for each file, from the root of the worktree; nothing if there is no such
    commit. StoreFailed if git gives no answer in time: then nobody knows."""
    if target.startswith("-"):  # git would take it for an option of this look
        return {}
    answer = query_git(folder, (*git_options, *_DIFF, "HEAD", target, "--"))
    fields = [] if answer is None else answer.split("\0")  # letter and path by turns
    return dict(zip(fields[1::2], fields[::2], strict=False))


# What a commit, merge or rebase would change, as git says inside its own hooks.

STAGED_GIT_SECONDS: Final = 10.0
PRE_COMMIT: Final = "pre-commit"
_STAGED: Final = ("--cached",)
# By the name of git's hook: what to compare. `@1` is the hook's own first argument.
_COMPARED: Final[Mapping[str, tuple[str, ...]]] = {
    PRE_COMMIT: _STAGED,
    "pre-merge-commit": _STAGED,
    "prepare-commit-msg": _STAGED,
    "pre-rebase": ("HEAD...@1",),
    "post-merge": ("ORIG_HEAD", "HEAD"),
}
# Hooks whose answer git does not ask for: what they see has happened.
TOO_LATE: Final = frozenset({"post-merge"})


def list_files_to_change(root: Path, hook: str, arguments: Sequence[str] = ()) -> tuple[str, ...]:
    """Relative to `root`, with both sides of a rename: each is a file that changes.

    Git's own variables are left as they are: in a hook they say which index is committed.
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
        raise StoreFailed("git_failed", f"git does not say what is changed: {error}") from None
    names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return tuple(name for name in names if name)


# What git itself refuses: `git reset --merge` does nothing if a staged file was changed again
# since, or if another one is in the place of a file whose removal is staged.


def is_refused_by_git(act: DestructiveAct, folder: str, root: Path) -> bool:
    """Would git refuse this act as a whole? False if that cannot be told."""
    if not act.is_all_or_nothing:
        return False
    if any(not word.is_known or word.text.startswith(":") for word in act.staged_before):
        return False
    # What the same command stages before is then staged as it is.
    others = (":(top)", *(f":(exclude){word.text}" for word in act.staged_before))
    letters = changed_files(folder, others, git_options=act.git_options)
    return any(
        (state[0] in "MAT" and state[1] in "MT")
        or (state[0] == "D" and os.path.lexists(root / path))
        for path, state in letters.items()
    )


def moves_head(act: DestructiveAct, folder: str) -> bool:
    """Would HEAD be at another branch or commit afterwards?

    `act.may_be_branches`: the branch stays and only its commit moves, as with `git reset`. Back to
    one of its own earlier commits, or forward to one that follows, leaves others on their branch.
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
    if commit or act.name == "git symbolic-ref":  # which does not ask whether it is there
        return True
    return bool(ask("for-each-ref", "--count=1", "--format=1", f"refs/remotes/*/{name}"))
