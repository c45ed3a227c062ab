"""The worktrees of one repository, and what git knows of a file in them.

Worktrees are read from git's own files; only whether a file is tracked is asked of git.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from moot.system.git import git_environment
from moot.workspace.find import git_common_dir

SECONDS: Final = 10.0


def main_checkout(root: Path) -> Path:
    """The worktree beside the repository's own folder; `root` itself if there is none."""
    common = git_common_dir(root)
    return common.parent if common is not None and common.name == ".git" else root


def all_worktrees(root: Path) -> tuple[Path, ...]:
    """Those that exist, the main one first; `root` alone outside of git."""
    common = git_common_dir(root)
    if common is None:
        return (root,)
    main = [common.parent] if common.name == ".git" else []
    pointers = sorted((common / "worktrees").glob("*/gitdir"))
    linked = [folder for pointer in pointers if (folder := _folder_of(pointer)) is not None]
    # The caller's own path comes back as it is, also if git writes it without links.
    found = [root if folder.resolve() == root.resolve() else folder for folder in (*main, *linked)]
    return tuple(dict.fromkeys(found)) or (root,)


def is_tracked(file: Path, root: Path) -> bool:
    """True if git has `file` in the index of the worktree `root`; False without git."""
    try:
        done = subprocess.run(
            ["git", "ls-files", "--error-unmatch", "--", str(file)],
            cwd=root,
            env=git_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _folder_of(pointer: Path) -> Path | None:
    try:
        marker = Path(pointer.read_text("utf-8", "surrogateescape").strip())
    except OSError:
        return None
    return marker.parent if marker.exists() else None
