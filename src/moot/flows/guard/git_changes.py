"""Which files git calls changed, with its two letters for each: the look before a git command.

Only what a command needs is asked for: files that git does not track are looked for one by one, in
folders, or not at all, and ignored ones by the folders that are ignored.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

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
    answer = ask_what_changed(folder, (*git_options, *words, "--", *pathspecs))
    entries = () if answer is None else answer.split("\0")
    return {entry[3:]: entry[:2] for entry in entries if len(entry) > 3}


def changed_or_nothing(root: Path, path: str = "") -> list[str]:
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
    answer = ask_what_changed(folder, words)
    entries = () if answer is None else answer.split("\0")
    return {
        entry[2:]: " M" for entry in entries if entry and (entry[0].islower() or entry[0] == "S")
    }


def ask_what_changed(folder: str, words: tuple[str, ...]) -> str | None:
    """Git's answer to these words; None if it fails. StoreFailed if there is none in time."""
    import subprocess

    from moot.system.git import git_environment

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
