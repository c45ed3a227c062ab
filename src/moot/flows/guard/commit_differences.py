"""What differs between the commit of a worktree and another one that it would be forced to: files
that are as committed are replaced by that, and untracked ones in its way.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from moot.core.errors import StoreFailed
from moot.flows.guard.git_changes import GIT_SECONDS

_DIFF: Final = ("diff-tree", "-r", "-z", "--name-status", "--no-renames", "--no-ext-diff")
# Git's letters: a file that the other commit has and this one has not, and the reverse.
ADDED: Final = "A"
DELETED: Final = "D"


def find_differences(
    folder: str, target: str, git_options: tuple[str, ...] = ()
) -> Mapping[str, str]:
    """Git's letter for each file, from the root of the worktree; nothing if there is no such
    commit. StoreFailed if git gives no answer in time: then nobody knows."""
    import subprocess

    from moot.system.git import git_environment

    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", *git_options, *_DIFF, "HEAD", target, "--"],
            cwd=folder,
            env=git_environment(),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=GIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise StoreFailed(
            "git_failed", f"git does not say in {GIT_SECONDS:g} s what differs in {target}"
        ) from None
    except (OSError, ValueError):
        return {}
    if done.returncode != 0:
        return {}
    fields = os.fsdecode(done.stdout).split("\0")  # letter and path by turns
    return dict(zip(fields[1::2], fields[::2], strict=False))
