"""What differs between the commit of a worktree and another one that it would be forced to: files
that are as committed are replaced by that, and untracked ones in its way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.flows.guard.git_changes import ask_what_changed

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
    answer = ask_what_changed(folder, (*git_options, *_DIFF, "HEAD", target, "--"))
    fields = [] if answer is None else answer.split("\0")  # letter and path by turns
    return dict(zip(fields[1::2], fields[::2], strict=False))
