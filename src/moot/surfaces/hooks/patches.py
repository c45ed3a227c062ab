"""The files that a patch names: added, updated, deleted, and both sides of a move.

A patch may also be sent through the shell, as a heredoc for `apply_patch`; its lines are the
same. A shell command that changes directory first is followed as far as it says so plainly.
"""

from __future__ import annotations

import os
import re
from typing import Final

BEGIN: Final = "*** Begin Patch"
_HEADER: Final = re.compile(
    r"^[ \t]*\*\*\* (?:(?:Add|Update|Delete) File|Move to): ?(.*?)[ \t\r]*$", re.MULTILINE
)
# `cd DIR &&` or `cd DIR;` before the patch; a quoted DIR may hold spaces.
_CD: Final = re.compile(
    r"""(?:^|[;&|(\n])\s*cd\s+(?:--\s+)?(?:'([^'\n]+)'|"([^"$`\n]+)"|([^\s;&|()'"$`<>]+))"""
)


def named(patch: str) -> tuple[str, ...]:
    """Every file the patch names, in order, without repeats."""
    return tuple(dict.fromkeys(filter(None, _HEADER.findall(patch))))


def in_shell(command: str, cwd: str) -> tuple[str, ...]:
    """The files named by patches inside a shell command, relative to where it runs them."""
    before, begin, patch = command.partition(BEGIN)
    if not begin:
        return ()
    folder = cwd
    for found in _CD.finditer(before):
        folder = os.path.join(folder, os.path.expanduser(next(filter(None, found.groups()))))
    return tuple(os.path.join(folder, path) for path in named(patch))
