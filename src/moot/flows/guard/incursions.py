"""What a call changed although someone else holds it.

An edit was checked beforehand, so this looks at shell commands: of all files that others hold,
those that git calls changed and that are newer than the command's beginning. In the holder's own
worktree that may as well be the holder at work: there a file counts only if the command could
mean it, because it names it or a folder around it, or names no path at all (`make fmt`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.protocols.presence.model import Reservation
from moot.protocols.presence.paths import is_inside
from moot.protocols.presence.resources import is_resource, key_of_file

if TYPE_CHECKING:
    from moot.flows.guard.worktree_before import WorktreeBefore

GIT_SECONDS: Final = 3.0
MOST_SCOPES: Final = 100
MOST_PATHS: Final = 200
_WORD: Final = re.compile(r"[^\s'\"`;&|<>()=,:]+")
_GLOB: Final = re.compile(r"[*?\[{]")
# What a part of a command runs: a program, or the script that an interpreter is given. With `-c`,
# `-e` or `-m` there is none, and the words that follow may name files.
_RUN: Final = re.compile(
    r"(?P<before>(?:^|[;&|\n]|(?<!\w)\()[ \t]*+)(?:\w++=[^\s;&|(]*+[ \t]++)*+"
    r"(?:(?:\w*sh|python[\d.]*+|node|ruby|perl|php|source|\.)"
    r"(?:[ \t]++-(?!\w*[cem])[^\s;&|(]++)*+[ \t]++(?!-))?[^\s;&|<>()=]++(?=[\s;&|)]|$)"
)


class ShellCommand(msgspec.Struct, frozen=True):
    """A shell command: its text, where it ran, when it began (by the disk's clock), and how its
    worktree was then, if that is known."""

    text: str
    folder: str
    began_ns: int | None
    worktree_before: WorktreeBefore | None = None


def changed_by_command(
    command: ShellCommand, root: Path, others: Iterable[Reservation], changed: Iterable[str]
) -> tuple[str, ...]:
    """Paths relative to `root`, held by `others`, that the command seems to have changed.

    `changed` is what git calls changed.
    """
    held = _held_files(others)
    if not held:
        return ()
    named = named_paths(command, root)
    return tuple(
        path
        for path in changed
        if may_be_meant(path, named, root, reservations_around(path, held))
        and is_newer(root / path, command.began_ns)
    )[:MOST_PATHS]


def held_by_others(paths: Iterable[str], others: Iterable[Reservation]) -> tuple[str, ...]:
    """Those of `paths` that one of the reservations covers."""
    held = _held_files(others)
    return tuple(path for path in paths if reservations_around(path, held))


def _held_files(reservations: Iterable[Reservation]) -> dict[str, Reservation]:
    """By key, without named resources: no file is one."""
    return {held.key: held for held in reservations if not is_resource(held.key)}


def reservations_around(path: str, held: Mapping[str, Reservation]) -> list[Reservation]:
    """The reservations of the path itself and of the folders it is in: one look for each."""
    key = key_of_file(path)
    folders = ("", *(key[:at] for at, letter in enumerate(key) if letter == "/"), key)
    return [held[folder] for folder in folders if folder in held]


def may_be_meant(
    path: str, named: tuple[str, ...] | None, root: Path, holders: list[Reservation]
) -> bool:
    """False if nobody holds it, or if it may as well be the holder at work in this worktree."""
    if any(held.worktree != str(root) for held in holders):
        return True
    key = key_of_file(path)
    is_named = named is None or any(path == each or is_inside(key, each) for each in named)
    return bool(holders) and is_named


def changed_files(root: Path, keys: list[str]) -> list[str]:
    """What git calls changed below `keys`, both sides of a rename; nothing without git."""
    import subprocess  # an edit that has ended asks nothing of git

    names = [key.removeprefix("./") for key in keys[:MOST_SCOPES]]
    scopes = [f":(top,literal){name}" if name else ":(top)" for name in names]
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


def is_newer(path: Path, began_ns: int | None) -> bool:
    """Of a file that is gone, the folder it was in tells. Without a beginning, all may be."""
    if began_ns is None:
        return True
    for existing in (path, *path.parents):
        try:
            return existing.lstat().st_mtime_ns >= began_ns
        except OSError:
            continue
    return False


def named_paths(command: ShellCommand, root: Path) -> tuple[str, ...] | None:
    """The paths a command names, relative to `root` ("" is all of it); None if it names none.

    The script that it runs does not count: that may change any file.
    """
    paths = []
    for word in _WORD.findall(_RUN.sub(r"\g<before>", command.text)):
        plain = _GLOB.split(word, maxsplit=1)[0]
        if plain != word:
            plain = os.path.dirname(plain) or "."
        full = os.path.normpath(os.path.join(command.folder, plain))
        known = os.path.lexists(full) or "/" in word or "." in plain.strip(".")
        if known and not word.startswith("-"):
            paths.append(os.path.relpath(full, root))
    below = (path for path in paths if not path.startswith(".."))
    return tuple("" if path == "." else path for path in below) if paths else None
