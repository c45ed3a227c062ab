"""A workspace whose ledger is kept elsewhere: `joined.json` says where, the key folder has the
machine's secret, and `ledger.db` is this machine's copy."""

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
    FetchedArtifacts,
    FollowingStore,
    KeeperConnection,
    LedgerCopy,
    Membership,
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


SECRET: Final = "machine.json"
FETCHING: Final = "ledger.db-fetching"


class JoinedFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is in `joined.json`; nothing in it is secret. `left_at`: the machine has left, and
    the copy is as it was then."""

    address: str
    fingerprint: str
    machine: str
    left_at: Millis | None = None


class MachineSecret(msgspec.Struct, frozen=True):
    """What is in the key folder's file for a machine that joined."""

    secret: str


def read_joined_file(place: Path) -> JoinedFile:
    try:
        return msgspec.json.decode((place / JOINED).read_bytes(), type=JoinedFile)
    except msgspec.DecodeError as error:
        raise Malformed(f"{JOINED} cannot be read: {error}", code="bad_joined_file") from None


def read_membership(place: Path, folder: KeyFolder, origin: str) -> Membership:
    """Where the keeper is, and this machine's secret; Refused if it has left."""
    try:
        file = read_joined_file(place)
        if file.left_at is not None:
            raise machine_left(file)
        secret_file = secret_place(folder, origin)
        kept = msgspec.json.decode(secret_file.read_bytes(), type=MachineSecret)
    except FileNotFoundError as error:
        raise Unavailable(
            "not_joined",
            f"this machine's secret is missing: {error.filename}",
            hint="join anew: `moot init --join INVITATION`",
        ) from None
    except msgspec.DecodeError as error:
        raise Malformed(f"{SECRET} cannot be read: {error}", code="bad_joined_file") from None
    return Membership(file.address, file.fingerprint, file.machine, bytes.fromhex(kept.secret))


def secret_place(folder: KeyFolder, origin: str) -> Path:
    """Where this machine's secret lies."""
    return folder.user_folder.ledger_folder(origin) / SECRET


def forget_membership(place: Path, folder: KeyFolder, origin: str, now: Millis) -> None:
    """The machine has left: its copy stays, as a copy of what it was a member of."""
    file = msgspec.structs.replace(read_joined_file(place), left_at=now)
    replace_own_file(place / JOINED, msgspec.json.encode(file))
    secret_place(folder, origin).unlink(missing_ok=True)


def machine_left(file: JoinedFile) -> Refused:
    return Refused(
        "machine_left",
        f"this machine has left the ledger that is kept at {file.address}: what is here is as it "
        "was then, and nothing is recorded",
        hint="join anew: `moot init --join INVITATION`; whoever keeps the ledger invites you",
    )


class JoinedLedger:
    """The copy, the connection to its keeper, and the engine over both."""

    def __init__(
        self, store: Store, artifacts: FileArtifacts, trust: LedgerTrust, membership: Membership
    ) -> None:
        self._inner = store
        self._path: Path | None = getattr(store, "path", None)
        self.connection = KeeperConnection(membership)
        self.machine = membership.machine
        self.store = FollowingStore(store)
        self._own_artifacts = artifacts
        self.artifacts = FetchedArtifacts(artifacts, self.connection)
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
            lambda: clock() + self.connection.offset,  # the keeper's time, as far as we can tell
            artifacts=cast("Artifacts", self.artifacts),
            **others,
        )
        copy = LedgerCopy(
            self._inner,
            self.connection,
            self._trust,
            engine.replay,
            on_checkpoint,
            self._own_artifacts.erase,
            None if self._path is None else SyncLock(self._path.with_name(FETCHING)),
        )
        engine.follow_with(copy)
        self.store.copy = copy
        return engine

    def follow(self) -> None:
        """Bring the copy up to date now; Unavailable if the keeper does not answer."""
        assert self.store.copy is not None
        self.store.copy.follow()

    @property
    def away(self) -> MootError | None:
        """Why what is shown may be old, if the keeper did not answer."""
        return None if self.store.copy is None else self.store.copy.away


# A ledger in PostgreSQL: `database.json` names the schema, and the key folder has the address,
# since that may hold a password. After a move the old place refuses every further write.

ADDRESS: Final = "database.json"
POSTGRES: Final = ("postgresql://", "postgres://")


class DatabaseFile(msgspec.Struct, frozen=True):
    """What is in `.moot/database.json`; nothing in it is secret."""

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
        from moot.hosts.postgres import PostgresStore
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


def check_keeper(place: Path, folder: KeyFolder, origin: str) -> None:
    """Ask the keeper of this machine's ledger whether it answers and knows the machine."""
    connection = KeeperConnection(read_membership(place, folder, origin))
    try:
        connection.open()
    finally:
        connection.close()
