"""A workspace whose ledger is kept elsewhere: `joined.json` says where, the key folder has the
machine's secret, and `ledger.db` is this machine's copy."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from moot.core.clock import Clock
from moot.core.errors import Malformed, MootError, Refused, StoreFailed, Unavailable
from moot.engine.checkpoints import NewCheckpoint
from moot.engine.keys import Keys, LedgerTrust
from moot.keeper import questions as ask
from moot.keeper.copying import (
    FetchedArtifacts,
    FollowingStore,
    KeeperLine,
    LedgerCopy,
    Membership,
    keeper_away,
    keepers_clock,
)
from moot.keeper.joined_engine import JoinedEngine
from moot.keeper.line import LineBroken, connect
from moot.keeper.members import hash_code, joining_statement, prove_invitation
from moot.keys.folder import KeyFolder
from moot.store.files import sync_folder, write_new_file
from moot.store.sqlite import SqliteStore
from moot.workspace import trust as trust_files
from moot.workspace.find import FOLDER, JOINED
from moot.workspace.known_places import remember_place

if TYPE_CHECKING:
    from moot.core.ledger import Store
    from moot.store.artifacts import Artifacts, FileArtifacts

SECRET: Final = "machine.json"
JOIN_SECONDS: Final = 10.0


class JoinedFile(msgspec.Struct, frozen=True):
    """What stands in `joined.json`; nothing in it is secret."""

    address: str
    fingerprint: str
    machine: str


class _MachineSecret(msgspec.Struct, frozen=True):
    secret: str


class Invitation(msgspec.Struct, frozen=True):
    """What `moot invite` prints, as one word: ADDRESS#FINGERPRINT#ID#CODE."""

    address: str
    fingerprint: str
    id: str
    code: str

    @property
    def text(self) -> str:
        return f"{self.address}#{self.fingerprint}#{self.id}#{self.code}"


def read_invitation(text: str) -> Invitation:
    parts = text.strip().split("#")
    if len(parts) != 4 or not all(parts):
        raise Malformed(
            "this is no invitation",
            code="bad_invitation",
            hint="`moot invite` prints one, where the ledger is kept: take the whole line",
        )
    return Invitation(*parts)


def read_membership(place: Path, folder: KeyFolder, origin: str) -> Membership:
    """Where the keeper is, and this machine's secret."""
    try:
        file = msgspec.json.decode((place / JOINED).read_bytes(), type=JoinedFile)
        secret_file = folder.user_folder.ledger_folder(origin) / SECRET
        kept = msgspec.json.decode(secret_file.read_bytes(), type=_MachineSecret)
    except FileNotFoundError as error:
        raise Unavailable(
            "not_joined",
            f"this machine's secret is missing: {error.filename}",
            hint="join anew: `moot init --join INVITATION`",
        ) from None
    except msgspec.DecodeError as error:
        raise Malformed(f"{JOINED} cannot be read: {error}", code="bad_joined_file") from None
    return Membership(file.address, file.fingerprint, file.machine, bytes.fromhex(kept.secret))


class JoinedLedger:
    """The copy, the line to its keeper, and the engine over both."""

    def __init__(
        self, store: Store, artifacts: FileArtifacts, trust: LedgerTrust, membership: Membership
    ) -> None:
        self._inner = store
        self.line = KeeperLine(membership)
        self.machine = membership.machine
        self.store = FollowingStore(store)
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
        copy = LedgerCopy(self._inner, self.line, self._trust, engine.replay, on_checkpoint)
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


def join_workspace(
    root: Path, folder: KeyFolder, invitation: Invitation, machine: str, repository: str
) -> bool:
    """Make `.moot/` in `root` with a copy of the ledger that is kept elsewhere; False if there is
    one. A workspace is whole or absent, whenever the process dies."""
    place = root / FOLDER
    if place.exists():
        return False
    folder.require_own("this machine's secret")
    answer = _ask_to_join(invitation, folder.custodian, machine, repository)
    trust_file = trust_files.parse_trust_file(answer.trust)
    origin = trust_file.origin
    secret = msgspec.json.encode(_MachineSecret(answer.secret.hex()))
    own = folder.ledger_folder(origin)
    if (own / "trust.json").exists() and not (own / SECRET).exists():
        raise Refused(
            "same_key_folder",
            "this key folder is the one of the machine that keeps the ledger",
            hint="another machine has a key folder of its own; MOOT_KEYS names one",
        )
    own.mkdir(parents=True, exist_ok=True, mode=0o700)
    (own / SECRET).unlink(missing_ok=True)
    write_new_file(own / SECRET, secret, 0o600)
    with suppress(FileExistsError):
        write_new_file(own / "trust.json", answer.trust, 0o600)
    fresh = root / f"{FOLDER}.new-{secrets.token_hex(6)}"
    try:
        fresh.mkdir(mode=0o755)
        SqliteStore(fresh / "ledger.db", create=True).close()
        (fresh / "artifacts").mkdir()
        write_new_file(fresh / ".gitignore", b"*\n")
        write_new_file(fresh / "trust.json", answer.trust)
        joined = JoinedFile(invitation.address, invitation.fingerprint, machine)
        write_new_file(fresh / JOINED, msgspec.json.encode(joined))
        os.rename(fresh, place)
        sync_folder(root)
    except OSError as error:
        if place.exists():
            return False
        raise StoreFailed(
            "workspace_not_created",
            f"no workspace could be made in {root}: {error.strerror or error}",
            hint="check space and permissions there",
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    remember_place(folder.path, root, origin)
    return True


def _ask_to_join(
    invitation: Invitation, custodian: str, machine: str, repository: str
) -> ask.Joined:
    statement = joining_statement(machine, custodian, repository)
    proof = prove_invitation(hash_code(invitation.code), statement)
    question = ask.Join(ask.VERSION, machine, custodian, repository, invitation.id, proof)
    try:
        line = connect(invitation.address, invitation.fingerprint)
        try:
            line.send(ask.encode(question), JOIN_SECONDS)
            answer = ask.decode_answer(line.receive(JOIN_SECONDS))
        finally:
            line.close()
    except LineBroken as error:
        raise keeper_away(invitation.address, str(error)) from None
    if isinstance(answer, ask.Failed):
        raise ask.raise_failure(answer)
    if not isinstance(answer, ask.Joined):
        raise StoreFailed("bad_answer", "the keeper answered something else", hint="try again")
    return answer
