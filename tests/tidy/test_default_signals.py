"""`nohup make test &` must end: what the tests start has the usual signals there too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASK = "import signal; print(signal.getsignal(signal.{0}) is signal.SIG_IGN)"
SUITE = """
import os, signal, subprocess, sys
signal.signal(signal.{0}, signal.SIG_IGN)
import tests.conftest
told = subprocess.run([sys.executable, "-c", {1!r}], capture_output=True, text=True, timeout=60)
print(told.stdout.strip())
if "{0}" != "SIGINT":
    os.kill(os.getpid(), signal.{0})
print("carried on")
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP", "SIGTERM", "SIGQUIT"])
def test_a_signal_that_was_ignored_for_the_suite_is_not_for_its_programs(name: str) -> None:
    program = SUITE.format(name, ASK.format(name))
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.split("\n")[:2] == ["False", "carried on"], done.stderr
