"""What may be asked of the registry. Signatures arrive made: no private key comes in here."""

from __future__ import annotations

from moot.core.machine import Command, KeyClass
from moot.core.record import ArtifactRef
from moot.core.registry.model import KeyEndorsement


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
    """Go on with a ledger that lacks a checkpoint kept elsewhere."""

    lost: str
    reason: str
    endorsement: KeyEndorsement | None = None


COMMANDS = (
    CreateLedger,
    AddKey,
    RotateKey,
    RevokeKey,
    RetireAgent,
    EraseArtifact,
    AcceptHistory,
)
