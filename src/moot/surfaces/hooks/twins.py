"""Other names under which a file is held: a hard link, a link that was reserved by its own name,
the same letters in another case or form where the disk sees no difference.

Names are compared everywhere else (section 5); only here is the disk asked whether two of them
are one file. What does not exist yet has no other name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from moot.presence.model import State

_Identity = tuple[int, int]
_NOWHERE: Final[_Identity] = (0, 0)


def twins(state: State, scopes: Iterable[str], root: Path) -> tuple[str, ...]:
    """Held scopes that are, under another name, one of `scopes` or a folder around one."""
    asked = tuple(scopes)
    wanted = {_identity(root / place) for scope in asked for place in _with_folders(scope)}
    wanted.discard(_NOWHERE)
    held = (one.key for one in state.live if one.key and one.key not in asked)
    return tuple(key for key in held if wanted and _identity(root / key) in wanted)


def _with_folders(scope: str) -> Iterable[str]:
    """The path and every folder above it that lies below the root."""
    parts = Path(os.path.normpath(scope)).parts
    return (os.path.join(*parts[: n + 1]) for n in range(len(parts)) if parts[0] != os.pardir)


def _identity(path: Path) -> _Identity:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return _NOWHERE
    return found.st_dev, found.st_ino
