"""Keys and names of the registry, its commands and events, and the statements that keys sign."""

# No `from __future__ import annotations`: msgspec would compile each annotation in every hook call.

from enum import StrEnum
from typing import ClassVar

import msgspec
from immutables import Map

from moot.core.canonical import canonical
from moot.core.clock import Millis
from moot.core.errors import Malformed
from moot.core.machine import Command, Event, KeyClass
from moot.core.paged_map import PagedMap
from moot.core.record import ArtifactRef
from moot.core.signing import ENDORSEMENT, KEY_PROOF, Signer, public_key, verify


class KeyEnding(StrEnum):
    """Why a key no longer signs."""

    ROTATED = "rotated"
    REVOKED = "revoked"
    RETIRED = "retired"


class KeyEndorsement(msgspec.Struct, frozen=True):
    """An existing key's consent to a new one."""

    kid: str
    sig: str


class RegisteredKey(msgspec.Struct, frozen=True, array_like=True):
    """A public key, with the registry positions at which it was added and ended.

    `heads` is the hash of the heads that a revocation cites: signatures after these are void.
    """

    NOTED_FIELDS: ClassVar = ("kind", "ending")

    kid: str
    name: str
    kind: KeyClass
    epoch: int
    public: str
    custodian: str
    added: int
    ended: int | None = None
    ending: KeyEnding | None = None
    heads: str | None = None

    def is_valid_at(self, position: int) -> bool:
        """True from the position where the key was added until before the one where it ended
        (REG-31)."""
        return self.added <= position and (self.ended is None or position < self.ended)


class Agent(msgspec.Struct, frozen=True, array_like=True):
    """A name, its current holder (epoch) and that holder's key."""

    name: str
    kind: KeyClass
    epoch: int
    kid: str
    since: Millis
    retired: bool = False


class State(msgspec.Struct, frozen=True):
    """The state of the registry. `origin` is empty before event 0 and never changes after it.

    `position` is that of the newest event; `agents` are by name, `keys` by id; `erased` maps the
    hash of each erased artifact to the reason.
    """

    origin: str = ""
    root: str = ""
    checkpoint: str = ""
    clock: str = "system"
    custodian: str = ""
    position: int = -1
    agents: PagedMap[Agent] = PagedMap()
    keys: PagedMap[RegisteredKey] = PagedMap()
    erased: Map[str, str] = Map()

    def valid_key(self, kid: str, position: int | None = None) -> RegisteredKey | None:
        """Return the key `kid` if it is valid at `position` (default: now)."""
        key = self.keys.get(kid)
        at = self.position if position is None else position
        return key if key is not None and key.is_valid_at(at) else None

    def is_holder(self, name: str, epoch: int) -> bool:
        """True if holder number `epoch` still has the name and its key is valid."""
        agent = self.agents.get(name)
        return agent is not None and agent.epoch == epoch and self.valid_key(agent.kid) is not None

    def human_keys(self) -> list[RegisteredKey]:
        """Return the valid keys of people, oldest first."""
        people = (agent for agent in self.agents.values() if agent.kind is KeyClass.HUMAN)
        keys = (self.valid_key(agent.kid) for agent in people)
        return sorted((key for key in keys if key is not None), key=lambda key: key.added)


# Commands of the registry. Callers sign the proofs beforehand: no private key comes in here.


class CreateLedger(Command, frozen=True):
    """Begin a ledger with its root and checkpoint keys."""

    root: str
    checkpoint: str
    checkpoint_proof: str
    clock: str
    custodian: str


class AddKey(Command, frozen=True):
    """Register a new name with its key and the proof that the key is held."""

    name: str
    kind: KeyClass
    public: str
    custodian: str
    proof: str
    endorsement: KeyEndorsement | None = None
    epoch: int = 1


class RotateKey(Command, frozen=True):
    """Give a name a new key; the next epoch means: a new holder."""

    name: str
    kind: KeyClass
    public: str
    custodian: str
    proof: str
    epoch: int
    replaces: str
    reason: str
    endorsement: KeyEndorsement | None = None


class RevokeKey(Command, frozen=True):
    """Stop trusting a key; what it signed beyond the cited heads no longer counts."""

    kid: str
    reason: str
    heads: ArtifactRef


class RetireAgent(Command, frozen=True):
    """End an agent's work under its name; the name stays taken."""

    name: str
    reason: str = ""


class EraseArtifact(Command, frozen=True):
    """Remove an artifact's bytes and leave its hash."""

    sha256: str
    size: int
    reason: str


class AcceptHistory(Command, frozen=True):
    """Continue a ledger that lacks a checkpoint kept elsewhere."""

    lost: str
    reason: str
    endorsement: KeyEndorsement | None = None


COMMANDS = (
    *(CreateLedger, AddKey, RotateKey, RevokeKey, RetireAgent, EraseArtifact, AcceptHistory),
)


# Facts about keys. docs/format.md section 4 is their contract; the field names are
# signed.


class LedgerCreated(Event, frozen=True):
    """Event 0: the root key signs it and names the checkpoint key."""

    checkpoint: str
    checkpoint_proof: str
    clock: str
    custodian: str
    root: str


class KeyAdded(Event, frozen=True, rename={"kind": "class"}):
    """A new name, with its first key."""

    kind: KeyClass
    custodian: str
    endorsement: KeyEndorsement | None
    epoch: int
    name: str
    proof: str
    public: str


class KeyRotated(Event, frozen=True, rename={"kind": "class"}):
    """A name has a new key; if `epoch` grew, also a new holder."""

    kind: KeyClass
    custodian: str
    endorsement: KeyEndorsement | None
    epoch: int
    name: str
    proof: str
    public: str
    reason: str
    replaces: str


class KeyRevoked(Event, frozen=True):
    """The key `kid` is no longer trusted beyond `heads`, the hash of the cited artifact."""

    heads: str
    kid: str
    reason: str


class AgentRetired(Event, frozen=True):
    """The holder `epoch` of a name has ended its work; the name stays taken."""

    epoch: int
    name: str
    reason: str


class ArtifactErased(Event, frozen=True):
    """The bytes of an artifact were removed; its hash and size stay on record."""

    reason: str
    sha256: str
    size: int


class HistoryAccepted(Event, frozen=True):
    """The ledger continues although it lacks `lost`, a checkpoint remembered elsewhere."""

    endorsement: KeyEndorsement | None
    lost: str
    reason: str


EVENTS = (
    *(LedgerCreated, KeyAdded, KeyRotated, KeyRevoked),
    *(AgentRetired, ArtifactErased, HistoryAccepted),
)


# The statements that new keys and their endorsers sign (docs/format.md section 4). Each
# names the ledger, so its proof is not valid in another.

ORIGIN_PREFIX = "moot.ledger/"


def key_statement(
    *, origin: str, name: str, kind: KeyClass, epoch: int, public: str, custodian: str
) -> bytes:
    return canonical(
        {
            "class": str(kind),
            "custodian": custodian,
            "epoch": epoch,
            "name": name,
            "origin": origin,
            "public": public,
        }
    )


def loss_statement(*, origin: str, lost: str, reason: str) -> bytes:
    return canonical({"lost": lost, "origin": origin, "reason": reason})


def sign_proof(signer: Signer, statement: bytes) -> str:
    return signer.sign(KEY_PROOF, statement).hex()


def sign_endorsement(signer: Signer, statement: bytes) -> KeyEndorsement:
    return KeyEndorsement(kid=signer.kid, sig=signer.sign(ENDORSEMENT, statement).hex())


def is_proof_valid(public: str, statement: bytes, proof: str) -> bool:
    """True if the key is safe to use and signed the statement."""
    try:
        return verify(public_key(public), KEY_PROOF, statement, _signature(proof))
    except Malformed:
        return False


def is_endorsement_valid(state: State, statement: bytes, endorsement: KeyEndorsement) -> bool:
    """True if the endorsing key is known and signed. The rules check whether it may endorse."""
    key = state.keys.get(endorsement.kid)
    if key is None:
        return False
    return verify(bytes.fromhex(key.public), ENDORSEMENT, statement, _signature(endorsement.sig))


def _signature(text: str) -> bytes:
    """Decode a signature from lower-case hex; anything else gives no bytes, which never verify.

    With two spellings of one signature, two different records would verify for the same consent.
    """
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        return b""
    return raw if raw.hex() == text else b""
