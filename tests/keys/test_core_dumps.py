"""A crash while a person's key is unlocked leaves no image of the key: measured, where it can be.

With a plain `core` as the system's pattern a crashed process leaves its memory as a file in its
folder; elsewhere only the mark itself is looked at.
"""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

linux = pytest.mark.skipif(sys.platform != "linux", reason="the mark is Linux's own")
SEED = bytes(range(7, 39))
CRASH = f"""
import ctypes, os, signal
from moot.keys.passphrase_lock import QUICK_COST, lock_seed, unlock_seed
locked = lock_seed(bytes({list(SEED)}), "correct horse battery", QUICK_COST)
if {{unlocks}}:
    held = unlock_seed(locked, "correct horse battery")
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), flush=True)
os.kill(os.getpid(), signal.SIGABRT)
"""


def crash(folder: Path, *, unlocks: bool) -> tuple[str, list[Path]]:
    """Whether the crashed process could be dumped, and what files its crash has left."""

    def allow_dumps() -> None:
        most = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (most, most))

    done = subprocess.run(
        [sys.executable, "-c", CRASH.format(unlocks=unlocks)],
        cwd=folder,
        preexec_fn=allow_dumps,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == -signal.SIGABRT, done.stderr
    return done.stdout.strip(), list(folder.iterdir())


@linux
def test_a_process_that_unlocks_a_key_leaves_no_dump(tmp_path: Path) -> None:
    mark, left = crash(tmp_path, unlocks=True)
    assert (mark, left) == ("0", [])


@linux
def test_another_process_can_still_be_dumped(tmp_path: Path) -> None:
    """Only so does the test above say anything; the dump holds the seed, where one is written."""
    mark, left = crash(tmp_path, unlocks=False)
    assert mark == "1"
    for file in left:
        assert SEED in file.read_bytes()
