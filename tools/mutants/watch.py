"""How tests are run for a mutant: in a child of this process, which ends at the first failure."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Any, Final, NoReturn, TextIO

import pytest
from hypothesis import Phase, settings

KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"
OPTIONS: Final = (
    *(
        "--rootdir=.",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        "-p",
        "no:xdist",
        "--tb=no",
    ),
    *("--hypothesis-seed=0", "--no-header", "-W", "ignore::ResourceWarning"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # hypothesis is imported beforehand
)
MEMORY: Final = 8 * 1024**3
# What a test may compute if it takes no time without a mutant, and for each second it takes then;
# the same on the clock, which also runs while the machine does something else.
LEAST_SECONDS, TIMES_AS_LONG = 4.0, 8
CLOCK_TIMES_AS_LONG: Final = 40
IMPORT_SECONDS: Final = 60.0


class Watch:
    """Ends the process when a test fails, or takes far longer than it did without a mutant."""

    def __init__(self, seconds: dict[str, float], limit_seconds: float) -> None:
        self.seconds = seconds
        self.limit_seconds = limit_seconds

    def pytest_configure(self) -> None:
        search_but_do_not_shrink()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        usual = self.seconds.get(item.nodeid, 0.0)
        signal.setitimer(signal.ITIMER_PROF, LEAST_SECONDS + TIMES_AS_LONG * usual)
        clock = self.limit_seconds + CLOCK_TIMES_AS_LONG * usual
        signal.setitimer(signal.ITIMER_REAL, clock)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self,
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.failed:
            os._exit(1)
        return report


def search_but_do_not_shrink() -> None:
    """A failure is enough; nobody reads the smallest one."""
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile(
        "mutant", settings(), phases=phases, database=None, report_multiple_bugs=False
    )
    settings.load_profile("mutant")


def run_in_child(run: Callable[[], int]) -> str:
    """What becomes of it, and of everything it leaves behind."""
    child = os.fork()
    if child == 0:
        _run_and_end(run)
    _, status = os.waitpid(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if os.WIFSIGNALED(status):
        ended_by = os.WTERMSIG(status)
        return TIMED_OUT if ended_by in (signal.SIGPROF, signal.SIGALRM) else KILLED
    return SURVIVED if os.WEXITSTATUS(status) in (0, 5) else KILLED


def _run_and_end(run: Callable[[], int]) -> NoReturn:
    status = 1
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, IMPORT_SECONDS)  # until the first test
        status = run()
    finally:
        os._exit(status)


def open_line() -> tuple[Iterator[dict[str, Any]], Callable[..., None]]:
    """The requests and how to answer them; whatever tests print goes nowhere."""
    requests = os.fdopen(os.dup(0), "r")
    answers: TextIO = os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    sys.stdin = open(0)  # noqa: SIM115 - for as long as the process lives

    def answer(**values: object) -> None:
        answers.write(json.dumps(values) + "\n")
        answers.flush()

    return (json.loads(line) for line in requests), answer
