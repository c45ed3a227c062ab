"""A workspace whose ledger lies in PostgreSQL: `database.json` names the schema, and the key folder
has the address, since that may hold a password.

Moving is one copy under the write lock of where the ledger was; that place then refuses every
further write, so that a process that still has it open cannot go on there.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.core.errors import Malformed, Refused, Unavailable
from moot.keys.folder import KeyFolder
from moot.store.copying import copy_ledger
from moot.store.files import replace_own_file, sync_folder
from moot.store.sqlite import SqliteStore
from moot.store.sqlite.reader import SqliteReader
from moot.workspace import trust as trust_files
from moot.workspace.find import DATABASE, LEDGER, is_in_database

if TYPE_CHECKING:
    from moot.store.postgres import PostgresStore

ADDRESS: Final = "database.json"
POSTGRES: Final = ("postgresql://", "postgres://")


class DatabaseFile(msgspec.Struct, frozen=True):
    """What stands in `.moot/database.json`; nothing in it is secret."""

    schema: str


class _Address(msgspec.Struct, frozen=True):
    url: str


def open_database(path: Path, folder: KeyFolder, origin: str) -> PostgresStore:
    """The ledger of this workspace in its database; Unavailable without the address."""
    store = _load_postgres()
    schema = msgspec.json.decode((path / DATABASE).read_bytes(), type=DatabaseFile).schema
    place = folder.user_folder.ledger_folder(origin) / ADDRESS
    try:
        url = msgspec.json.decode(place.read_bytes(), type=_Address).url
    except (OSError, msgspec.DecodeError):
        raise Unavailable(
            "no_database_address",
            "this ledger lies in a database, and this key folder does not have its address",
            hint="only its keeper opens it; others join: `moot init --join INVITATION`",
        ) from None
    return store(url, schema)


def open_to_check(path: Path, folder: KeyFolder) -> SqliteReader | PostgresStore:
    """The ledger, to be looked at and not touched, wherever it lies."""
    if not is_in_database(path):
        return SqliteReader(path / LEDGER)
    origin = trust_files.read_trust_file(path / "trust.json").origin
    return open_database(path, folder, origin)


def move_to_database(path: Path, folder: KeyFolder, origin: str, url: str) -> int:
    """Copy the ledger from its file into a database, and go on there; returns how many events.

    Refused (`ledger_exists`) if the database has a ledger of this origin already.
    """
    _require_address(url)
    store = _load_postgres()
    schema = f"moot_{origin.rpartition('/')[2][:16]}"
    source, target = SqliteStore(path / LEDGER), store(url, schema, create=True)
    try:
        with source.write() as change:  # nobody else writes there meanwhile
            with target.read() as there:
                if there.newest_position():
                    raise _exists(schema)
            events = copy_ledger(change, target)
            own = folder.user_folder.ledger_folder(origin)
            replace_own_file(own / ADDRESS, msgspec.json.encode(_Address(url)), 0o600)
            replace_own_file(path / DATABASE, msgspec.json.encode(DatabaseFile(schema)))
            change.refuse_further()
    finally:
        source.close()
        target.close()
    _set_aside(path)
    return events


def move_to_file(path: Path, folder: KeyFolder, origin: str) -> int:
    """The way home: from the database into a file; returns how many events."""
    fresh = path / f"{LEDGER}.new"
    fresh.unlink(missing_ok=True)
    source = open_database(path, folder, origin)
    try:
        target = SqliteStore(fresh, create=True)
        try:
            with source.write() as change:
                events = copy_ledger(change, target)
                target.close()
                os.rename(fresh, path / LEDGER)
                (path / DATABASE).unlink()
                sync_folder(path)
                change.refuse_further()
        finally:
            target.close()
    finally:
        source.close()
    (folder.user_folder.ledger_folder(origin) / ADDRESS).unlink(missing_ok=True)
    return events


def _set_aside(path: Path) -> None:
    """Keep the file under another name: it holds all that was on record until now."""
    number = 1
    while (kept := path / f"{LEDGER}.moved-{number}").exists():
        number += 1
    os.rename(path / LEDGER, kept)
    for rest in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.rename(path / f"{LEDGER}{rest}", path / f"{kept.name}{rest}")
    sync_folder(path)


def _load_postgres() -> type[PostgresStore]:
    """Unavailable (`postgres_missing`) if the library that it needs is not installed."""
    try:
        from moot.store.postgres import PostgresStore
    except ImportError:
        raise Unavailable(
            "postgres_missing",
            "a ledger in PostgreSQL needs a library that is not installed",
            hint="in your clone of Moot: pipx install --force '.[postgres]', or"
            " pip install '.[postgres]'",
        ) from None
    return PostgresStore


def _require_address(url: str) -> None:
    if not url.startswith(POSTGRES):
        raise Malformed(
            "the address of a database begins with postgresql://",
            code="bad_address",
            hint="for example postgresql://moot@db.example/ledgers",
        )


def _exists(schema: str) -> Refused:
    return Refused(
        "ledger_exists",
        f"the database has a ledger in the schema {schema} already",
        hint=f"if it is an older copy, let the database's operator drop it: DROP SCHEMA {schema}"
        " CASCADE",
    )
