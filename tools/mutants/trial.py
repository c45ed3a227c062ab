"""One mutant against its tests.

The mutant stands in a copy of `src` in a folder of its own, put before everything else on the path
of the tests and of the programs that they start: whatever interrupts a trial, the working tree is
as it was.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tools.mutants.nearest import find_test_folders, find_tests
from tools.mutants.sites import Mutant, write_mutant

PYTEST: Final = (
    *("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"),
    *("--hypothesis-seed=0", "--no-header", "-W", "ignore::ResourceWarning"),
)
BESIDE: Final = ("docs", "tests", "tools", "README.md", "pyproject.toml")
KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"


class Bench:
    """A copy of `src` that may be spoiled, and the tests of the tree it was made from."""

    def __init__(self, root: Path, copy: Path, limit_seconds: float) -> None:
        self.root = root
        self.copy = copy
        self.limit_seconds = limit_seconds
        self._stamp = time.time()

    def try_mutant(self, mutant: Mutant) -> str:
        """How it ended: killed by a test, by the time limit, or not at all."""
        place = self.copy / mutant.path.relative_to(self.root / "src")
        sound = place.read_bytes()
        try:
            self._write(place, write_mutant(mutant).encode())
            for heap in find_tests(mutant.path, self.root):
                ended = self._run([str(test) for test in heap])
                if ended != SURVIVED:
                    return ended
        finally:
            self._write(place, sound)
        return SURVIVED

    def require_green(self, paths: list[Path]) -> None:
        """Tests that fail without a mutant would kill every one of them."""
        folders = sorted({str(one) for path in paths for one in find_test_folders(path, self.root)})
        for folder in folders:
            if self._run([folder], limit=900) != SURVIVED:
                sys.exit(f"{folder} fails without any mutant: nothing can be said about its tests")

    def _write(self, place: Path, data: bytes) -> None:
        """With a time of its own, so that no bytecode of another version is taken for it."""
        place.write_bytes(data)
        self._stamp += 2
        os.utime(place, (self._stamp, self._stamp))

    def _run(self, tests: list[str], limit: float | None = None) -> str:
        environment = {**os.environ, "PYTHONPATH": str(self.copy), "PYTHONHASHSEED": "0"}
        environment |= {"MOOT_MUTANT": "1"}
        program = subprocess.Popen(
            [sys.executable, *PYTEST, *tests],
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            status = program.wait(timeout=limit or self.limit_seconds)
        except subprocess.TimeoutExpired:
            return TIMED_OUT
        finally:
            _end_group(program)
        return SURVIVED if status in (0, 5) else KILLED


def _end_group(program: subprocess.Popen[bytes]) -> None:
    """The tests and whatever they have started and left behind."""
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait(timeout=60)


@contextmanager
def set_up(root: Path, limit_seconds: float) -> Iterator[Bench]:
    with tempfile.TemporaryDirectory(prefix="moot-mutants-") as folder:
        copy = Path(folder) / "src"
        shutil.copytree(root / "src", copy, ignore=shutil.ignore_patterns("*.egg-info"))
        for other in (root / name for name in BESIDE):  # some tests read the pages beside `src`
            if other.exists():
                (Path(folder) / other.name).symlink_to(other)
        yield Bench(root, copy, limit_seconds)
