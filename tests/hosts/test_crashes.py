"""Keepers, machines and databases that are killed, frozen or full while others write.

Always the same question, answered from the record: is everything there that was acknowledged, and
nothing twice?
"""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from moot.engine.replay import read_record
from moot.protocols.example import MACHINE
from moot.protocols.example.model import ErrandAsked
from tests.hosts.keeper_process import SECONDS, STARTED, KeeperProcess
from tests.project import Project
from tests.store.postgres_server import PostgresServer

COUNT = 40
STREAM = "example/today"


class BusyMachine:
    """A process at work on a machine that joined, and what it was told so far."""

    def __init__(self, project: Project, name: str, stream: str = STREAM) -> None:
        self.name = name
        self.done = 0
        self.again: Counter[str] = Counter()
        words = (str(project.root), str(project.keys), name, stream, str(COUNT))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.hosts.busy_host", *words],
            env=project.env,
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        STARTED.append(self.process)

    def read_until(self, done: int) -> None:
        """Until that many were acknowledged."""
        assert self.process.stdout is not None
        while self.done < done:
            word, _, rest = self.process.stdout.readline().partition(" ")
            if not word:
                raise AssertionError(self.process.stderr and self.process.stderr.read())
            if word == "done":
                self.done += 1
            else:
                self.again[rest.strip()] += 1

    def finish(self) -> None:
        self.read_until(COUNT)
        _, err = self.process.communicate(timeout=SECONDS)
        assert self.process.returncode == 0, err


def errands(project: Project, stream: str = STREAM) -> list[str]:
    """What stands on record, in order."""
    with project.workspace() as workspace, workspace.store.read() as view:
        found = [read_record(MACHINE, record).event for record in view.records(stream)]
    return [event.title for event in found if isinstance(event, ErrandAsked)]


def expected(*machines: BusyMachine) -> list[str]:
    return sorted(f"{machine.name} {number}" for machine in machines for number in range(COUNT))


@pytest.fixture
def founded(tmp_path: Path) -> Project:
    root = tmp_path / "kept" / "project"
    root.mkdir(parents=True)
    project = Project(root, tmp_path / "kept" / "keys")
    project.ok("init")
    return project


@pytest.fixture
def joining(tmp_path: Path) -> Callable[[KeeperProcess, str, str], Project]:
    def join(keeper: KeeperProcess, machine: str, agent: str) -> Project:
        place = tmp_path / machine
        project = keeper.join(Project(place / "project", place / "keys"), machine)
        project.ok("agent", "register", agent)
        return project

    return join


Joining = Callable[[KeeperProcess, str, str], Project]


def test_a_killed_keeper_has_all_that_it_acknowledged_and_nothing_twice(
    founded: Project, joining: Joining
) -> None:
    keeper = KeeperProcess(founded)
    laptop = joining(keeper, "laptop", "amber-otter")
    desktop = joining(keeper, "desktop", "teal-crane")
    otter, crane = BusyMachine(laptop, "amber-otter"), BusyMachine(desktop, "teal-crane")
    for done in range(4, COUNT, 6):
        otter.read_until(done)
        keeper.kill()
        told = {f"amber-otter {number}" for number in range(otter.done)}
        assert told <= set(errands(founded))
        keeper = keeper.again()
    otter.finish()
    crane.finish()
    laptop.ok("status")  # it sees what the other machine did last
    code, _ = keeper.end()
    assert code == 0
    assert sorted(errands(founded)) == expected(otter, crane)
    assert otter.again.keys() <= {"keeper_away", "outcome_unknown"}
    assert founded.ok("verify")["verdict"] == "valid"
    assert errands(laptop) == errands(founded)


def test_a_frozen_machine_keeps_nobody_else_from_its_stream(
    founded: Project, joining: Joining
) -> None:
    keeper = KeeperProcess(founded)
    try:
        laptop = joining(keeper, "laptop", "amber-otter")
        desktop = joining(keeper, "desktop", "teal-crane")
        otter, crane = BusyMachine(laptop, "amber-otter"), BusyMachine(desktop, "teal-crane")
        otter.read_until(3)
        otter.process.send_signal(signal.SIGSTOP)
        crane.finish()
        otter.process.send_signal(signal.SIGCONT)
        otter.finish()
    finally:
        keeper.end()
    assert sorted(errands(founded)) == expected(otter, crane)


def test_a_frozen_keeper_is_said_to_be_away_and_goes_on_afterwards(
    founded: Project, joining: Joining
) -> None:
    keeper = KeeperProcess(founded)
    try:
        laptop = joining(keeper, "laptop", "amber-otter")
        before = errands(founded)
        keeper.freeze()
        assert laptop.refused("reserve", "src", MOOT_AGENT="amber-otter")[0] == "keeper_away"
        assert laptop.json("scope", "list").data["reservations"] == []
        keeper.thaw()
        laptop.ok("reserve", "src", MOOT_AGENT="amber-otter")
        assert errands(founded) == before
    finally:
        keeper.thaw()
        keeper.end()


def test_a_keeper_without_room_says_so_records_nothing_and_goes_on(
    founded: Project, joining: Joining
) -> None:
    keeper = KeeperProcess(founded)
    laptop = joining(keeper, "laptop", "amber-otter")
    laptop.ok("reserve", "src", MOOT_AGENT="amber-otter")
    size = founded.ledger.stat().st_size // 8
    unlimited = resource.prlimit(
        keeper.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY)
    )
    try:
        refused = [laptop.refused("reserve", f"a{n}", MOOT_AGENT="amber-otter") for n in range(3)]
        assert {exit_code for _, exit_code in refused} == {4}
        assert laptop.ok("scope", "list")["reservations"][0]["scope"] == "src"
        assert keeper.process.poll() is None, "it goes on"
        resource.prlimit(keeper.process.pid, resource.RLIMIT_FSIZE, unlimited)
        laptop.ok("reserve", "docs", MOOT_AGENT="amber-otter")
    finally:
        keeper.end()
    held = [row["scope"] for row in founded.ok("scope", "list")["reservations"]]
    assert sorted(held) == ["docs", "src"]
    assert founded.ok("verify")["verdict"] == "valid"


@pytest.fixture
def database() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.end()


def test_a_database_that_is_killed_under_its_keeper_loses_nothing(
    founded: Project, joining: Joining, database: PostgresServer
) -> None:
    founded.ok("ledger", "move", database.url)
    keeper = KeeperProcess(founded)
    try:
        laptop = joining(keeper, "laptop", "amber-otter")
        otter = BusyMachine(laptop, "amber-otter")
        for done in (5, 15, 25):
            otter.read_until(done)
            database.kill()
            database.start()
        otter.finish()
        assert keeper.process.poll() is None
    finally:
        keeper.end()
    assert errands(founded) == [f"amber-otter {number}" for number in range(COUNT)]
    assert founded.ok("verify")["verdict"] == "valid"
