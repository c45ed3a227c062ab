"""Who signs: the private keys at hand, and the name each of them may act under.

A name alone is never enough to act. The registry says which key a name has now, and that private
key must be at hand.
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

SIGNATORIES_KEPT = 4096  # beyond this many all are forgotten: it is only a cache


class LedgerTrust(msgspec.Struct, frozen=True):
    """What is believed beforehand: which ledger, and its two founding public keys."""

    origin: str
    root: bytes
    checkpoint: bytes


class PrivateKey(msgspec.Struct, frozen=True):
    """A private key at hand. `attended` says that a person unlocked it just now."""

    signer: Signer
    attended: bool = False


class Keys(Protocol):
    def find(self, name: str, kid: str) -> PrivateKey | None:
        """The private key `kid` of `name`, if it is here; may ask a person to unlock it."""
        ...


class Signatory(msgspec.Struct, frozen=True):
    """Someone who can sign now: who they are by the registry, and their private key."""

    acting: VerifiedActor
    private_key: PrivateKey
    actor: Actor  # `acting` in the form that a record holds

    @property
    def signer(self) -> Signer:
        return self.private_key.signer


class Signatories:
    """Remembers who has signed, so that the next command need not establish them again.

    What is remembered counts only while the registry is the very same state, for a key may have
    been revoked, and while the key at hand is the same, for a person may have left meanwhile.
    """

    def __init__(self, trust: LedgerTrust) -> None:
        self._trust = trust
        # (name, role) -> the registry as it was then, and who they were by it
        self._known: dict[tuple[str, str | None], tuple[State, Signatory]] = {}

    def find(self, registry: State, keys: Keys, name: str, role: str | None) -> Signatory:
        known = self._known.get((name, role))
        if known is not None:
            seen, signatory = known
            if seen is registry and keys.find(name, signatory.acting.kid) == signatory.private_key:
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
                hint="let whoever ran `moot init` do this, outside of `moot run`",
            )
        return signatory


def find_signatory(registry: State, keys: Keys, name: str, role: str | None = None) -> Signatory:
    """Who `name` is by the registry, with the private key that proves it; Refused without one."""
    # LDG-040
    key = _valid_key(registry, name)
    held = keys.find(name, key.kid)
    if held is None or held.signer.kid != key.kid:
        raise Refused(
            "key_missing",
            f"the key of {name} is not in this key folder",
            hint=f"let {name} do it, where its key is: MOOT_KEYS names the folder",
        )
    # LDG-015: whether a person unlocked the key goes with whoever acts.
    acting = VerifiedActor(key.name, key.epoch, key.kid, key.kind, role, held.attended)
    return Signatory(acting, held, acting.as_actor())


def find_system_signatory(trust: LedgerTrust, keys: Keys) -> Signatory | None:
    """The ledger's own `system`; None if its root key is not at hand."""
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
            hint=f"`moot agent register {name}` makes it one; `moot agent list` shows all"
            if AGENT.match(name)
            else f"`moot agent list` shows all; an agent's name is {GRAMMAR}",
        )
    key = registry.keys[agent.kid]
    if key.ended is not None:  # LDG-041
        raise Refused(
            _ENDED[key.ending or KeyEnding.ROTATED],
            f"{name} no longer signs: {key.ending}",
            hint="act as another agent; `moot agent register NAME` makes a new one",
        )
    return key


_ENDED = {
    KeyEnding.RETIRED: "agent_retired",
    KeyEnding.REVOKED: "key_revoked",
    KeyEnding.ROTATED: "key_rotated",
}
