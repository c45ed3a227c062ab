"""How a path is spelled on its own disk, where that takes `Src/A.py` and `src/a.py` for one file.

Most disks of Macs and all of Windows do, and so may a folder of Linux. Scopes are compared by name
(OPR-034), so there a file would have as many scopes as spellings: every path is therefore named as
its folder lists it. What is not there yet has no such name and keeps the one it was given.
"""

from __future__ import annotations

import os

from moot.workspace.find import is_same_entry, may_fold_names


def spell_as_listed(path: str) -> str:
    """The absolute path with every name as the folder that holds it lists it."""
    if not may_fold_names(path):
        return path
    start, *parts = os.path.normpath(path).split(os.sep)
    spelled = start or os.sep
    for place, part in enumerate(parts):
        name = _listed_name(spelled, part)
        if name is None:
            return os.path.join(spelled, *parts[place:])
        spelled = os.path.join(spelled, name)
    return spelled


def _listed_name(folder: str, part: str) -> str | None:
    """What the folder calls it; None if it is not there."""
    here = os.path.join(folder, part)
    if not os.path.lexists(here):
        return None
    try:
        names = os.listdir(folder)
    except OSError:  # it may be passed through without being read
        return part
    if part in names:
        return part
    alike = [name for name in names if _fold(name) == _fold(part)]
    return next((name for name in alike if is_same_entry(here, os.path.join(folder, name))), part)


def _fold(name: str) -> str:
    from unicodedata import normalize  # hooks load this module, and hardly ever get here

    return normalize("NFC", normalize("NFC", name).casefold())
