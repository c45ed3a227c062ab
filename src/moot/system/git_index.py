"""Which files git tracks, and which it ignores.

What is tracked stands in git's index, which is searched as it is: starting git costs a hook more
than all the rest of its answer. Only what is not found there is asked of git.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

SECONDS: Final = 5.0
_LENGTH: Final = 0x0FFF  # of the two bytes before a name in the index, those that tell its length


def find_ignored(root: Path, paths: Iterable[str]) -> frozenset[str]:
    """Those of `paths` (relative to `root`) that git ignores; tracked files never are.

    If git gives no answer, none are: a copy too many is better than one that is missing.
    """
    index = _read_index(root)
    unknown = [path for path in paths if not _is_listed(index, path)]
    return _ask_git(root, unknown) if unknown else frozenset()


def _is_listed(index: bytes, path: str) -> bool:
    """Is this name in the index? No, too, where git wrote it in a shorter form."""
    name = os.fsencode(path)
    at = index.find(name + b"\0")
    while at > 1:
        before = int.from_bytes(index[at - 2 : at], "big")
        if before & _LENGTH == min(len(name), _LENGTH):
            return True
        at = index.find(name + b"\0", at + 1)
    return False


def _read_index(root: Path) -> bytes:
    """The index of the worktree; empty if there is none to be read."""
    marker = root / ".git"
    try:
        if marker.is_file():
            pointer = marker.read_text("utf-8", "surrogateescape").strip()
            marker = root / pointer.removeprefix("gitdir: ")
        return (marker / "index").read_bytes()
    except OSError:
        return b""


def _ask_git(root: Path, paths: Sequence[str]) -> frozenset[str]:
    import subprocess  # most files are tracked, and a hook has no time for more

    from moot.system.git import git_environment

    try:
        done = subprocess.run(
            ["git", "check-ignore", "-z", "--stdin"],
            cwd=root,
            env=git_environment(),
            input=b"".join(os.fsencode(path) + b"\0" for path in paths),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    return frozenset(os.fsdecode(name) for name in done.stdout.split(b"\0") if name)
