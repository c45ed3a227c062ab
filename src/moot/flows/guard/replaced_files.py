"""Which files a forced change to another commit would replace besides uncommitted changes: those
that differ between the two commits, and untracked ones that are in the way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final, NamedTuple

from moot.core.errors import StoreFailed
from moot.flows.guard.git_changes import GIT_SECONDS

_DIFF: Final = ("diff-tree", "-r", "-z", "--name-status", "--no-renames", "--no-ext-diff")
_ADDED: Final = "A"


class ReplacedFiles(NamedTuple):
    """`committed` would become another version, `new` are files that the other commit has and this
    one has not; all from the root of the worktree."""

    committed: tuple[str, ...] = ()
    new: tuple[str, ...] = ()


def find_replaced(
    folder: str, target: str, git_options: tuple[str, ...] = ()
) -> ReplacedFiles | None:
    """What differs between the commit that is checked out in `folder` and `target`; None if there
    is no such commit. StoreFailed if git gives no answer in time: then nobody knows."""
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
        return None
    if done.returncode != 0:
        return None
    rows = list(_read_rows(os.fsdecode(done.stdout)))
    return ReplacedFiles(
        tuple(path for letter, path in rows if letter != _ADDED),
        tuple(path for letter, path in rows if letter == _ADDED),
    )


def _read_rows(text: str) -> Iterator[tuple[str, str]]:
    """Git's letter and the path by turns, each ended by a NUL."""
    fields = text.split("\0")
    yield from zip(fields[::2], fields[1::2], strict=False)
