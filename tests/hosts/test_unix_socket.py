"""`moot keep --listen unix:FILE`: other clones of this machine share the ledger without a port."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from moot.core.errors import Tampered
from moot.hosts.connection import connect
from moot.hosts.joining import Invitation, read_invitation
from tests.hosts.keeper_process import SECONDS, STARTED
from tests.project import MOOT, Project

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no such sockets")

OTTER, CRANE = "amber-otter", "teal-crane"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "kept"
    root.mkdir()
    project = Project(root, tmp_path / "keys")
    project.init()
    return project


@contextmanager
def keeping(project: Project, file: Path) -> Iterator[subprocess.Popen[str]]:
    """A keeper that listens there, as a process of its own; it is told to end at last."""
    process = subprocess.Popen(
        [*MOOT, "keep", "--listen", f"unix:{file}"],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    STARTED.append(process)
    assert process.stdout is not None
    assert f"keeping at unix:{file}, fingerprint" in process.stdout.readline()
    yield process
    process.terminate()
    process.communicate(timeout=SECONDS)


def join(project: Project, clone: Project) -> Project:
    clone.root.mkdir()
    clone.ok("init", "--join", project.ok("invite")["invitation"], "--name", "laptop")
    return clone


def test_a_clone_joins_by_it_and_is_held_back(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "a # b" / "door"  # an invitation is one word all the same
    file.parent.mkdir()
    with keeping(project, file):
        clone = join(project, Project(tmp_path / "clone", tmp_path / "clone-keys"))
        project.ok("agent", "register", OTTER)
        clone.ok("agent", "register", CRANE)
        project.ok("--as", OTTER, "reserve", "src/a.py")
        refused = clone.run("--as", CRANE, "reserve", "src/a.py")
        assert refused.code == 1
        clone.ok("--as", CRANE, "reserve", "src/b.py")
        assert file.stat().st_mode & 0o777 == 0o600
    assert not file.exists()
    assert project.ok("verify")["verdict"] == "valid"


def test_a_keeper_that_was_killed_is_followed_by_the_next(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "door"
    with keeping(project, file) as first:
        clone = join(project, Project(tmp_path / "clone", tmp_path / "clone-keys"))
        first.kill()
        first.communicate(timeout=SECONDS)
        assert file.exists()
        away = clone.run("--json", "agent", "register", CRANE)
        assert away.error["code"] == "keeper_away"
        with keeping(project, file):
            clone.ok("agent", "register", CRANE)


def keep_refused(project: Project, file: Path) -> tuple[int, str]:
    """How a keeper ends that cannot listen there: exit code and error. As a process, with a limit:
    one that can listen goes on for ever."""
    ended = subprocess.run(
        [*MOOT, "--json", "keep", "--listen", f"unix:{file}"],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return ended.returncode, json.loads(ended.stdout)["error"]["code"]


def test_a_file_that_stands_there_stays(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_text("precious", encoding="utf-8")
    assert keep_refused(project, file) == (1, "cannot_listen")
    assert file.read_text(encoding="utf-8") == "precious"


def test_a_socket_at_which_somebody_listens_stays(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "door"
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as other:
        other.bind(str(file))
        other.listen()
        assert keep_refused(project, file) == (1, "cannot_listen")
        assert file.is_socket()


def test_a_path_that_is_too_long_is_refused(project: Project, tmp_path: Path) -> None:
    assert keep_refused(project, tmp_path / ("x" * 120)) == (1, "cannot_listen")


def test_another_users_socket_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "door"
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as other:
        other.bind(str(file))
        other.listen()
        if os.geteuid() == 0:
            os.chown(file, 12_345, -1)
        else:
            monkeypatch.setattr(os, "geteuid", lambda: 12_345)
        with pytest.raises(Tampered, match="to another user") as refused:
            connect(f"unix:{file}", "0" * 32)
        assert refused.value.code == "another_keeper"
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.accept()


@pytest.mark.parametrize("address", ["build.example:7417", "unix:/a#b/door", "unix:/a b/door"])
def test_an_invitation_is_read_as_it_was_written(address: str) -> None:
    invitation = Invitation(address, "f" * 32, "1" * 8, "c" * 32)
    assert read_invitation(invitation.text) == invitation
