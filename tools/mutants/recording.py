"""Which test runs which line, how long it takes and whether it starts a program: seen once.

`python -m tools.mutants.recording ROOT FILE FOLDER ...` runs the tests of the folders without any
mutant and writes what it saw.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from tools.mutants.nearest import LEFT_OUT

_LIMIT_SECONDS: Final = 1800
# Whatever survives has met all tests of its line; most mutants are noticed by a quick one.
_SLOW_SECONDS: Final = 0.1
# A word of a command that runs our code: the command itself, a module, a script, an import.
_OURS: Final = re.compile(r"(^|/)moot$|^(moot|tests)\.|\.py$|(import|from) (moot|tests)\b")


class Recording:
    def __init__(self, file: Path, seen: dict[str, Any]) -> None:
        self.file = file
        self.seconds: dict[str, float] = seen["seconds"]
        self.starting_programs = set(seen["starting_programs"])
        self.slow = {test for test, took in self.seconds.items() if took > _SLOW_SECONDS}
        self.failures: list[str] = seen["failures"]
        self._names = list(self.seconds)
        self._lines: dict[str, dict[str, list[int]]] = seen["lines"]
        self._imported: dict[str, list[int]] = seen["imported"]

    @classmethod
    def read(cls, file: Path) -> Recording:
        return cls(file, json.loads(file.read_text()))

    @classmethod
    def take(cls, root: Path, folders: list[Path], kept: Path) -> Recording:
        """The one that is there, if neither the source nor these tests have changed since."""
        digest = hashlib.sha256()
        for folder in (root / "src", *folders):
            for module in sorted(folder.rglob("*.py")) or [folder]:
                digest.update(module.read_bytes())
        file = kept / f"{name_tests(folders)}-{digest.hexdigest()[:12]}.json"
        if not file.exists():
            kept.mkdir(parents=True, exist_ok=True)
            path = os.pathsep.join([str(root / "src"), str(Path(__file__).resolve().parents[2])])
            subprocess.run(
                [sys.executable, "-m", "tools.mutants.recording", root, file, *folders],
                cwd=root,
                env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=True,
                timeout=_LIMIT_SECONDS,
            )
        return cls.read(file)

    def order(self, file: str, lines: range, line: int | None) -> list[str]:
        """The tests that run this line (or any of them), those first that go where few go."""
        hits = self._lines.get(file, {})
        rarity: dict[int, int] = {}
        for number in lines:
            tests = hits.get(str(number), ())
            for test in tests:
                rarity[test] = min(len(tests), rarity.get(test, len(tests)))
        exact = hits.get(str(line), ()) if line is not None else ()
        chosen = [self._names[test] for test in sorted(exact or rarity)]
        few = {self._names[test]: count for test, count in rarity.items()}
        return sorted(chosen, key=lambda test: self._rank(test, few.get(test, len(few))))

    def _rank(self, test: str, others: int) -> float:
        return (others + 5) * (self.seconds[test] + 0.005)

    def order_all(self, files: Iterable[list[Path]], root: Path) -> list[str]:
        """Heap by heap, the quick tests of each first, and those that start programs at the end."""
        place = {str(file): number for number, heap in enumerate(files) for file in heap}

        def rank(test: str) -> tuple[bool, bool, int, float]:
            seconds = self.seconds[test]
            heap = place.get(str(root / test.split("::")[0]), len(place))
            return test in self.starting_programs, seconds > 0.3, heap, seconds

        return sorted((one for one in self.seconds if not one.startswith(LEFT_OUT)), key=rank)

    def runs_while_importing(self, file: str, lines: range) -> bool:
        return any(line in lines for line in self._imported.get(file, ()))


def name_tests(folders: list[Path]) -> str:
    """In short, for the name of a file."""
    return "tests-" + ("-".join(folder.stem for folder in folders) or "none")[:60]


class Recorder:
    """A plugin: the context of coverage is the test that runs."""

    def __init__(self, source: Path) -> None:
        import coverage

        self.coverage = coverage.Coverage(
            data_file=None, config_file=False, include=[f"{source}/*"], messages=False
        )
        self.running = ""
        self.seconds: dict[str, float] = {}
        self.starting_programs: set[str] = set()
        self.failures: list[str] = []
        sys.addaudithook(self._hear)
        self.coverage.start()

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen" and self.running:
            words = [str(word) for word in arguments[1] or ()]
            if any(_OURS.search(word) for word in words):
                self.starting_programs.add(self.running)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failures.append(report.nodeid)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.running = nodeid
        self.coverage.switch_context(nodeid)
        self.seconds[nodeid] = time.process_time()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[nodeid] = round(time.process_time() - self.seconds[nodeid], 4)
        self.running = ""
        self.coverage.switch_context("")

    def get_seen(self) -> dict[str, Any]:
        self.coverage.stop()
        data = self.coverage.get_data()
        numbers = {name: number for number, name in enumerate(self.seconds)}
        lines: dict[str, dict[str, list[int]]] = {}
        imported: dict[str, list[int]] = {}
        for file in data.measured_files():
            for line, contexts in data.contexts_by_lineno(file).items():
                tests = [numbers[one] for one in contexts if one in numbers]
                lines.setdefault(file, {})[str(line)] = tests
                if "" in contexts:
                    imported.setdefault(file, []).append(line)
        return {
            "seconds": self.seconds,
            "starting_programs": sorted(self.starting_programs),
            "failures": self.failures,
            "lines": lines,
            "imported": imported,
        }


def main() -> None:
    root, file, *folders = sys.argv[1:]
    os.chdir(root)
    recorder = Recorder(Path(root) / "src" / "moot")
    import pytest
    from tools.mutants.watch import OPTIONS

    status = pytest.main([*OPTIONS, *folders], [recorder])
    if status not in (0, 5) and not recorder.failures:
        recorder.failures.append(f"pytest ended with {status}")
    part = Path(f"{file}.{os.getpid()}")  # another run may look for it meanwhile
    part.write_text(json.dumps(recorder.get_seen()))
    part.replace(file)


if __name__ == "__main__":
    main()
