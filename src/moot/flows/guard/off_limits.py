"""What no agent writes by itself: the record of this workspace, and git's own files.

Whoever could write them could change what happened, or what runs at the next commit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from moot.core.errors import Refused

_OWNERS: Final = {".git": "git", ".moot": "moot"}


def require_allowed(scopes: Iterable[str], root: Path, workspace: Path) -> None:
    """Refused if one of the files belongs to a program that writes it alone."""
    for scope in scopes:
        owner = _owner(scope, root, workspace)
        if owner is not None:
            raise Refused(
                "not_for_agents",
                f"{scope} is never written by an agent, only by `{owner}` itself",
                hint=f"use the commands of `{owner}`",
            )


def _owner(scope: str, root: Path, workspace: Path) -> str | None:
    full = os.path.normpath(root / scope)
    if full == str(workspace) or full.startswith(f"{workspace}{os.sep}"):
        return _OWNERS[".moot"]
    parts = (part.lower() for part in Path(os.path.normpath(scope)).parts)
    return next((_OWNERS[part] for part in parts if part in _OWNERS), None)
