"""A keeper ends when it is told to, whichever of its threads is told."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.cli.founding import found
from tests.cli.project import Project
from tests.cli.signalling import ON_LINUX, signal_another_thread
from tests.keeper.keeper_process import SECONDS, KeeperProcess


@ON_LINUX
def test_it_ends_although_the_signal_reached_another_thread(tmp_path: Path) -> None:
    """As when a service is stopped that was frozen: the system gives the signal to any thread that
    is awake, and the main one sleeps on."""
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, tmp_path / "keys")
    found(project)
    keeper = KeeperProcess(project, 0, "--json")
    signal_another_thread(keeper.process.pid, signal.SIGTERM)
    keeper.process.communicate(timeout=SECONDS)
    assert keeper.process.returncode == 0
