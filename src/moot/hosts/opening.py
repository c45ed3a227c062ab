"""Open a workspace whose ledger is kept elsewhere, at a keeper or in PostgreSQL.

At a keeper: `joined.json` has its address, the key folder the machine's secret, and `ledger.db` is
this machine's copy.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from moot.core.clock import Clock, Millis
from moot.core.errors import Malformed, MootError, Refused, Unavailable
from moot.engine.checkpoints import NewCheckpoint
from moot.engine.signers import Keys, LedgerTrust
from moot.hosts.joined_engine import JoinedEngine
from moot.hosts.replica import (
    KeeperConnection,
    LedgerCopy,
    Membership,
    RemoteArtifacts,
    SyncingStore,
)
from moot.hosts.sync_state import SyncLock
from moot.keys.folder import KeyFolder
from moot.store.files import replace_own_file, sync_folder
from moot.store.ledger_transfer import copy_ledger
from moot.store.sqlite import SqliteStore
from moot.store.sqlite.read_only import SqliteReader
from moot.workspace import trust as trust_files
from moot.workspace.find import DATABASE, JOINED, LEDGER, is_in_database

if TYPE_CHECKING:
    from moot.core.ledger import Store
    from moot.hosts.postgres import PostgresStore
    from moot.store.artifacts import Artifacts, FileArtifacts


SECRET_FILE: Final = "machine.json"
SYNC_LOCK: Final = "ledger.db-fetching"


class JoinedFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """The content of `joined.json`; nothing in it is secret. `left_at`: when the machine left; its
    copy is as it was then."""

    address: str
    fingerprint: str
    machine: str
    left_at: Millis | None = None


class MachineSecret(msgspec.Struct, frozen=True):
    """The content of a joined machine's file in its key folder."""

    secret: str


def read_joined_file(place: Path) -> JoinedFile:
    try:
        return msgspec.json.decode((place / JOINED).read_bytes(), type=JoinedFile)
    except msgspec.DecodeError as error:
        raise Malformed(f"{JOINED} cannot be read: {error}", code="bad_joined_file") from None


def read_membership(place: Path, folder: KeyFolder, origin: str) -> Membership:
    """Return the keeper's address and this machine's secret; Refused if the machine has left."""
    try:
        file = read_joined_file(place)
        if file.left_at is not None:
            raise machine_left(file)
        secret_file = secret_path(folder, origin)
        stored = msgspec.json.decode(secret_file.read_bytes(), type=MachineSecret)
    except FileNotFoundError as error:
        raise Unavailable(
            "not_joined",
            f"{error.filename}, this machine's secret, is missing",
            hint="join again: `moot init --join INVITATION`",
        ) from None
    except msgspec.DecodeError as error:
        raise Malformed(f"{SECRET_FILE} cannot be read: {error}", code="bad_joined_file") from None
    return Membership(file.address, file.fingerprint, file.machine, bytes.fromhex(stored.secret))


def secret_path(folder: KeyFolder, origin: str) -> Path:
    """Return the file of this machine's secret."""
    return folder.user_folder.ledger_folder(origin) / SECRET_FILE


def forget_membership(place: Path, folder: KeyFolder, origin: str, now: Millis) -> None:
    """Record that the machine has left, and delete its secret. Its copy stays readable."""
    file = msgspec.structs.replace(read_joined_file(place), left_at=now)
    replace_own_file(place / JOINED, msgspec.json.encode(file))
    secret_path(folder, origin).unlink(missing_ok=True)


def machine_left(file: JoinedFile) -> Refused:
    return Refused(
        "machine_left",
        f"this machine has left the ledger kept at {file.address}: its copy here is as it was then,"
        " and Moot records nothing in it",
        hint="join again: `moot invite` on the machine that keeps the ledger, then here"
        " `moot init --join INVITATION`",
    )


class JoinedLedger:
    """The copy, the connection to its keeper, and the engine over both."""

    def __init__(
        self, store: Store, artifacts: FileArtifacts, trust: LedgerTrust, membership: Membership
    ) -> None:
        self._local_store = store
        self._path: Path | None = getattr(store, "path", None)
        self.connection = KeeperConnection(membership)
        self.machine = membership.machine
        self.store = SyncingStore(store)
        self._local_artifacts = artifacts
        self.artifacts = RemoteArtifacts(artifacts, self.connection)
        self._trust = trust

    def make_engine(
        self,
        keys: Keys,
        clock: Clock,
        *,
        on_checkpoint: Callable[[NewCheckpoint], None],
        **others: Any,
    ) -> JoinedEngine:
        engine = JoinedEngine(
            cast("Store", self.store),
            keys,
            self._trust,
            lambda: clock() + self.connection.offset,  # our estimate of the keeper's time
            artifacts=cast("Artifacts", self.artifacts),
            **others,
        )
        copy = LedgerCopy(
            self._local_store,
            self.connection,
            self._trust,
            engine.replay,
            on_checkpoint,
            self._local_artifacts.erase,
            None if self._path is None else SyncLock(self._path.with_name(SYNC_LOCK)),
        )
        engine.attach_copy(copy)
        self.store.copy = copy
        return engine

    def sync(self) -> None:
        """Bring the copy up to date now; Unavailable if the keeper does not answer."""
        assert self.store.copy is not None
        self.store.copy.sync()

    @property
    def away(self) -> MootError | None:
        """Return why the copy may be stale: the error of the last sync, if it failed."""
        return None if self.store.copy is None else self.store.copy.away


# A ledger in PostgreSQL: `database.json` names the schema. The key folder has the address, which
# may contain a password. After a move the old store refuses every further write.

ADDRESS_FILE: Final = "database.json"
POSTGRES_SCHEMES: Final = ("postgresql://", "postgres://")


class DatabaseFile(msgspec.Struct, frozen=True):
    """The content of `.moot/database.json`; nothing in it is secret."""

    schema: str


class _Address(msgspec.Struct, frozen=True):
    url: str


def open_database(path: Path, folder: KeyFolder, origin: str) -> PostgresStore:
    """Open the ledger of this workspace in its database; Unavailable without the address."""
    store = _load_postgres()
    schema = msgspec.json.decode((path / DATABASE).read_bytes(), type=DatabaseFile).schema
    place = folder.user_folder.ledger_folder(origin) / ADDRESS_FILE
    try:
        url = msgspec.json.decode(place.read_bytes(), type=_Address).url
    except (OSError, msgspec.DecodeError):
        raise Unavailable(
            "no_database_address",
            "this ledger is in a database, and this key folder does not have its address",
            hint="only its keeper can open it; other machines join: `moot init --join INVITATION`",
        ) from None
    return store(url, schema)


def open_for_check(path: Path, folder: KeyFolder) -> SqliteReader | PostgresStore:
    """Open the ledger read-only, in its file or in its database."""
    if not is_in_database(path):
        return SqliteReader(path / LEDGER)
    origin = trust_files.read_trust_file(path / "trust.json").origin
    return open_database(path, folder, origin)


def move_to_database(path: Path, folder: KeyFolder, origin: str, url: str) -> int:
    """Move the ledger from its file into a database; return the number of events.

    Refused (`ledger_exists`) if the database has a ledger of this origin already.
    """
    _require_address(url)
    store = _load_postgres()
    schema = f"moot_{origin.rpartition('/')[2][:16]}"
    source, target = SqliteStore(path / LEDGER), store(url, schema, create=True)
    try:
        with source.write() as change:  # keeps other writers out meanwhile
            with target.read() as there:
                if there.newest_position():
                    raise _ledger_exists(schema)
            events = copy_ledger(change, target)
            own = folder.user_folder.ledger_folder(origin)
            replace_own_file(own / ADDRESS_FILE, msgspec.json.encode(_Address(url)), 0o600)
            replace_own_file(path / DATABASE, msgspec.json.encode(DatabaseFile(schema)))
            change.refuse_further()
    finally:
        source.close()
        target.close()
    _keep_old_file(path)
    return events


def move_to_file(path: Path, folder: KeyFolder, origin: str) -> int:
    """Move the ledger from the database back into a file; return the number of events."""
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
    (folder.user_folder.ledger_folder(origin) / ADDRESS_FILE).unlink(missing_ok=True)
    return events


def _keep_old_file(path: Path) -> None:
    """Rename the old file instead of deleting it: it holds everything recorded until now."""
    number = 1
    while (renamed := path / f"{LEDGER}.moved-{number}").exists():
        number += 1
    os.rename(path / LEDGER, renamed)
    for suffix in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.rename(path / f"{LEDGER}{suffix}", path / f"{renamed.name}{suffix}")
    sync_folder(path)


def _load_postgres() -> type[PostgresStore]:
    """Import the store; Unavailable (`postgres_missing`) if psycopg is not installed."""
    try:
        from moot.hosts.postgres import PostgresStore
    except ImportError:
        raise Unavailable(
            "postgres_missing",
            "a ledger in PostgreSQL needs psycopg, which is not installed",
            hint="in your clone of Moot: pipx install --force '.[postgres]', or"
            " pip install '.[postgres]'",
        ) from None
    return PostgresStore


def _require_address(url: str) -> None:
    if not url.startswith(POSTGRES_SCHEMES):
        raise Malformed(
            "a database address must begin with postgresql://",
            code="bad_address",
            hint="for example postgresql://moot@db.example/ledgers",
        )


def _ledger_exists(schema: str) -> Refused:
    return Refused(
        "ledger_exists",
        f"the database already has a ledger in the schema {schema}",
        hint="if it is an older copy, ask the database's operator to drop it:"
        f" DROP SCHEMA {schema} CASCADE",
    )


def check_keeper(place: Path, folder: KeyFolder, origin: str) -> None:
    """Ask the keeper of this machine's ledger whether it answers and knows the machine."""
    connection = KeeperConnection(read_membership(place, folder, origin))
    try:
        connection.open()
    finally:
        connection.close()
