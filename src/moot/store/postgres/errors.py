"""PostgreSQL's errors as ours: what happened, and what to do about it."""

from __future__ import annotations

import psycopg
from psycopg import errors as pg

from moot.core.errors import Conflict, MootError, StoreFailed

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
