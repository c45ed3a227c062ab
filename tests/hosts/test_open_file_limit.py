"""A keeper that may open no more files: it serves the lines that it has, and is quiet otherwise."""

from __future__ import annotations

import os
import socket
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from moot.protocols.example.model import Ask
from tests.hosts.keeper_process import SECONDS, KeeperProcess
from tests.project import LIST, Project, make_project
from tests.wait_readable import is_readable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

OTTER = "amber-otter"
SPARE = 6  # files that the keeper may still open
LATE = 20  # lines that are wanted all the same
WATCHED_SECONDS = 1.5


def let_open_no_more(pid: int) -> None:
    import resource

    highest = max(map(int, os.listdir(f"/proc/{pid}/fd")))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (highest + 1 + SPARE,) * 2)


def processor_seconds(pid: int) -> float:
    used = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")


def test_it_serves_the_lines_that_it_has_and_waits_before_it_takes_more(tmp_path: Path) -> None:
    project = make_project(tmp_path / "kept")
    keeper = KeeperProcess(project, 0, "--json")
    laptop = keeper.join(Project(tmp_path / "laptop", tmp_path / "laptop-keys"), "laptop")
    laptop.ok("agent", "register", OTTER)
    pid, said = keeper.process.pid, keeper.process.stderr
    assert said is not None
    with laptop.workspace() as workspace:
        workspace.engine.execute(LIST, Ask(title="before", of=OTTER), OTTER)
        let_open_no_more(pid)
        with ExitStack() as late:
            for _ in range(LATE):
                address = ("127.0.0.1", keeper.port)
                late.enter_context(socket.create_connection(address, SECONDS))
            assert is_readable(said.fileno(), SECONDS)
            assert "Too many open files" in said.readline()
            before = processor_seconds(pid)
            assert not is_readable(said.fileno(), WATCHED_SECONDS), "it is said once"
            assert processor_seconds(pid) - before < WATCHED_SECONDS / 3, "it asks again and again"
            for number in range(3):
                asked = Ask(title=f"meanwhile {number}", of=OTTER)
                workspace.engine.execute(LIST, asked, OTTER)
    until = time.monotonic() + SECONDS
    while laptop.run("--as", OTTER, "reserve", "src/a.py").code:
        assert time.monotonic() < until, "there is room again, and nobody is let in"
    keeper.process.terminate()
    _, more = keeper.process.communicate(timeout=SECONDS)
    assert "Too many open files" not in more
