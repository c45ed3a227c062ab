"""Where the ledger is kept it is said whether a keeper runs: without one no other machine can
record anything."""

from __future__ import annotations

import errno
import fcntl
from pathlib import Path

import pytest

from moot.hosts.keeper import is_keeper_running, mark_keeper_running
from tests.hosts.keeper_process import KeeperProcess
from tests.project import Project, make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@pytest.mark.parametrize("killed", [False, True])
def test_it_is_said_while_no_keeper_runs(project: Project, killed: bool) -> None:
    keeper = KeeperProcess(project)
    assert kept_now(project) == (True, True, True)
    for words in (["status"], ["machine", "list"], ["invite"]):
        assert "no keeper" not in project.run(*words).out
    if killed:
        keeper.kill()
    else:
        keeper.end()
    assert kept_now(project) == (False, False, False)
    for words in (["status"], ["machine", "list"], ["invite"]):
        assert "no keeper" in project.run(*words).out
    keeper.again()
    assert kept_now(project) == (True, True, True)


def test_two_keepers_are_not_told_from_one(project: Project) -> None:
    first, second = KeeperProcess(project), KeeperProcess(project)
    first.kill()
    assert kept_now(project) == (True, True, True)
    second.kill()
    assert kept_now(project) == (False, False, False)


def test_a_ledger_that_was_never_kept_lacks_no_keeper(project: Project) -> None:
    assert project.ok("machine", "list")["is_kept_now"] is None
    assert "no keeper" not in project.run("status").out


def test_a_disk_without_locks_keeps_no_keeper_from_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "there are no locks here")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert not is_keeper_running(tmp_path), "none has ever run"
    with mark_keeper_running(tmp_path):
        assert is_keeper_running(tmp_path)


def kept_now(project: Project) -> tuple[bool, bool, bool]:
    shared, listed = project.ok("status")["shared"], project.ok("machine", "list")
    return (
        shared["is_kept_now"],
        listed["is_kept_now"],
        project.ok("invite")["is_kept_now"],
    )
