"""Which paths an operation's arguments name, and whether they lie in the agent's project.

A tool may keep its model in a sandbox. What its `moot run` does outside of that sandbox must be no
way out of it, so it reads and writes files in the project alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.core.errors import Unavailable

if TYPE_CHECKING:
    from moot.api.session import Session

# Arguments that are an id, or the name of a file or folder.
MAY_NAME_FILES: Final = frozenset({"debate", "parliament"})


def paths_in(arguments: Mapping[str, Any]) -> Iterator[Path]:
    """Every path among the arguments, also inside of a plan."""
    for name, value in arguments.items():
        if name in MAY_NAME_FILES and isinstance(value, str) and names_file(value):
            yield Path(value)
        else:
            yield from _paths_in(value)


def names_file(text: str) -> bool:
    """Ids hold no separator and are no files."""
    return os.sep in text or Path(text).exists()


def _paths_in(value: object) -> Iterator[Path]:
    if isinstance(value, PurePath):
        yield Path(value)
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _paths_in(each)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _paths_in(getattr(value, name))
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _paths_in(each)


def lies_in_project(session: Session, path: Path) -> bool:
    """Is it, with links followed, in the workspace's project or in the worktree around us?"""
    from moot.workspace.find import find_workspace

    workspace = session.workspace
    roots = [workspace.root]
    with suppress(Unavailable, OSError):  # a folder that belongs to no workspace is no project
        if find_workspace(session.folder).samefile(workspace.path):
            roots.append(session.place.worktree)
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(root)) for root in roots)
