"""What a call changed although someone else holds it.

An edit was checked beforehand, so this looks at shell commands: of all files that others hold,
those that git calls changed and that are newer than the command's beginning. In the holder's own
worktree that may as well be the holder at work: there a file counts only if the command could
mean it, because it names it or a folder around it, or names no path at all (`make fmt`).
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from moot.protocols.presence.model import Reservation
from moot.protocols.presence.paths import is_inside

GIT_SECONDS: Final = 3.0
MOST_SCOPES: Final = 100
MOST_PATHS: Final = 200
_WORD: Final = re.compile(r"[^\s'\"`;&|<>()=,:]+")
_GLOB: Final = re.compile(r"[*?\[{]")


class Command(NamedTuple):
    """A shell command: its text, where it ran, and when it began (by the disk's clock)."""

    text: str
    folder: str
    began_ns: int | None


def slipped_past(command: Command, root: Path, others: Iterable[Reservation]) -> tuple[str, ...]:
    """Paths relative to `root` that the command seems to have changed under others' hands."""
    theirs = {one.key: one for one in others}
    if not theirs:
        return ()
    meant = _meant(command, root)
    found = []
    for path in changed(root, list(theirs)):
        holders = _around(path, theirs)
        apart = any(one.worktree != str(root) for one in holders)
        named = meant is not None and any(path == one or is_inside(path, one) for one in meant)
        if holders and newer(root / path, command.began_ns) and _could(apart, meant, named):
            found.append(path)
    return tuple(found[:MOST_PATHS])


def held(paths: Iterable[str], others: Iterable[Reservation]) -> tuple[str, ...]:
    """Those of `paths` that one of the reservations covers."""
    theirs = {one.key: one for one in others}
    return tuple(path for path in paths if _around(path, theirs))


def _around(path: str, theirs: Mapping[str, Reservation]) -> list[Reservation]:
    """The reservations of the path itself and of the folders it is in: one look for each."""
    folders = ("", *(path[:at] for at, letter in enumerate(path) if letter == "/"), path)
    return [theirs[one] for one in folders if one in theirs]


def _could(apart: bool, meant: tuple[str, ...] | None, named: bool) -> bool:
    return apart or meant is None or named


def changed(root: Path, keys: list[str]) -> list[str]:
    """What git calls changed below `keys`, both sides of a rename; nothing without git."""
    scopes = [f":(top,literal){key}" if key else ":(top)" for key in keys[:MOST_SCOPES]]
    command = ["git", "--no-optional-locks", "status", "--porcelain=v1", "-z"]
    command += ["--untracked-files=all", "--no-renames", "--"]
    try:
        done = subprocess.run(
            command + (scopes if len(keys) <= MOST_SCOPES else []),
            cwd=root,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    entries = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return [entry[3:] for entry in entries if len(entry) > 3] if done.returncode == 0 else []


def newer(path: Path, began_ns: int | None) -> bool:
    """Of a file that is gone, the folder it was in tells. Without a beginning, all may be."""
    if began_ns is None:
        return True
    for place in (path, *path.parents):
        try:
            return place.lstat().st_mtime_ns >= began_ns
        except OSError:
            continue
    return False


def _meant(command: Command, root: Path) -> tuple[str, ...] | None:
    """The paths a command names, relative to `root` ("" is all of it); None if it names none."""
    found = []
    for word in _WORD.findall(command.text):
        plain = _GLOB.split(word, maxsplit=1)[0]
        if plain != word:
            plain = os.path.dirname(plain) or "."
        full = os.path.normpath(os.path.join(command.folder, plain))
        known = os.path.lexists(full) or "/" in word or "." in plain.strip(".")
        if known and not word.startswith("-"):
            found.append(os.path.relpath(full, root))
    below = (one for one in found if not one.startswith(".."))
    return tuple("" if one == "." else one for one in below) if found else None
