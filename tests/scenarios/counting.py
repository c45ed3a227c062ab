"""How many stories were really told, by each transport: printed when the tests are over.

A test that has told one says so by `record_property("told by", TRANSPORT)`.
"""

from __future__ import annotations

from collections import Counter

import pytest

_told: Counter[str] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and report.passed:
        _told.update(str(value) for name, value in report.user_properties if name == "told by")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _told:
        told = ", ".join(f"{name} {_told[name]}" for name in sorted(_told))
        terminalreporter.write_line(f"stories told: {told}")
