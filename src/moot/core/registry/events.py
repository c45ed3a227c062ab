"""Facts about keys. docs/format.md section 4 is their contract; the field names are signed."""

from __future__ import annotations

from moot.core.machine import Event, KeyClass
from moot.core.registry.model import Endorsement


class LedgerCreated(Event, frozen=True):
    checkpoint: str
    checkpoint_proof: str
    clock: str
    custodian: str
    root: str


class KeyAdded(Event, frozen=True, rename={"kind": "class"}):
    kind: KeyClass
    custodian: str
    endorsement: Endorsement | None
    epoch: int
    name: str
    proof: str
    public: str


class KeyRotated(Event, frozen=True, rename={"kind": "class"}):
    kind: KeyClass
    custodian: str
    endorsement: Endorsement | None
    epoch: int
    name: str
    proof: str
    public: str
    reason: str
    replaces: str


class KeyRevoked(Event, frozen=True):
    heads: str
    kid: str
    reason: str


class AgentRetired(Event, frozen=True):
    epoch: int
    name: str
    reason: str


class ArtifactErased(Event, frozen=True):
    reason: str
    sha256: str
    size: int


class HistoryAccepted(Event, frozen=True):
    endorsement: Endorsement | None
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
