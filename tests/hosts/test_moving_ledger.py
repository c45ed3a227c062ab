"""A ledger moves into a database and back, and is the same there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from moot.core.errors import MootError
from moot.core.ledger import Heartbeat
from moot.store.sqlite import SqliteStore
from tests.project import Project
from tests.store.postgres_server import fresh_database


@pytest.fixture
def database() -> Iterator[str]:
    with fresh_database() as address:
        yield address


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    made = Project(root, tmp_path / "keys")
    made.ok("init")
    made.ok("agent", "register", "amber-otter")
    made.ok("reserve", "src/a.py", MOOT_AGENT="amber-otter")
    return made


@pytest.mark.requirement("HST-015")
def test_it_moves_there_and_back_and_verifies_in_both_places(
    project: Project, database: str
) -> None:
    before = project.ok("verify")
    moved = project.ok("ledger", "move", database)
    assert moved == {"to": "database", "events": before["events"]}
    assert not project.ledger.exists()
    there = project.ok("verify")
    assert (there["verdict"], there["events"]) == ("valid", before["events"])
    project.ok("reserve", "src/b.py", MOOT_AGENT="amber-otter")
    project.ok("agent", "register", "teal-crane")
    assert project.refused("reserve", "src/b.py", MOOT_AGENT="teal-crane")[0] == (
        "reservation_conflict"
    )
    assert project.json("ledger", "doctor").code == 0
    assert project.ok("ledger", "move", "file")["to"] == "file"
    assert project.ok("verify")["verdict"] == "valid"
    assert project.refused("reserve", "src/b.py", MOOT_AGENT="teal-crane")[0] == (
        "reservation_conflict"
    )
    project.ok("reserve", "src/c.py", MOOT_AGENT="teal-crane")


def test_nothing_is_written_into_the_file_any_more_that_was_left(
    project: Project, database: str
) -> None:
    """Also by a process that has it open and knows nothing of other places."""
    with closing(SqliteStore(project.ledger)) as file, file.read() as view:
        beat = Heartbeat("amber-otter", 1, "0" * 32, b"{}", bytes(64))
        events = view.newest_position()
    with closing(SqliteStore(project.ledger)) as file:
        project.ok("ledger", "move", database)
        with pytest.raises(MootError), file.write() as change:
            change.put_heartbeat(beat)
    assert project.ok("verify")["events"] == events


def test_a_ledger_that_is_there_already_is_not_written_over(
    project: Project, database: str
) -> None:
    project.ok("ledger", "move", database)
    assert project.refused("ledger", "move", database)[0] == "already_there"
    project.ok("ledger", "move", "file")
    assert project.refused("ledger", "move", database)[0] == "ledger_exists"
    assert project.ok("verify")["verdict"] == "valid", "it stays where it is"
    assert project.refused("ledger", "move", "mysql://x")[0] == "bad_address"
