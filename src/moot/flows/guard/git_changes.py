"""Which files git calls changed, with its two letters for each: the look before a git command.

Only what a command needs is asked for: files that git does not track are looked for one by one, in
folders, or not at all, and ignored ones by the folders that are ignored.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
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
    import subprocess

    from moot.system.git import git_environment

    command = ["git", "--no-optional-locks", *git_options, "status", "--porcelain=v1", "-z"]
    command += ["--no-renames", "--ignore-submodules=none", f"--untracked-files={untracked}"]
    command += ["--ignored=matching"] if also_ignored else []
    try:
        done = subprocess.run(
            [*command, "--", *pathspecs],
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
        return {}
    if done.returncode != 0:
        return {}
    entries = os.fsdecode(done.stdout).split("\0")
    return {entry[3:]: entry[:2] for entry in entries if len(entry) > 3}
