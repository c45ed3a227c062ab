"""A ledger file that lost index tables: created again from complete events, else left alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import StoreFailed, Tampered
from moot.protocols.presence.machine import MACHINE
from moot.protocols.presence.model import STREAM, State
from moot.store.sqlite import SqliteStore
from moot.store.sqlite.errors import INDEX_TABLES, PLACE_TABLES
from moot.store.sqlite.missing_tables import make_readable
from moot.testing import World
from tests.cli.damage import edit
from tests.presence.scene import reserve

SETS = [some for count in (1, 2, 3) for some in combinations(PLACE_TABLES, count)]


class Lived:
    """A ledger on disk with events that are filed and, after them, events that wait to be."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.world = World(SqliteStore(path, create=True))
        for name in ("amber-otter", "teal-crane"):
            self.world.clock.forward(seconds=1)
            self.world.agent(name)
        self._reserve("amber-otter", "src")
        self.world.engine.checkpoint()
        self._reserve("teal-crane", "docs")
        self.before, self.state_before = self.content(), self.state()
        self.world.store.close()

    def _reserve(self, name: str, scope: str) -> None:
        self.world.clock.forward(seconds=1)
        self.world.engine.execute(STREAM, reserve(scope), name)

    def reopen(self) -> None:
        self.world.store = SqliteStore(self.path)
        self.world.engine = self.world.another_engine()

    def state(self) -> State:
        return self.world.engine.state(MACHINE, STREAM)

    def content(self) -> dict[str, Any]:
        with self.world.store.read() as view:
            return {
                "heads": sorted(view.streams()),
                "records": [
                    (record.stream, record.seq, record.hash)
                    for name, _ in view.streams()
                    for record in view.records(name)
                ],
                "rows": sorted(view.all_rows()),
                "words": sorted(view.all_words()),
            }


@pytest.fixture
def lived(tmp_path: Path) -> Iterator[Lived]:
    made = Lived(tmp_path / "ledger.db")
    yield made
    made.world.store.close()


def dump(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as db:
        return list(db.iterdump())


@pytest.mark.requirement("LDG-071")
@pytest.mark.parametrize("tables", SETS, ids="-".join)
def test_events_are_placed_again_and_the_rebuild_gives_what_was_there(
    lived: Lived, tables: tuple[str, ...]
) -> None:
    edit(lived.path, *(f"DROP TABLE {table}" for table in tables))
    assert sorted(make_readable(lived.path)) == sorted(tables)
    assert make_readable(lived.path) == []
    lived.reopen()
    lived.world.engine.rebuild()
    assert lived.content() == lived.before
    assert lived.state() == lived.state_before
    lived.world.engine.execute(STREAM, reserve("tests"), "teal-crane")
    lived.world.engine.checkpoint()
    assert lived.world.engine.rebuild().differences == ()


@pytest.mark.parametrize("table", [one for one in INDEX_TABLES if one not in PLACE_TABLES])
def test_an_index_that_is_gone_is_made_by_the_rebuild(lived: Lived, table: str) -> None:
    edit(lived.path, f"DROP TABLE {table}")
    make_readable(lived.path)
    lived.reopen()
    lived.world.engine.rebuild()
    assert lived.content() == lived.before
    assert lived.world.engine.rebuild().differences == ()


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        ("DELETE FROM events WHERE id = 2", "1 of "),
        ("UPDATE events SET seq = 99 WHERE id = 3", "does not follow"),
        (
            "UPDATE events SET stream = 99 WHERE id = (SELECT max(id) FROM events)",
            "a stream that is missing",
        ),
        ("UPDATE events SET body = x'7b7d' WHERE id = 2", "unreadable body"),
        ("UPDATE events SET sig = zeroblob(64) WHERE id = 1", "does not follow"),
        ("UPDATE streams SET seq = 40 WHERE number = 0", "had 41 events"),
    ],
)
def test_events_that_are_not_whole_are_left_as_they_are(
    lived: Lived, damage: str, why: str
) -> None:
    edit(lived.path, "DROP TABLE places", damage)
    before = dump(lived.path)
    with pytest.raises(StoreFailed, match=why) as error:
        make_readable(lived.path)
    assert error.value.code == "store_damaged"
    assert dump(lived.path) == before


def test_that_the_newest_event_is_gone_is_seen_by_what_waited(lived: Lived) -> None:
    """The events that are left are whole among themselves; the rebuild believes them no more than
    any other reader does."""
    last = "DELETE FROM events WHERE id = (SELECT max(id) FROM events)"
    edit(lived.path, "DROP TABLE places", last)
    assert make_readable(lived.path) == ["places"]
    lived.reopen()
    with pytest.raises(Tampered):
        lived.world.engine.rebuild()


def test_without_the_table_of_events_nothing_is_made(lived: Lived) -> None:
    edit(lived.path, "DROP TABLE places", "DROP TABLE events")
    before = dump(lived.path)
    with pytest.raises(StoreFailed, match="the table events is missing"):
        make_readable(lived.path)
    assert dump(lived.path) == before
