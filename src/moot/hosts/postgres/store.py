"""The connection: one lock for the ledger, taken before anything is read (LDG-075: the contract is
the one of all stores).

READ COMMITTED and locks of a transaction only: under REPEATABLE READ a first statement that waits
for the lock would read the state from before its wait, and a lock of the session would outlive a
broken line. Readers wait for nobody.
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

# PostgreSQL's errors as ours: what happened, and what to do about it.

# Kind of error -> (code, sentence, hint); the first that fits.
_TROUBLE: tuple[tuple[tuple[type[psycopg.Error], ...], tuple[str, str, str]], ...] = (
    (
        (pg.LockNotAvailable, pg.QueryCanceled, pg.DeadlockDetected),
        (
            "store_busy",
            "another process held the ledger too long",
            "try again; the database's operator can see who holds it",
        ),
    ),
    (
        (pg.DiskFull, pg.OutOfMemory, pg.TooManyConnections),
        (
            "disk_full",
            "the database has no room; nothing of this command was written",
            "let its operator make room, then try again",
        ),
    ),
    (
        (pg.ReadOnlySqlTransaction, pg.InsufficientPrivilege),
        (
            "store_read_only",
            "the ledger may not be written here",
            "name the primary server, with a role that may write",
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
    """Turns whatever error the driver raises inside into one of ours."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, psycopg.Error):
            raise as_moot_error(error) from error


def as_moot_error(error: psycopg.Error) -> MootError:
    if isinstance(error, pg.UniqueViolation):
        return Conflict("position_taken", "another writer was first", hint="try again")
    # The driver's own words may hold the address, and with it a password: only the first line of
    # what the server said is told.
    said = (error.diag.message_primary or type(error).__name__).splitlines()[0]
    for kinds, (code, sentence, hint) in _TROUBLE:
        if isinstance(error, kinds):
            return StoreFailed(code, f"{sentence} ({said})", hint=hint)
    return StoreFailed("store_failed", f"the database refused: {said}")


VERSION: Final = 1
CONNECT_SECONDS: Final = 5
LOCK_SECONDS: Final = 30
STATEMENT_SECONDS: Final = 30
IDLE_SECONDS: Final = 60
# Heads that are read with the lock, whether or not they are asked for: each costs an eighth of what
# it costs to ask for one by itself.
LIKELY_STREAMS: Final = 4
_SCHEMA_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,50}\Z")
_SCHEMA: Final = Path(__file__).with_name("schema.sql")


class PostgresStore:
    """One ledger in one schema. Threads of a process take turns on one connection."""

    def __init__(self, url: str, schema: str, *, create: bool = False) -> None:
        """`url` is a libpq address; `create` makes the schema if there is none."""
        if not _SCHEMA_NAME.match(schema):
            raise Malformed(f"{schema!r} is no name for a schema", code="bad_schema")
        self._url = url
        self.schema = schema
        self._turn = threading.RLock()
        self._own_writes = 0
        self._view: PostgresView | None = None
        self._warned = False  # whether the server has warned of anything since a commit began
        self._knows_statements = False  # whether this line has what `_begin_write` executes
        # Streams that writes asked for last: the next one is likely to ask for them again.
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
        """One unchanging view, however much others write meanwhile."""
        with self._turn, translate_errors():
            if self._view is not None:  # inside a read or write of ours: share its view
                yield self._view
                return
            self._ensure_line()
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
        with self._turn, translate_errors():
            if self._view is not None:
                raise StoreFailed("nested_write", "a write began inside a read or another write")
            self._ensure_line()
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
                    change.is_whole = False  # whoever kept a reference cannot write any more
            except BaseException:
                self._undo()
                raise
            self._commit(change.newest)
            self._own_writes += 1
            recent = dict.fromkeys((*change.asked_streams, *self._likely_streams))
            self._likely_streams = list(recent)[:LIKELY_STREAMS]

    def _begin_write(self, streams: Sequence[str] = ()) -> WriteStart:
        """Take the lock and read what every change needs, on one way to the server and back; with
        it the heads of `streams`, which are likely to be asked for next."""
        if not self._knows_statements:
            ensure_prepared(self._db)
            self._knows_statements = True
        # LDG-066: the lock comes before the first read. Each is a statement of its own, although
        # all go together: one statement would see the ledger as it was before it waited.
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
        """LDG-065, LDG-076: nobody is answered before this has returned."""
        self._warned = False
        try:
            # Both on one way to the server and back.
            self._db.execute("UPDATE ledger SET writes = writes + 1; COMMIT", prepare=False)
        except psycopg.Error as error:
            # Still inside the transaction: the COMMIT was not reached, so there is no doubt.
            has_failed = self._db.info.transaction_status == TransactionStatus.INERROR
            self._undo()
            if has_failed or not self._is_there(newest):
                raise as_moot_error(error) from error
        except BaseException:  # interrupted: the next change must not begin inside this one
            self._undo()
            raise
        else:
            # A commit whose wait for a standby was cancelled is committed here, and perhaps
            # nowhere else: one more record must reach the standby.
            if self._warned and not self._is_there(newest):
                raise StoreFailed("store_failed", "the commit was not confirmed")

    def _note_warning(self, notice: psycopg.errors.Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            self._warned = True

    def _is_there(self, newest: Record | None) -> bool:
        """After a lost answer: was the record committed? Asked under the lock, and answered with a
        commit of its own, so that what is said has reached wherever commits must reach."""
        if newest is None:
            return False
        with suppress(psycopg.Error):
            self._ensure_line()
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
        with self._turn, translate_errors():
            if self._view is None:
                self._ensure_line()
            return self._count_writes()

    def size(self) -> int:
        """How many bytes the tables of this ledger take, with their indexes."""
        with self.read() as view:
            return view.count_bytes()

    def backup(self, target: Path) -> None:
        """A consistent copy in a new SQLite file."""
        from moot.store.ledger_transfer import copy_ledger
        from moot.store.sqlite import SqliteStore

        if target.exists():
            raise Refused("file_exists", f"{target} exists already", hint="choose another name")
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
        """None: opening the schema fails if one of its tables is gone."""
        return []

    def integrity(self) -> list[str]:
        """What is wrong with the tables: every event must stand in one stream, without a gap."""
        with self.read() as view:
            streams, events = view.count_streams_and_events()
            position = view.newest_position()
        del streams
        return [] if events == position else [f"{position} events, of which {events} stand"]

    def close(self) -> None:
        with self._turn:
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
        self._knows_statements = False
        limits = {
            "lock_timeout": LOCK_SECONDS,
            "statement_timeout": STATEMENT_SECONDS,
            "idle_in_transaction_session_timeout": IDLE_SECONDS,
        }
        for name, seconds in limits.items():
            db.execute(f"SET {name} = '{seconds}s'")
        db.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(self.schema)))
        return db

    def _ensure_line(self) -> None:
        """A line that broke while nothing was under way is made anew."""
        if self._db.closed or self._db.broken:
            self._db = self._connect()

    def _end_read(self) -> None:
        """Not by ROLLBACK if nothing failed: after one the driver may forget every statement that
        was prepared, and the next change would have its own prepared anew."""
        if self._db.info.transaction_status == TransactionStatus.INTRANS:
            with suppress(psycopg.Error):
                self._db.execute("COMMIT")
        else:
            self._undo()

    def _undo(self) -> None:
        self._knows_statements = False  # the driver may have the server forget them, too
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
                f"the ledger has format {found}, this moot knows {VERSION}",
                hint="update moot; nothing was changed",
            )

    def _count_writes(self) -> int:
        row = self._db.execute("SELECT writes FROM ledger").fetchone()
        assert row is not None, "made with the schema"
        return int(row[0])

    def _writes_of_others(self) -> int:
        return self._count_writes() - self._own_writes
