"""The nouns: keys, the names they act for, and everything the ledger knows about both."""

# No postponed annotations: msgspec would compile each of them anew in every hook.

from enum import StrEnum
from typing import ClassVar

import msgspec
from immutables import Map

from moot.core.clock import Millis
from moot.core.machine import KeyClass
from moot.core.paged_map import PagedMap


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

    `heads` is the hash of the heads that a revocation cites: what the key signed beyond is void.
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
        """REG-31: from the position it was added at, up to and without the one it ended at."""
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
    """Everything the registry says. `origin` is empty before event 0 and never changes after it.

    `position` is the newest event's; `agents` are by name, `keys` by id; `erased` gives, for the
    hash of each erased artifact, the reason.
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
        """The key `kid` if it is valid at `position` (default: now)."""
        key = self.keys.get(kid)
        at = self.position if position is None else position
        return key if key is not None and key.is_valid_at(at) else None

    def is_holder(self, name: str, epoch: int) -> bool:
        """True if the holder number `epoch` still has the name, with a key that signs."""
        agent = self.agents.get(name)
        return agent is not None and agent.epoch == epoch and self.valid_key(agent.kid) is not None

    def human_keys(self) -> list[RegisteredKey]:
        """Human keys that sign now, the oldest first."""
        people = (agent for agent in self.agents.values() if agent.kind is KeyClass.HUMAN)
        keys = (self.valid_key(agent.kid) for agent in people)
        return sorted((key for key in keys if key is not None), key=lambda key: key.added)
