"""What the system tells of folders that are watched, and its limits, as they really are."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest

from moot.system.folder_watch import watch_folders

LOOK = """
import sys, threading
from pathlib import Path
import watchfiles
from moot.system.folder_watch import TooManyWatches, watch_folders
{limit}
try:
    print(next(watch_folders([Path(name) for name in sys.argv[1:]], threading.Event(), 100)))
except TooManyWatches as limit:
    print("limit:", limit)
"""
# No file can be opened any more, so none for the watcher either.
NO_FILES = """
import os, resource
last = os.open(os.devnull, os.O_RDONLY)
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (last + 1, most))
"""
# A user namespace has limits of its own.
FEW_WATCHES = ["unshare", "--user", "--map-root-user", "sh", "-c"]
SET_LIMIT = "echo 5 > /proc/sys/user/max_inotify_watches"


def can_limit_watches() -> bool:
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run([*FEW_WATCHES, SET_LIMIT], capture_output=True, check=False, timeout=20)
    return tried.returncode == 0


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    made = [tmp_path / f"d{number}" for number in range(20)]
    for folder in made:
        folder.mkdir()
    return made


def test_every_folder_is_watched_by_itself(folders: list[Path]) -> None:
    over = Event()
    inner = folders[0] / "inner"
    inner.mkdir()
    changes = watch_folders([*folders, folders[0] / "gone"], over, 50)
    assert next(changes) == frozenset()
    (inner / "deep.txt").write_text("not told\n", encoding="utf-8")
    (folders[7] / "a.txt").write_text("told\n", encoding="utf-8")
    told: frozenset[str] = frozenset()
    while str(folders[7] / "a.txt") not in told:
        told = next(changes)
        assert str(inner / "deep.txt") not in told
    over.set()
    assert list(changes) == []


def test_a_limit_of_open_files_is_said(folders: list[Path]) -> None:
    said = _run([sys.executable, "-P", "-c", LOOK.format(limit=NO_FILES), *map(str, folders)])
    assert said.startswith("limit: ")
    assert "Too many open files" in said


@pytest.mark.skipif(not can_limit_watches(), reason="the limit can be set in a user namespace only")
def test_a_limit_of_watches_is_said(folders: list[Path]) -> None:
    look = [sys.executable, "-P", "-c", LOOK.format(limit=""), *map(str, folders)]
    said = _run([*FEW_WATCHES, f'{SET_LIMIT} && exec "$@"', "sh", *look])
    assert said.startswith("limit: OS file watch limit reached")


def _run(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done
    return done.stdout
