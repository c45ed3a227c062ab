"""What git says about a worktree: which files are not committed (B-02).

Paths come NUL-separated, so no quoting has to be undone; what is not UTF-8 in them is shown as
`\\xff`, so that it can be kept on record. Both sides of a rename count, untracked
files count, ignored ones do not. Without git the answer is None and a reason. Variables that
point git to another repository, index or worktree do not count.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

SECONDS: Final = 20.0
_STATUS: Final = ("git", "--no-optional-locks", "status", "--porcelain=v1", "-z")
_RENAMES: Final = frozenset("RC")
_ELSEWHERE: Final = frozenset(
    f"GIT_{name}"
    for name in ("COMMON_DIR", "DIR", "INDEX_FILE", "NAMESPACE", "OBJECT_DIRECTORY", "WORK_TREE")
)


class DirtyFiles(NamedTuple):
    """`paths` relative to the worktree's root, or None and why it is not known."""

    paths: tuple[str, ...] | None
    why: str = ""


class FileStates(NamedTuple):
    """Git's two letters for each path that is not as committed, or None and why not."""

    letters: Mapping[str, str] | None
    why: str = ""


def find_dirty_files(root: Path) -> DirtyFiles:
    found, why = _status(root)
    return DirtyFiles(None, why) if found is None else DirtyFiles(read_porcelain(found))


def read_file_states(root: Path) -> FileStates:
    """The same with git's letters (`??` untracked, ` M` changed); a rename is two paths."""
    found, why = _status(root, "--no-renames")
    if found is None:
        return FileStates(None, why)
    fields = found.decode("utf-8", "backslashreplace").split("\0")
    return FileStates({field[3:]: field[:2] for field in fields if len(field) > 3})


def git_environment() -> dict[str, str]:
    """Our environment without the variables that point git to another repository."""
    return {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}


def _status(root: Path, *more: str) -> tuple[bytes | None, str]:
    try:
        done = subprocess.run(
            [*_STATUS, "--untracked-files=all", *more],
            cwd=root,
            env=git_environment(),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except OSError:
        return None, "git is not installed"
    except subprocess.TimeoutExpired:
        return None, "git gave no answer in time"
    return (done.stdout, "") if done.returncode == 0 else (None, "not a git repository")


def read_porcelain(data: bytes) -> tuple[str, ...]:
    """The paths of `--porcelain=v1 -z`: `XY path`, and after a rename its old path by itself."""
    fields = iter(data.decode("utf-8", "backslashreplace").split("\0"))
    found: list[str] = []
    for field in fields:
        if len(field) < 4:
            continue
        found.append(field[3:])
        if _RENAMES & set(field[:2]):
            found.append(next(fields, ""))
    return tuple(path for path in found if path)
