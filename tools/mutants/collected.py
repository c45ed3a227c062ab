"""`python -m tools.mutants.collected ROOT LIMIT RECORDING FOLDER ...`: tests that wait for mutants.

Each mutant is put into a fork of this process, and only the tests that run the changed line are
run, those first that go where few others go.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tools.mutants.live import LiveCode, NotLive, remember_where_rules_are_made
from tools.mutants.recording import Recording
from tools.mutants.sites import Mutant, list_mutants
from tools.mutants.watch import OPTIONS, SURVIVED, Watch, open_line, run_in_child


class Waiting:
    """In place of running the collected tests: answers requests, a mutant each."""

    def __init__(
        self,
        root: Path,
        recording: Recording,
        requests: Iterator[dict[str, Any]],
        answer: Callable[..., None],
    ) -> None:
        self.root = root
        self.recording = recording
        self.requests = requests
        self.answer = answer
        self.items: dict[str, pytest.Item] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        live = LiveCode(self.root / "src" / "moot")
        mutants: dict[str, list[Mutant]] = {}
        for request in self.requests:
            path = request.get("path")
            if path is None:
                self.answer(ended=self._run(list(self.items), lambda: None, with_slow=True))
                continue
            if path not in mutants:
                mutants[path] = list_mutants(Path(path), self.root)
            self._try(live, mutants[path][request["number"]], request["with_slow"])
        return True

    def _try(self, live: LiveCode, mutant: Mutant, with_slow: bool) -> None:
        try:
            change = live.prepare(mutant)
        except NotLive:
            return self.answer(ended=None, is_certain=False)
        tests = self.recording.order(change.file, change.lines, change.line)
        ended = self._run(tests, change.apply, with_slow)
        # A row is asked for its check every time; what a function did while importing is done.
        is_code = change.line is not None
        imported = is_code and self.recording.runs_while_importing(change.file, change.lines)
        return self.answer(ended=ended, is_certain=not imported)

    def _run(self, tests: list[str], change: Callable[[], None], with_slow: bool) -> str:
        """Without those that start programs: they would not see the mutant."""
        known = self.recording
        left_out = known.starting_programs | (set() if with_slow else known.slow)
        chosen = [self.items[test] for test in tests if test in self.items and test not in left_out]

        def run() -> int:
            change()
            for item, following in zip(chosen, [*chosen[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            return 0

        return run_in_child(run) if chosen else SURVIVED


def main() -> None:
    root, limit, recording, *folders = sys.argv[1:]
    os.chdir(root)
    requests, answer = open_line()
    known = Recording.read(Path(recording))
    waiting = Waiting(Path(root), known, requests, answer)
    remember_where_rules_are_made()
    pytest.main([*OPTIONS, *folders], [Watch(known.seconds, float(limit)), waiting])


if __name__ == "__main__":
    main()
