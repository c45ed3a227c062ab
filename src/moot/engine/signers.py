"""Who signs: the private keys of this process, and the names they act under.

To act under a name, a process needs the private key that the registry currently has for that name.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from moot.core.errors import NotFound, Refused
from moot.core.machine import KeyClass, VerifiedActor
from moot.core.names import AGENT, GRAMMAR, SYSTEM
from moot.core.record import Actor
from moot.core.registry.model import KeyEnding, RegisteredKey, State
from moot.core.signing import Signer, key_id

SIGNATORIES_KEPT = 4096  # above this the cache is cleared


class LedgerTrust(msgspec.Struct, frozen=True):
    """What a reader must know beforehand: the ledger's origin and its two founding public keys."""

    origin: str
    root: bytes
    checkpoint: bytes


class PrivateKey(msgspec.Struct, frozen=True):
    """A private key of this process. `attended`: a person unlocked it just now."""

    signer: Signer
    attended: bool = False


class Keys(Protocol):
    def find(self, name: str, kid: str) -> PrivateKey | None:
        """Return the private key `kid` of `name`, if it is here; may ask a person to unlock it."""
        ...


class Signatory(msgspec.Struct, frozen=True):
    """An actor who can sign now: the registry's entry and the private key."""

    acting: VerifiedActor
    private_key: PrivateKey
    actor: Actor  # `acting` as it is written into records

    @property
    def signer(self) -> Signer:
        return self.private_key.signer


class Signatories:
    """Caches signatories for the next command.

    An entry is valid only while the registry is the same state, since a key may have been revoked,
    and while the private key is the same, since a person may have left meanwhile.
    """

    def __init__(self, trust: LedgerTrust) -> None:
        self._trust = trust
        # (name, role) -> the registry then, and the signatory by it
        self._known: dict[tuple[str, str | None], tuple[State, Signatory]] = {}

    def find(self, registry: State, keys: Keys, name: str, role: str | None) -> Signatory:
        known = self._known.get((name, role))
        if known is not None:
            known_for, signatory = known
            held = keys.find(name, signatory.acting.kid)
            if known_for is registry and held == signatory.private_key:
                return signatory
        signatory = self._establish(registry, keys, name, role)
        if len(self._known) >= SIGNATORIES_KEPT:
            self._known.clear()
        self._known[name, role] = (registry, signatory)
        return signatory

    def _establish(self, registry: State, keys: Keys, name: str, role: str | None) -> Signatory:
        if name != SYSTEM:
            return find_signatory(registry, keys, name, role)
        signatory = find_system_signatory(self._trust, keys)
        if signatory is None:
            raise Refused(
                "key_missing",
                "the ledger's root key is not in this key folder",
                hint="run this as the user who ran `moot init`, outside of `moot run`",
            )
        return signatory


def find_signatory(registry: State, keys: Keys, name: str, role: str | None = None) -> Signatory:
    """Return `name` by the registry, with its private key; Refused without that key."""
    # LDG-040
    key = _valid_key(registry, name)
    held = keys.find(name, key.kid)
    if held is None or held.signer.kid != key.kid:
        raise Refused(
            "key_missing",
            f"the key of {name} is not in this key folder",
            hint=f"run this as {name}, with the key folder that has its key (MOOT_KEYS)",
        )
    # LDG-015: the actor carries whether a person unlocked the key.
    acting = VerifiedActor(key.name, key.epoch, key.kid, key.kind, role, held.attended)
    return Signatory(acting, held, acting.as_actor())


def find_system_signatory(trust: LedgerTrust, keys: Keys) -> Signatory | None:
    """Return the ledger's own `system`; None if its root key is not here."""
    held = keys.find(SYSTEM, key_id(trust.root))
    if held is None:
        return None
    acting = VerifiedActor(SYSTEM, 1, held.signer.kid, KeyClass.SYSTEM)
    return Signatory(acting, held, acting.as_actor())


def _valid_key(registry: State, name: str) -> RegisteredKey:
    agent = registry.agents.get(name)
    if agent is None:
        raise NotFound(
            "agent_not_found",
            f"no agent is called {name}",
            hint=f"`moot agent register {name}` registers it; `moot agent list` shows all"
            if AGENT.match(name)
            else f"`moot agent list` shows all; an agent's name is {GRAMMAR}",
        )
    key = registry.keys[agent.kid]
    if key.ended is not None:  # LDG-041
        raise Refused(
            _ENDED[key.ending or KeyEnding.ROTATED],
            f"{name} can no longer sign: its key is {key.ending}",
            hint="act as another agent; `moot agent register NAME` makes a new one",
        )
    return key


_ENDED = {
    KeyEnding.RETIRED: "agent_retired",
    KeyEnding.REVOKED: "key_revoked",
    KeyEnding.ROTATED: "key_rotated",
}
