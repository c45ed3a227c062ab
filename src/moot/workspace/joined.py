"""A workspace whose ledger is kept elsewhere: `joined.json` says where, the key folder has the
machine's secret, and `ledger.db` is this machine's copy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from moot.core.clock import Clock, Millis
from moot.core.errors import Malformed, MootError, Refused, Unavailable
from moot.engine.checkpoints import NewCheckpoint
from moot.engine.keys import Keys, LedgerTrust
from moot.keeper.copying import (
    FetchedArtifacts,
    FollowingStore,
    KeeperLine,
    LedgerCopy,
    Membership,
    keepers_clock,
)
from moot.keeper.joined_engine import JoinedEngine
from moot.keeper.one_fetches import OneFetches
from moot.keys.folder import KeyFolder
from moot.store.files import replace_own_file
from moot.workspace.find import JOINED

if TYPE_CHECKING:
    from moot.core.ledger import Store
    from moot.store.artifacts import Artifacts, FileArtifacts

SECRET: Final = "machine.json"
FETCHING: Final = "ledger.db-fetching"


class JoinedFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """What stands in `joined.json`; nothing in it is secret. `left_at`: the machine has left, and
    the copy is as it was then."""

    address: str
    fingerprint: str
    machine: str
    left_at: Millis | None = None


class MachineSecret(msgspec.Struct, frozen=True):
    """What stands in the key folder's file for a machine that joined."""

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
    """The copy, the line to its keeper, and the engine over both."""

    def __init__(
        self, store: Store, artifacts: FileArtifacts, trust: LedgerTrust, membership: Membership
    ) -> None:
        self._inner = store
        self._path: Path | None = getattr(store, "path", None)
        self.line = KeeperLine(membership)
        self.machine = membership.machine
        self.store = FollowingStore(store)
        self._own_artifacts = artifacts
        self.artifacts = FetchedArtifacts(artifacts, self.line)
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
            keepers_clock(self.line, clock),
            artifacts=cast("Artifacts", self.artifacts),
            **others,
        )
        copy = LedgerCopy(
            self._inner,
            self.line,
            self._trust,
            engine.replay,
            on_checkpoint,
            self._own_artifacts.erase,
            None if self._path is None else OneFetches(self._path.with_name(FETCHING)),
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
