"""Facts about keys. docs/format.md section 4 is their contract; the field names are signed."""

from __future__ import annotations

from moot.core.machine import Event, KeyClass
from moot.core.registry.model import KeyEndorsement


class LedgerCreated(Event, frozen=True):
    """Event 0: the root key signs it and names the checkpoint key beside itself."""

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
    """The ledger goes on although it lacks `lost`, a checkpoint remembered elsewhere."""

    endorsement: KeyEndorsement | None
    lost: str
    reason: str


EVENTS = (
    LedgerCreated,
    KeyAdded,
    KeyRotated,
    KeyRevoked,
    AgentRetired,
    ArtifactErased,
    HistoryAccepted,
)
