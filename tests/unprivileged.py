"""Someone whom permissions bind, and folders that may not be written: tests run as root, too."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534
# What newer Pythons load only when it is used; Python itself may lie where nobody may look.
LOADED_LATE = ("urllib.parse", "traceback", "linecache", "glob", "fnmatch", "shutil", "tempfile")


def become_nobody() -> None:
    """Drop root for good, so only in a child process; other users have no such rights anyway."""
    for name in LOADED_LATE:
        importlib.import_module(name)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that any user may reach, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="moot-open-"))
    folder.chmod(0o777)
    try:
        yield folder
    finally:
        allow_writing(folder)
        shutil.rmtree(folder)


def everything_in(folder: Path) -> list[Path]:
    return [folder, *folder.rglob("*")]


def forbid_writing(folder: Path) -> None:
    for path in everything_in(folder):
        path.chmod(0o555 if path.is_dir() else 0o444)


def allow_writing(folder: Path) -> None:
    folder.chmod(0o777)
    for path in folder.rglob("*"):
        path.chmod(0o777 if path.is_dir() else 0o666)


def give_to_nobody(folder: Path) -> None:
    """Private files as they are: only their owner changes, if anyone can be given anything."""
    if os.geteuid() == 0:
        for path in everything_in(folder):
            os.chown(path, NOBODY, NOBODY)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file, to the byte."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in everything_in(folder)
        if path.is_file()
    }


def on_a_read_only_disk(folder: Path) -> list[str]:
    """Return the prefix that runs a command with `folder` read-only; root stays root."""
    mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, str(folder)]


def has_read_only_disks(folder: Path) -> bool:
    if shutil.which("unshare") is None:
        return False
    probe = [*on_a_read_only_disk(folder), "touch", str(folder / "probe")]
    done = subprocess.run(probe, capture_output=True, encoding="utf-8", check=False)
    return "ead-only" in done.stderr
