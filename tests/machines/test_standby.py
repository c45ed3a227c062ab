"""A database with a standby: the primary is killed under its keeper, and the standby promoted.

With synchronous commits nothing is lost that was acknowledged. Without them the newest events may
be gone: then every machine that saw them says so, and writes nothing on top.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.hosts.keeper_process import KeeperProcess
from tests.hosts.test_crashes import COUNT, BusyMachine, errands, expected, founded, joining
from tests.project import Project
from tests.store.postgres_pair import PostgresPair

assert founded, joining

Joining = Callable[[KeeperProcess, str, str], Project]
OpenPair = Callable[[bool], PostgresPair]


@pytest.fixture
def open_pair() -> Iterator[OpenPair]:
    opened: list[PostgresPair] = []

    def open_one(is_synchronous: bool) -> PostgresPair:
        opened.append(PostgresPair(is_synchronous))
        return opened[-1]

    yield open_one
    for pair in opened:
        pair.end()


def test_a_promoted_standby_has_all_that_was_acknowledged_and_nothing_twice(
    founded: Project, joining: Joining, open_pair: OpenPair
) -> None:
    pair = open_pair(True)
    founded.ok("ledger", "move", pair.url)
    keeper = KeeperProcess(founded)
    try:
        laptop = joining(keeper, "laptop", "amber-otter")
        desktop = joining(keeper, "desktop", "teal-crane")
        otter, crane = BusyMachine(laptop, "amber-otter"), BusyMachine(desktop, "teal-crane")
        otter.read_until(COUNT // 3)
        pair.primary.kill()
        told = {f"amber-otter {number}" for number in range(otter.done)}
        pair.promote()
        otter.finish()
        crane.finish()
        assert keeper.process.poll() is None, "it found the new primary by itself"
        assert told <= set(errands(laptop))
    finally:
        keeper.end()
    assert sorted(errands(founded)) == expected(otter, crane)
    assert founded.ok("verify")["verdict"] == "valid"
    assert errands(laptop) == errands(founded)


def test_a_standby_that_lacks_the_newest_events_is_found_by_every_machine_that_saw_them(
    founded: Project, joining: Joining, open_pair: OpenPair
) -> None:
    pair = open_pair(False)
    founded.ok("ledger", "move", pair.url)
    keeper = KeeperProcess(founded)
    try:
        laptop = joining(keeper, "laptop", "amber-otter")
        desktop = joining(keeper, "desktop", "teal-crane")
        laptop.ok("reserve", "src/a.py", MOOT_AGENT="amber-otter")
        pair.wait_until_same()
        pair.standby.kill()
        laptop.ok("reserve", "src/b.py", MOOT_AGENT="amber-otter")
        desktop.ok("scope", "list")  # it sees the second one
        pair.primary.kill()
        pair.standby.start()
        pair.promote()
        for machine, agent in ((laptop, "amber-otter"), (desktop, "teal-crane")):
            code, _ = machine.refused("reserve", "src/c.py", MOOT_AGENT=agent)
            assert code == "another_history"
            held = machine.ok("scope", "list")["reservations"]
            assert {row["scope"] for row in held} == {"src/a.py", "src/b.py"}, "its copy has both"
    finally:
        keeper.end()
    assert founded.refused("agent", "register", "coral-finch")[0] == "rolled_back"
