"""The connection: one lock for the ledger, taken before anything is read (LDG-075: the contract is
the one of all stores).

Writes use READ COMMITTED and transaction-level locks: under REPEATABLE READ a statement that waits
for the lock would read the state from before its wait, and a session-level lock would outlive a
broken connection. Readers never wait.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import errors as pg
from psycopg import sql
from psycopg.pq import TransactionStatus

from moot.core.errors import Conflict, Malformed, MootError, Refused, StoreFailed
from moot.core.record import Record
from moot.hosts.postgres.transaction import PostgresTransaction
from moot.hosts.postgres.view import (
    PostgresView,
    WriteStart,
    ensure_prepared,
    read_write_start,
    to_bytes,
    write_start_query,
)

# PostgreSQL's errors -> (code, sentence, hint) of ours; the first row that fits.
_ERRORS: tuple[tuple[tuple[type[psycopg.Error], ...], tuple[str, str, str]], ...] = (
    (
        (pg.LockNotAvailable, pg.QueryCanceled, pg.DeadlockDetected),
        (
            "store_busy",
            "another process held the ledger too long",
            "try again; `pg_locks` shows which process holds it",
        ),
    ),
    (
        (pg.DiskFull, pg.OutOfMemory, pg.TooManyConnections),
        (
            "disk_full",
            "the database has no room; nothing of this command was written",
            "free space there (ask the database's operator), then try again",
        ),
    ),
    (
        (pg.ReadOnlySqlTransaction, pg.InsufficientPrivilege),
        (
            "store_read_only",
            "the ledger may not be written here",
            "use the address of the primary server, with a role that may write",
        ),
    ),
    (
        (pg.UndefinedTable, pg.InvalidSchemaName),
        ("no_ledger", "there is no ledger in this schema", "run `moot ledger move` first"),
    ),
    (
        (psycopg.OperationalError, psycopg.InterfaceError),
        (
            "store_unreachable",
            "the database does not answer",
            "check that the server runs; the key folder has its address",
        ),
    ),
)


class translate_errors:  # noqa: N801 - used like a function
    """Translates the driver's errors that are raised inside into ours."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, psycopg.Error):
            raise as_moot_error(error) from error


def as_moot_error(error: psycopg.Error) -> MootError:
    if isinstance(error, pg.UniqueViolation):
        return Conflict("position_taken", "another writer was first", hint="try again")
    # The driver's message may contain the address with a password: pass on only the first line of
    # the server's message.
    message = (error.diag.message_primary or type(error).__name__).splitlines()[0]
    for kinds, (code, sentence, hint) in _ERRORS:
        if isinstance(error, kinds):
            return StoreFailed(code, f"{sentence} ({message})", hint=hint)
    return StoreFailed("store_failed", f"the database refused: {message}")


VERSION: Final = 1
CONNECT_SECONDS: Final = 5
LOCK_SECONDS: Final = 30
STATEMENT_SECONDS: Final = 30
IDLE_SECONDS: Final = 60
# Heads that are read together with the lock, in case they are needed: one costs an eighth of a
# separate query.
LIKELY_STREAMS: Final = 4
_SCHEMA_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,50}\Z")
_SCHEMA: Final = Path(__file__).with_name("schema.sql")


class PostgresStore:
    """One ledger in one schema. Threads of a process take turns on one connection."""

    def __init__(self, url: str, schema: str, *, create: bool = False) -> None:
        """`url` is a libpq address; `create` makes the schema if there is none."""
        if not _SCHEMA_NAME.match(schema):
            raise Malformed(f"{schema!r} is not a schema name", code="bad_schema")
        self._url = url
        self.schema = schema
        self._lock = threading.RLock()
        self._own_writes = 0
        self._view: PostgresView | None = None
        self._has_warned = False  # whether the server sent a warning since the commit began
        self._has_statements = False  # whether `_begin_write`'s statements are prepared
        # Streams that the last writes read: the next write is likely to read them again.
        self._likely_streams: list[str] = []
        with translate_errors():
            self._db = self._connect()
            try:
                if create:
                    self._make_schema()
                self._require_version()
            except BaseException:
                self._db.close()
                raise

    @contextmanager
    def read(self) -> Iterator[PostgresView]:
        """Return one view that other writers do not change."""
        with self._lock, translate_errors():
            if self._view is not None:  # inside a read or write of ours: share its view
                yield self._view
                return
            self._ensure_connection()
            self._db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                with closing(PostgresView(self._db, self._writes_of_others())) as view:
                    self._view = view
                    yield view
            finally:
                self._view = None
                self._end_read()

    def write(self) -> AbstractContextManager[PostgresTransaction]:
        return self._write()

    @contextmanager
    def _write(self) -> Iterator[PostgresTransaction]:
        with self._lock, translate_errors():
            if self._view is not None:
                raise StoreFailed("nested_write", "a write began inside a read or another write")
            self._ensure_connection()
            try:
                start = self._begin_write(self._likely_streams)
                change = PostgresTransaction(self._db, start.writes - self._own_writes, start)
                self._view = change
                try:
                    yield change
                    change.require_whole()
                finally:
                    self._view = None
                    change.close()
                    change.is_whole = False  # a kept reference cannot write any more
            except BaseException:
                self._undo()
                raise
            self._commit(change.newest)
            self._own_writes += 1
            recent = dict.fromkeys((*change.asked_streams, *self._likely_streams))
            self._likely_streams = list(recent)[:LIKELY_STREAMS]

    def _begin_write(self, streams: Sequence[str] = ()) -> WriteStart:
        """Take the lock and read what every write needs and the heads of `streams`, in one round
        trip."""
        if not self._has_statements:
            ensure_prepared(self._db)
            self._has_statements = True
        # LDG-066: the lock comes before the first read. These are separate statements, although
        # sent together: a single one would see the ledger as it was before it waited.
        found = self._db.execute(
            "BEGIN ISOLATION LEVEL READ COMMITTED;"
            f"SELECT pg_advisory_xact_lock(hashtextextended('{self.schema}', 0));"
            f"{write_start_query(streams)}".encode(),
            prepare=False,
        )
        found.nextset()  # past the answer to BEGIN
        found.nextset()  # past the lock's
        return read_write_start(found, streams)

    def _commit(self, newest: Record | None) -> None:
        """Commit; the caller acknowledges nothing before this returns (LDG-065, LDG-076)."""
        self._has_warned = False
        try:  # one round trip
            self._db.execute("UPDATE ledger SET writes = writes + 1; COMMIT", prepare=False)
        except psycopg.Error as error:
            # Still inside the transaction: the COMMIT was not reached, so nothing is committed.
            has_failed = self._db.info.transaction_status == TransactionStatus.INERROR
            self._undo()
            if has_failed or not self._is_committed(newest):
                raise as_moot_error(error) from error
        except BaseException:  # interrupted: the next write must not begin inside this one
            self._undo()
            raise
        else:
            # If the wait for a standby was cancelled, the commit may be on this server alone:
            # another commit must reach the standby before this one counts.
            if self._has_warned and not self._is_committed(newest):
                raise StoreFailed("store_failed", "the commit was not confirmed")

    def _note_warning(self, notice: psycopg.errors.Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            self._has_warned = True

    def _is_committed(self, newest: Record | None) -> bool:
        """Return whether the record was committed, after the server's answer was lost.

        Reads under the lock and commits again, so that a standby which must have the record has it.
        """
        if newest is None:
            return False
        with suppress(psycopg.Error):
            self._ensure_connection()
            self._begin_write()
            found = self._db.execute(
                "SELECT e.sig FROM events e JOIN streams s ON s.number = e.stream"
                " WHERE s.name = %s AND e.seq = %s",
                (to_bytes(newest.stream), newest.seq),
                binary=True,
            ).fetchone()
            self._db.execute("UPDATE ledger SET writes = writes + 1")
            self._db.execute("COMMIT")
            return found is not None and bytes(found[0]) == newest.signature
        self._undo()
        return False

    def version(self) -> int:
        with self._lock, translate_errors():
            if self._view is None:
                self._ensure_connection()
            return self._count_writes()

    def size(self) -> int:
        """Return the bytes of this ledger's tables, with their indexes."""
        with self.read() as view:
            return view.count_bytes()

    def backup(self, target: Path) -> None:
        """Write a consistent copy to a new SQLite file."""
        from moot.store.ledger_transfer import copy_ledger
        from moot.store.sqlite import SqliteStore

        if target.exists():
            raise Refused("file_exists", f"{target} already exists", hint="choose another name")
        copy = SqliteStore(target, create=True)
        try:
            with self.read() as view:
                copy_ledger(view, copy)
        except BaseException:
            target.unlink(missing_ok=True)
            raise
        finally:
            copy.close()

    def missing_index_tables(self) -> list[str]:
        """Return none: opening the schema fails if a table is missing."""
        return []

    def integrity(self) -> list[str]:
        """Return what is wrong with the tables: each event must be in one stream, without gaps."""
        with self.read() as view:
            _, events = view.count_streams_and_events()
            position = view.newest_position()
        return [] if events == position else [f"{position} events, but {events} in streams"]

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def __enter__(self) -> PostgresStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self) -> psycopg.Connection[Any]:
        db = psycopg.connect(
            self._url, autocommit=True, connect_timeout=CONNECT_SECONDS, prepare_threshold=3
        )
        db.add_notice_handler(self._note_warning)
        self._has_statements = False
        limits = {
            "lock_timeout": LOCK_SECONDS,
            "statement_timeout": STATEMENT_SECONDS,
            "idle_in_transaction_session_timeout": IDLE_SECONDS,
        }
        for name, seconds in limits.items():
            db.execute(f"SET {name} = '{seconds}s'")
        db.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(self.schema)))
        return db

    def _ensure_connection(self) -> None:
        """Reconnect if the connection broke between two transactions."""
        if self._db.closed or self._db.broken:
            self._db = self._connect()

    def _end_read(self) -> None:
        """End a read with COMMIT unless it failed: after a ROLLBACK the driver may forget its
        prepared statements, and the next write would have to prepare them again."""
        if self._db.info.transaction_status == TransactionStatus.INTRANS:
            with suppress(psycopg.Error):
                self._db.execute("COMMIT")
        else:
            self._undo()

    def _undo(self) -> None:
        self._has_statements = False  # the driver may deallocate them
        with suppress(psycopg.Error):
            self._db.execute("ROLLBACK")

    def _make_schema(self) -> None:
        with self._db.transaction():
            self._db.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (self.schema,)
            )
            name = sql.Identifier(self.schema)
            self._db.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
            found = self._db.execute("SELECT to_regclass('events')").fetchone()
            if found is None or found[0] is None:
                self._db.execute(_SCHEMA.read_text("utf-8").encode())

    def _require_version(self) -> None:
        row = self._db.execute("SELECT version FROM ledger").fetchone()
        if row is None or row[0] != VERSION:
            found = None if row is None else row[0]
            raise StoreFailed(
                "newer_store",
                f"the ledger has format {found}, this moot knows format {VERSION}",
                hint="update moot; nothing was changed",
            )

    def _count_writes(self) -> int:
        row = self._db.execute("SELECT writes FROM ledger").fetchone()
        assert row is not None, "made with the schema"
        return int(row[0])

    def _writes_of_others(self) -> int:
        return self._count_writes() - self._own_writes
