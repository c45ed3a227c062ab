"""Signals to a process, and to one of its threads that is not the main one."""

from __future__ import annotations

import os
import signal
import sys
from typing import Final

import pytest

ON_LINUX: Final = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def signal_process(pid: int, number: signal.Signals) -> None:
    os.kill(pid, number)


def signal_another_thread(pid: int, number: signal.Signals) -> None:
    """As the system does it to a process that was stopped: any thread that is awake gets it."""
    others = {int(name) for name in os.listdir(f"/proc/{pid}/task")} - {pid}
    assert others
    os.kill(min(others), number)
