"""What no agent writes by itself: the record of this workspace, git's own files, the settings.

Whoever could write them could change what happened, what runs at the next commit, or how strictly
agents are held back.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from moot.core.errors import Refused
from moot.core.quoted import quote_name

_OWNERS: Final = {".git": "git", ".moot": "moot"}
# What files are called that may carry hooks of ours (`tools/guard_files.py`).
_HOOK_FILES: Final = frozenset(
    {
        *("settings.json", "settings.local.json", "hooks.json", "config.toml"),
        *("opencode.json", "opencode.jsonc", "opencode-plugin.js"),
        *(".moot-opencode.js", "moot-opencode.js"),
        *("pre-commit", "pre-commit.legacy", "pre-merge-commit", "prepare-commit-msg"),
        *("pre-rebase", "post-merge", "commit-msg"),
    }
)
# In the root of a worktree.
_FOR_PEOPLE: Final = frozenset({"moot.toml"})


def may_carry_hooks(path: str) -> bool:
    """True if a file of this name, or the one it leads to, may carry hooks of ours."""
    names = os.path.basename(path), os.path.basename(os.path.realpath(path))
    return any(name.lower() in _HOOK_FILES for name in names)


def require_allowed(scopes: Iterable[str], root: Path, workspace: Path) -> None:
    """Refused if one of the files belongs to people, or to a program that writes it alone."""
    for scope in scopes:
        if os.path.normpath(scope).lower() in _FOR_PEOPLE:
            raise Refused(
                "not_for_agents",
                f"{quote_name(scope)} is never written by an agent:"
                " people say there how strict the guard is",
                hint="ask the person you work for",
            )
        owner = _owner(scope, root, workspace)
        if owner is not None:
            raise Refused(
                "not_for_agents",
                f"{quote_name(scope)} is never written by an agent, only by `{owner}` itself",
                hint=f"use the commands of `{owner}`",
            )


def _owner(scope: str, root: Path, workspace: Path) -> str | None:
    full = os.path.normpath(root / scope)
    if full == str(workspace) or full.startswith(f"{workspace}{os.sep}"):
        return _OWNERS[".moot"]
    parts = (part.lower() for part in Path(os.path.normpath(scope)).parts)
    return next((_OWNERS[part] for part in parts if part in _OWNERS), None)
