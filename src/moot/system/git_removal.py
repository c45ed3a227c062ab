"""Taking a worktree or a branch away, as git itself does it: never by force.

A branch goes only if it still stands at the commit that was looked at, so that a commit made in
between is not lost. None means done; else a sentence says why not.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from moot.system.git import git_environment

SECONDS: Final = 60.0


def remove_worktree(repository: Path, root: Path) -> str | None:
    """Remove a linked worktree. Git refuses if files in it are changed, untracked or locked."""
    return _act(repository, "worktree", "remove", "--", str(root))


def delete_branch(repository: Path, branch: str, commit: str) -> str | None:
    """Delete a branch that stands at `commit`, with what git's settings say of it."""
    refused = _act(repository, "update-ref", "-d", f"refs/heads/{branch}", commit)
    if refused is None:
        _act(repository, "config", "--local", "--remove-section", f"branch.{branch}")
    return refused


def _act(repository: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *words],
            cwd=repository,
            env=git_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"git could not be asked: {error}"
    if done.returncode == 0:
        return None
    lines = done.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    return lines[0] if lines else f"git ended with {done.returncode}"
