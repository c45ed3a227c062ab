"""One mutant against its tests, the quickest way that still tells the truth.

Most mutants are put into a process that has imported and collected everything (`collected.py`): it
costs a fork. What takes effect only while a module is imported, and what only a program of its own
could show, is run again from a copy of `src` in a folder of its own (`fresh.py`), put before
everything else on the path of the tests and of the programs that they start. Whatever interrupts a
trial, the working tree is as it was.
"""

from __future__ import annotations

import json
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
from typing import Any, Final

from tools.mutants.nearest import find_test_files, find_test_folders
from tools.mutants.recording import Recording, name_tests
from tools.mutants.sites import Mutant, write_mutant
from tools.mutants.watch import KILLED, SURVIVED, TIMED_OUT

BESIDE: Final = ("docs", "tests", "tools", "README.md", "pyproject.toml")
__all__ = ["KILLED", "SURVIVED", "TIMED_OUT", "Bench", "set_up"]


class Helper:
    """A program that answers each line of JSON with another one."""

    def __init__(self, root: Path, source: Path, module: str, *arguments: str) -> None:
        # `tools` is found beside this file, and `moot` in the tree or the copy that is meant.
        path = os.pathsep.join([str(source), str(Path(__file__).resolve().parents[2])])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"}
        self.program = subprocess.Popen(
            [sys.executable, "-m", f"tools.mutants.{module}", str(root), *arguments],
            cwd=root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )

    def ask(self, **request: object) -> dict[str, Any]:
        assert self.program.stdin is not None
        assert self.program.stdout is not None
        with suppress(BrokenPipeError):  # who has ended cannot be asked: no answer comes below
            self.program.stdin.write(json.dumps(request) + "\n")
            self.program.stdin.flush()
        answer: dict[str, Any] = json.loads(self.program.stdout.readline() or "{}")
        return answer

    def end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.program.pid, signal.SIGKILL)
        self.program.communicate(timeout=60)


class Bench:
    """A copy of `src` that may be spoiled, and the tests of the tree it was made from."""

    def __init__(
        self,
        root: Path,
        copy: Path,
        limit_seconds: float,
        *,
        with_slow: bool,
        tests: tuple[Path, ...],
    ) -> None:
        self.root = root
        self.copy = copy
        self.limit_seconds = limit_seconds
        self.kept = root / "build" / "mutants"
        self.with_slow = with_slow
        self.tests = list(tests)
        self._stamp = time.time()
        self._folders: list[Path] = []
        self._helpers: dict[str, Helper] = {}
        self._recording: Recording | None = None

    def try_mutant(self, mutant: Mutant) -> str:
        """How it ended: killed by a test, by the time limit, or not at all."""
        recording = self._prepare(mutant.path)
        answer: dict[str, Any] = {}
        if mutant.kind != "transition":  # a row that is gone is gone from the tables of tests, too
            answer = self._helpers["collected"].ask(
                path=str(mutant.path), number=mutant.number, with_slow=self.with_slow
            )
            if not answer:
                self._helpers.pop("collected").end()
                self._folders = []
            ended = answer.get("ended")
            # Whether it shows while a module is imported is asked of those that survive, later.
            if ended in (KILLED, TIMED_OUT) or (ended and not self.with_slow):
                return str(ended)
        tests = recording.order_all(find_test_files(mutant.path, self.root), self.root)
        programs = recording.starting_programs
        if not self.with_slow:
            tests = [test for test in tests if test not in programs | recording.slow]
        if answer.get("is_certain"):
            tests = [test for test in tests if test in recording.starting_programs]
        return self._run_mutant_in_new_process(mutant, tests) if tests else SURVIVED

    def close(self) -> None:
        for helper in self._helpers.values():
            helper.end()

    def _prepare(self, path: Path) -> Recording:
        folders = self.tests or find_test_folders(path, self.root)
        if folders == self._folders and self._recording is not None:
            return self._recording
        recording = Recording.take(self.root, folders, self.kept)
        self._require(not recording.failures, *recording.failures)
        if "collected" in self._helpers:
            self._helpers.pop("collected").end()
        names = [str(folder) for folder in folders]
        self._start("collected", self.root / "src", str(recording.file), *names)
        self._folders, self._recording = folders, recording
        # Recording has just seen them green; that they also are in a fork and in a copy, once.
        seen_green = self.kept / f"{name_tests(folders)}.green"
        if not seen_green.exists():
            self._require(self._helpers["collected"].ask().get("ended") == SURVIVED, *names)
            self._require(self._run_in_new_process(list(recording.seconds)) == SURVIVED, *names)
            seen_green.touch()
        return recording

    def _require(self, is_green: bool, *tests: str) -> None:
        if not is_green:
            failed = "\n".join(tests)
            sys.exit(f"tests fail without any mutant, so nothing can be said:\n{failed}")

    def _start(self, module: str, source: Path, *arguments: str) -> None:
        limit = str(self.limit_seconds)
        self._helpers[module] = Helper(self.root, source, module, limit, *arguments)

    def _run_mutant_in_new_process(self, mutant: Mutant, tests: list[str]) -> str:
        place = self.copy / mutant.path.relative_to(self.root / "src")
        sound = place.read_bytes()
        try:
            self._write(place, write_mutant(mutant).encode())
            return self._run_in_new_process(tests)
        finally:
            self._write(place, sound)

    def _run_in_new_process(self, tests: list[str]) -> str:
        assert self._recording is not None
        if "fresh" not in self._helpers:
            self._start("fresh", self.copy)
        seconds = {test: self._recording.seconds[test] for test in tests}
        return str(self._helpers["fresh"].ask(seconds=seconds).get("ended", KILLED))

    def _write(self, place: Path, data: bytes) -> None:
        """With a time of its own, so that no bytecode of another version is taken for it."""
        place.write_bytes(data)
        self._stamp += 2
        os.utime(place, (self._stamp, self._stamp))


@contextmanager
def set_up(
    root: Path, limit_seconds: float, *, with_slow: bool = True, tests: tuple[Path, ...] = ()
) -> Iterator[Bench]:
    """`tests`: these files or folders in place of the package's own; `with_slow`: with those that
    start programs or take long."""
    with tempfile.TemporaryDirectory(prefix="moot-mutants-") as folder:
        copy = Path(folder) / "src"
        shutil.copytree(root / "src", copy, ignore=shutil.ignore_patterns("*.egg-info"))
        for other in (root / name for name in BESIDE):  # some tests read the pages beside `src`
            if other.exists():
                (Path(folder) / other.name).symlink_to(other)
        bench = Bench(root, copy, limit_seconds, with_slow=with_slow, tests=tests)
        try:
            yield bench
        finally:
            bench.close()
