"""A keeper ends when it is told to, whichever of its threads is told."""

from __future__ import annotations

import signal
import socket
import threading
from pathlib import Path

import pytest

from moot.api.hosts import machines
from moot.api.session import Session
from moot.core.errors import MootError
from moot.hosts.request_handler import RequestHandler
from moot.keys.folder import KeyFolder
from tests.cli.signalling import ON_LINUX, signal_another_thread
from tests.hosts.keeper_process import SECONDS, KeeperProcess
from tests.project import Project, make_project


@ON_LINUX
def test_it_ends_although_the_signal_reached_another_thread(tmp_path: Path) -> None:
    """As when a service is stopped that was frozen: the system gives the signal to any thread that
    is awake, and the main one sleeps on."""
    project = make_project(tmp_path)
    keeper = KeeperProcess(project, 0, "--json")
    signal_another_thread(keeper.process.pid, signal.SIGTERM)
    keeper.process.communicate(timeout=SECONDS)
    assert keeper.process.returncode == 0


# A keeper that cannot go on says so, and does not stay there without answering.


def test_a_keeper_whose_thread_fails_is_ended_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path / "project", tmp_path / "keys")
    project.root.mkdir()
    project.init()
    ended = threading.Event()

    def fail(_handler: RequestHandler) -> float:
        raise RuntimeError("nobody thought of this")

    def keep_and_fail() -> None:
        session = Session(project.root, keys=KeyFolder(project.keys), env=project.env)
        with session, machines.keep(session, port=0, on_failure=ended.set) as kept:
            monkeypatch.setattr(RequestHandler, "step", fail)
            host, _, port = kept.address.rpartition(":")
            with socket.create_connection((host, int(port)), SECONDS) as line:
                assert line.recv(1) == b"", "its lines end, so that nobody waits"
            assert ended.wait(SECONDS)

    with pytest.raises(MootError) as failed:
        keep_and_fail()
    assert failed.value.code == "keeper_failed"
    assert "nobody thought of this" in str(failed.value)
