"""Codex in a linked worktree: the folder without which it reads no hooks of the project.

Measured on Codex 0.166.0: the hooks are those of the main checkout's `.codex`, and they are read
only where the worktree has a folder of that name as well, though it be empty. Git does not see it.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from moot.flows.tools.worktrees import all_worktrees

FOLDER: Final = ".codex"


def reads_project_hooks(root: Path) -> bool:
    """Does Codex look for hooks of the project at all when it is started in this worktree?"""
    return (root / FOLDER).is_dir()


def make_codex_folders(root: Path) -> None:
    """In every worktree of the repository, since one file guards them all.

    Where it cannot be made, Codex is not guarded, and `moot run` and `moot hook status` say so.
    """
    for each in all_worktrees(root):
        with suppress(OSError):
            (each / FOLDER).mkdir(exist_ok=True)


def remove_codex_folder(root: Path) -> None:
    """Only if nothing is in it."""
    with suppress(OSError):
        (root / FOLDER).rmdir()
