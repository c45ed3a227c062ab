"""List the worktrees of a repository, and describe one for the module of a coding tool.

Worktrees are read from git's files; git is asked only whether a file is tracked.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from moot.api.guard.guarded_paths import GuardedPaths
from moot.coding_tools.settings import Place
from moot.core.errors import MootError
from moot.system.git_status import git_environment
from moot.workspace.find import git_common_dir, worktree_root
from moot.workspace.trust import read_trust_file

SECONDS: Final = 10.0


def place_of(guarded: GuardedPaths, env: Mapping[str, str]) -> Place:
    """Describe the guarded worktree for the module of a coding tool."""
    return Place(
        guarded.worktree_root,
        guarded.workspace,
        env,
        partial(main_checkout, guarded.worktree_root),
        partial(_read_ledger, guarded.workspace),
        partial(_find_keys, env),
    )


def _read_ledger(workspace: Path) -> str:
    try:
        origin = read_trust_file(workspace / "trust.json").origin
    except (OSError, MootError):
        return ""
    return origin.rpartition("/")[2]


def _find_keys(env: Mapping[str, str]) -> Path:
    from moot.workspace.workspace import key_folder  # a hook has no use for all of it

    return key_folder(env).path


def find_roots(folder: Path) -> tuple[Path, Path]:
    """Return the worktree around a folder, or the folder itself, and the main checkout of it."""
    root = worktree_root(folder) or folder
    return root, main_checkout(root)


def main_checkout(root: Path) -> Path:
    """Return the worktree that contains `.git`; `root` itself if there is none."""
    common = git_common_dir(root)
    return common.parent if common is not None and common.name == ".git" else root


def all_worktrees(root: Path) -> tuple[Path, ...]:
    """Return the existing worktrees, the main one first; only `root` outside of git."""
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
