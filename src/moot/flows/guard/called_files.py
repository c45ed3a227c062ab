"""Is there a file of a certain name below a path? As `find -name` would ask."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from typing import Final

_MOST_LOOKED_AT: Final = 20_000


def holds_file_called(root: Path, below: str, patterns: tuple[str, ...]) -> bool:
    """True if `below` (relative to the root), a folder it is in, or something inside matches.

    True as well if there is too much to look at.
    """
    top = os.path.normpath(root / below)
    names = list(islice(_paths(str(root), top), _MOST_LOOKED_AT + 1))
    is_too_much = len(names) > _MOST_LOOKED_AT
    return is_too_much or any(_matches(name, patterns) for name in names)


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    """By its own name or that of a folder it is in; a pattern with a slash by the whole path."""
    return any(
        fnmatch(f"./{path}", f"*{pattern.removeprefix('.')}")
        if "/" in pattern
        else any(fnmatch(part, pattern) for part in path.split("/"))
        for pattern in patterns
    )


def _paths(root: str, top: str) -> Iterator[str]:
    yield os.path.relpath(top, root)
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name != ".git"]
        yield from (os.path.relpath(os.path.join(folder, name), root) for name in files)
