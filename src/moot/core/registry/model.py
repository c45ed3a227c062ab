"""The nouns: keys, the names they act for, and everything the ledger knows about both."""

from __future__ import annotations

from enum import StrEnum

import msgspec
from immutables import Map

from moot.core.clock import Millis
from moot.core.machine import KeyClass


class Ending(StrEnum):
    """Why a key no longer signs."""

    ROTATED = "rotated"
    REVOKED = "revoked"
    RETIRED = "retired"


class Endorsement(msgspec.Struct, frozen=True):
    """An existing key's consent to a new one."""

    kid: str
    sig: str


class Key(msgspec.Struct, frozen=True, array_like=True):
    """A public key, from the registry position it was added to the one it ended at."""

    kid: str
    name: str
    kind: KeyClass
    epoch: int
    public: str
    custodian: str
    added: int
    ended: int | None = None
    ending: Ending | None = None
    heads: str | None = None

    def valid_at(self, position: int) -> bool:
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
    """Before event 0 `origin` is empty; afterwards it never changes."""

    origin: str = ""
    root: str = ""
    checkpoint: str = ""
    clock: str = "system"
    custodian: str = ""
    position: int = -1
    agents: Map[str, Agent] = Map()
    keys: Map[str, Key] = Map()
    erased: Map[str, str] = Map()

    def key(self, kid: str, position: int | None = None) -> Key | None:
        """The key `kid` if it is valid at `position` (default: now)."""
        found = self.keys.get(kid)
        at = self.position if position is None else position
        return found if found is not None and found.valid_at(at) else None

    def holds(self, name: str, epoch: int) -> bool:
        """Does this holder of a name have it still?"""
        agent = self.agents.get(name)
        return agent is not None and agent.epoch == epoch and self.key(agent.kid) is not None

    def humans(self) -> list[Key]:
        """Human keys that sign now, the oldest first. There are few; agents may be many."""
        named = (agent for agent in self.agents.values() if agent.kind is KeyClass.HUMAN)
        keys = (self.key(agent.kid) for agent in named)
        return sorted((key for key in keys if key is not None), key=lambda key: key.added)
