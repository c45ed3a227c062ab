"""The repository of a yard: git makes it once in each process that runs tests, and each test gets a
copy, whose two worktrees name each other by the paths that they have there."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.hooks.yard import Yard

_NAMING_FOLDERS: Final = ("second/.git", "project/.git/worktrees/second/gitdir")


def copy_repository(place: Path) -> Yard:
    """Two worktrees with a file that is committed; no workspace."""
    source = Path(_made().name).resolve()
    for name in ("project", "second"):
        shutil.copytree(source / name, place / name, symlinks=True)
    for name in _NAMING_FOLDERS:
        text = (place / name).read_text("utf-8")
        (place / name).write_text(text.replace(str(source), str(place)), encoding="utf-8")
    return Yard(place / "project", place / "keys")


@cache
def _made() -> TemporaryDirectory[str]:
    """It is removed when the process ends, and not before: it is held by the cache."""
    folder = TemporaryDirectory(prefix="moot-yard-", ignore_cleanup_errors=True)
    place = Path(folder.name).resolve()
    made = Yard(place / "project", place / "keys")
    made.root.mkdir()
    (made.root / "a.txt").write_text("one\n", encoding="utf-8")
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "a.txt"),
        ("commit", "--quiet", "--message=first"),
        ("worktree", "add", "--quiet", "-b", "feature", str(made.other)),
    ):
        assert made.git(*words).code == 0
    return folder
