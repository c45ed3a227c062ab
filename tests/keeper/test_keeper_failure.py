"""A keeper that cannot go on says so, and does not stay there without answering."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from moot.api import machines
from moot.api.session import Session
from moot.core.errors import MootError
from moot.keeper.door import Door
from moot.keys.folder import KeyFolder
from tests.cli.founding import found
from tests.cli.project import Project

SECONDS = 60


def test_a_keeper_whose_thread_fails_is_ended_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path / "project", tmp_path / "keys")
    project.root.mkdir()
    found(project)
    ended = threading.Event()

    def fail(_door: Door) -> float:
        raise RuntimeError("nobody thought of this")

    def keep_and_fail() -> None:
        session = Session(project.root, keys=KeyFolder(project.keys), env=project.env)
        with session, machines.keep(session, port=0, on_failure=ended.set) as kept:
            monkeypatch.setattr(Door, "step", fail)
            host, _, port = kept.address.rpartition(":")
            with socket.create_connection((host, int(port)), SECONDS) as line:
                assert line.recv(1) == b"", "its lines end, so that nobody waits"
            assert ended.wait(SECONDS)

    with pytest.raises(MootError) as failed:
        keep_and_fail()
    assert failed.value.code == "keeper_failed"
    assert "nobody thought of this" in str(failed.value)
