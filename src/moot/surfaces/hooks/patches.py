"""The files that a patch names: added, updated, deleted, and both sides of a move.

A patch may also be sent through the shell, as a heredoc for `apply_patch`; its lines are the
same. A shell command that changes directory first is followed as far as it says so plainly; behind
a `cd` that was not understood nobody can tell which files are meant.
"""

from __future__ import annotations

import os
import re
from typing import Final

BEGIN: Final = "*** Begin Patch"
_HEADER: Final = re.compile(
    r"^[ \t]*\*\*\* (?:(?:Add|Update|Delete) File|Move to): ?(.*?)[ \t\r]*$", re.MULTILINE
)


def named(patch: str) -> tuple[str, ...]:
    """Every file the patch names, in order, without repeats."""
    return tuple(dict.fromkeys(filter(None, _HEADER.findall(patch))))


class UnknownFolder(Exception):
    """Nobody can tell in which folder a shell command hands over its patch."""


def in_shell(command: str, cwd: str) -> tuple[str, ...]:
    """The files named by patches inside a shell command, relative to where it runs them.

    UnknownFolder behind a `cd` that was not understood, or if the patch itself is not found again.
    """
    if BEGIN not in command:
        return ()
    from moot.api.guard.shell_texts import find_given_texts

    patches = find_given_texts(command, cwd, BEGIN)
    files: list[str] = []
    for patch in patches:
        if patch.folder is None:
            raise UnknownFolder
        files += (os.path.join(patch.folder, path) for path in named(patch.text))
    if not patches:
        raise UnknownFolder
    return tuple(files)
