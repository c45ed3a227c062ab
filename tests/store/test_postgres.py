"""A ledger in PostgreSQL keeps the one contract, against a real server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from moot.core.errors import StoreFailed
from moot.core.ledger import Store
from moot.hosts.postgres import PostgresStore
from moot.store.sqlite import SqliteStore
from tests.store.contract import (
    OpenAgain,
    StoreContract,
    contents,
    contents_of,
    entry,
    write_everything,
)
from tests.store.postgres_server import server_url


@pytest.fixture
def schema() -> Iterator[str]:
    name = f"ledger_{os.urandom(6).hex()}"
    yield name
    with psycopg.connect(server_url(), autocommit=True) as db:
        db.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")


@pytest.mark.requirement("LDG-075")
class TestPostgres(StoreContract):
    @pytest.fixture
    def store(self, schema: str) -> Iterator[Store]:
        store = PostgresStore(server_url(), schema, create=True)
        yield store
        store.close()

    @pytest.fixture
    def another(self, store: PostgresStore) -> Iterator[OpenAgain]:
        opened: list[Store] = []

        def open_again() -> Store:
            opened.append(PostgresStore(server_url(), store.schema))
            return opened[-1]

        yield open_again
        for each in opened:
            each.close()

    def test_reopening_gives_everything_back(self, store: Store, another: OpenAgain) -> None:
        with store.write() as change:
            write_everything(change)
        before = contents_of(store)
        store.close()
        assert contents_of(another()) == before

    def test_a_view_does_not_move_when_another_connection_has_committed(
        self, store: Store, another: OpenAgain
    ) -> None:
        with store.write() as change:
            write_everything(change)
        other = another()
        with store.read() as view:
            before = contents(view)
            half_read = view.records("example/a")
            next(half_read)
            with other.write() as change:
                change.append([entry("example/a", 3), entry("example/n", 0)])
                change.clear_rows()
            assert contents(view) == before
            assert [found.seq for found in half_read] == [1, 2]

    def test_a_backup_is_a_file_that_holds_the_same(self, store: Store, tmp_path: Path) -> None:
        with store.write() as change:
            write_everything(change)
        store.backup(tmp_path / "copy.db")
        copy = SqliteStore(tmp_path / "copy.db")
        try:
            assert contents_of(copy) == contents_of(store)
        finally:
            copy.close()

    @pytest.mark.parametrize(
        "statement", ["UPDATE events SET sig = ''", "DELETE FROM events", "TRUNCATE events"]
    )
    def test_events_are_never_changed(self, store: Store, schema: str, statement: str) -> None:
        with store.write() as change:
            write_everything(change)
        before = contents_of(store)
        with psycopg.connect(server_url(), autocommit=True) as db:
            db.execute(f"SET search_path = {schema}")
            with pytest.raises(psycopg.errors.RaiseException):
                db.execute(statement.encode())
        assert contents_of(store) == before

    def test_a_line_that_the_server_ended_is_made_again(self, store: Any, schema: str) -> None:
        with store.write() as change:
            write_everything(change)
        before = contents_of(store)
        with psycopg.connect(server_url(), autocommit=True) as db:
            db.execute("SELECT pg_terminate_backend(%s)", (store._db.info.backend_pid,)).fetchone()
        with pytest.raises(StoreFailed), store.read():
            pass
        assert contents_of(store) == before
        del schema
