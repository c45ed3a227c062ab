"""How often a change goes to the PostgreSQL server and back, and that it sees no less for it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from moot.core.errors import StoreFailed
from moot.hosts.postgres import PostgresStore
from tests.store.contract import contents_of, entry, heartbeat
from tests.store.postgres_server import server_url

STREAM = "example/a"


@pytest.fixture
def store() -> Iterator[PostgresStore]:
    name = f"ledger_{os.urandom(6).hex()}"
    with PostgresStore(server_url(), name, create=True) as store:
        yield store
    with psycopg.connect(server_url(), autocommit=True) as db:
        db.execute(f"DROP SCHEMA {name} CASCADE".encode())


def append(store: PostgresStore, seq: int) -> None:
    with store.write() as change:
        head = change.head(STREAM)
        assert (head.seq if head else -1) == seq - 1
        change.append([entry(STREAM, seq)])


@pytest.mark.skipif(sys.platform != "linux", reason="the driver traces on Linux only")
def test_an_append_goes_to_the_server_three_times(store: PostgresStore, tmp_path: Path) -> None:
    for seq in range(5):
        append(store, seq)
    with store.write() as change:  # asks for no head, and makes nobody forget those asked for
        change.put_heartbeat(heartbeat("amber-otter", 1_000))
    with store.write() as change:
        assert change.head("example/b") is None
    with (tmp_path / "trace").open("w+") as trace:
        store._db.pgconn.trace(trace.fileno())
        append(store, 5)
        store._db.pgconn.untrace()
        trace.seek(0)
        assert trace.read().count("ReadyForQuery") == 3  # lock and reads, the append, the commit


@pytest.mark.requirement("LDG-066")
def test_anyone_who_waited_for_the_lock_reads_what_was_written_meanwhile(
    store: PostgresStore,
) -> None:
    append(store, 0)
    append(store, 1)  # from now on it reads this head together with the lock
    with PostgresStore(server_url(), store.schema) as other:
        with other.write() as change:
            waiting = threading.Thread(target=append, args=(store, 3))
            waiting.start()
            _wait_until_one_waits()
            change.append([entry(STREAM, 2)])
        waiting.join(timeout=60)
        with other.read() as view:
            assert [record.seq for record in view.records(STREAM)] == [0, 1, 2, 3]


def _wait_until_one_waits() -> None:
    waits = (
        "SELECT count(*), pg_sleep(0.01) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    )
    with psycopg.connect(server_url(), autocommit=True) as db:
        for _ in range(3_000):
            if (db.execute(waits.encode()).fetchone() or (0,))[0]:
                return
    raise AssertionError("nobody waits for the lock")


def test_a_commit_that_the_server_refuses_keeps_nothing(store: PostgresStore) -> None:
    append(store, 0)
    before = contents_of(store)
    with psycopg.connect(server_url(), autocommit=True) as db:
        db.execute(f"SET search_path = {store.schema}".encode())
        db.execute(
            "CREATE TRIGGER refused BEFORE UPDATE ON ledger"
            " FOR EACH STATEMENT EXECUTE FUNCTION ledger_has_moved()"
        )
        with pytest.raises(StoreFailed, match="has moved elsewhere"):
            append(store, 1)
        assert contents_of(store) == before
        db.execute("DROP TRIGGER refused ON ledger")
    append(store, 1)


def test_after_a_change_that_failed_the_next_one_is_written(store: PostgresStore) -> None:
    for seq in range(6):
        append(store, seq)
        with pytest.raises(ZeroDivisionError), store.write():
            raise ZeroDivisionError


def test_a_read_leaves_the_statements_that_writes_have_prepared(store: PostgresStore) -> None:
    append(store, 0)
    with store.read() as view:
        assert view.newest_position() == 1
    found = store._db.execute("SELECT FROM pg_prepared_statements WHERE name = 'write_start'")
    assert found.rowcount == 1


def test_a_change_counts_what_it_has_appended_itself(store: PostgresStore) -> None:
    with store.write() as change:
        change.append([entry("example/a", 0), entry("example/b", 0)])
        change.append([entry("example/c", 0), entry("example/a", 1)])
        assert change.newest_position() == 4
        assert [head for _, head in change.streams()] == [
            change.head(name) for name in ("example/a", "example/b", "example/c")
        ]
