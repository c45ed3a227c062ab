"""`python -m tools.mutants.fresh ROOT LIMIT`: run tests in processes without our modules.

What every run needs (pytest, hypothesis, the libraries) is imported once; each run is a fork of
that and imports the mutant with everything else.
"""

from __future__ import annotations

import os
import sys
from functools import partial

import click  # noqa: F401 - imported here once, not in every run
import cryptography.hazmat.primitives.asymmetric.ed25519  # noqa: F401
import hypothesis.stateful  # noqa: F401
import msgspec  # noqa: F401
import pytest
from tools.mutants.watch import OPTIONS, Watch, open_line, run_in_child


class InThisOrder:
    """Only these tests, as they were named."""

    def __init__(self, tests: list[str]) -> None:
        self.places = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.places]
        items.sort(key=lambda item: self.places[item.nodeid])


def run(seconds: dict[str, float], limit: float) -> int:
    files = list(dict.fromkeys(test.split("::")[0] for test in seconds))
    plugins = [Watch(seconds, limit), InThisOrder(list(seconds))]
    return int(pytest.main([*OPTIONS, *files], plugins))


def main() -> None:
    os.chdir(sys.argv[1])
    limit = float(sys.argv[2])
    requests, answer = open_line()
    for request in requests:
        answer(ended=run_in_child(partial(run, request["seconds"], limit)))


if __name__ == "__main__":
    main()
