"""Who signs: the private keys at hand, and the name each of them may act under.

A name alone is never enough to act. The registry says which key a name has now, and that private
key must be at hand.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from moot.core.errors import NotFound, Refused
from moot.core.machine import Acting, KeyClass
from moot.core.names import SYSTEM
from moot.core.record import Actor
from moot.core.registry.model import KeyEnding, RegisteredKey, State
from moot.core.signing import Signer, key_id

HANDS_KEPT = 4096  # beyond this many all are forgotten: it is only a cache


class Trust(NamedTuple):
    """What is believed beforehand: which ledger, and its two founding public keys."""

    origin: str
    root: bytes
    checkpoint: bytes


class Held(NamedTuple):
    """A private key at hand. `attended` says that a person unlocked it just now."""

    signer: Signer
    attended: bool = False


class Keys(Protocol):
    def find(self, name: str, kid: str) -> Held | None:
        """The private key `kid` of `name`, if it is here; may ask a person to unlock it."""
        ...


class Hand(NamedTuple):
    """Someone who can sign now: who they are by the registry, and their private key."""

    acting: Acting
    held: Held
    actor: Actor  # `acting` in the form that a record holds

    @property
    def signer(self) -> Signer:
        return self.held.signer


class Hands:
    """Remembers who has signed, so that the next command need not establish them again.

    What is remembered counts only while the registry is the very same state, for a key may have
    been revoked, and while the key at hand is the same, for a person may have left meanwhile.
    """

    def __init__(self, trust: Trust) -> None:
        self._trust = trust
        # (name, role) -> the registry as it was then, and who they were by it
        self._known: dict[tuple[str, str | None], tuple[State, Hand]] = {}

    def of(self, registry: State, keys: Keys, name: str, role: str | None) -> Hand:
        known = self._known.get((name, role))
        if known is not None:
            seen, signatory = known
            if seen is registry and keys.find(name, signatory.acting.kid) == signatory.held:
                return signatory
        signatory = self._establish(registry, keys, name, role)
        if len(self._known) >= HANDS_KEPT:
            self._known.clear()
        self._known[name, role] = (registry, signatory)
        return signatory

    def _establish(self, registry: State, keys: Keys, name: str, role: str | None) -> Hand:
        if name != SYSTEM:
            return hand_of(registry, keys, name, role)
        signatory = hand_of_system(self._trust, keys)
        if signatory is None:
            raise Refused(
                "key_missing",
                "the ledger's root key is not in this key folder",
                hint="let whoever ran `moot init` do this",
            )
        return signatory


def hand_of(registry: State, keys: Keys, name: str, role: str | None = None) -> Hand:
    """Who `name` is by the registry, with the private key that proves it; Refused without one."""
    key = _valid_key(registry, name)
    held = keys.find(name, key.kid)
    if held is None or held.signer.kid != key.kid:
        raise Refused(
            "key_missing",
            f"the key of {name} is not in this key folder",
            hint="set MOOT_KEYS to the folder that holds it, or act as another agent",
        )
    acting = Acting(key.name, key.epoch, key.kid, key.kind, role, held.attended)
    return Hand(acting, held, acting.as_actor())


def hand_of_system(trust: Trust, keys: Keys) -> Hand | None:
    """The ledger's own `system`; None if its root key is not at hand."""
    held = keys.find(SYSTEM, key_id(trust.root))
    if held is None:
        return None
    acting = Acting(SYSTEM, 1, held.signer.kid, KeyClass.SYSTEM)
    return Hand(acting, held, acting.as_actor())


def _valid_key(registry: State, name: str) -> RegisteredKey:
    agent = registry.agents.get(name)
    if agent is None:
        raise NotFound(
            "agent_not_found", f"no agent is called {name}", hint="`moot agent list` shows all"
        )
    key = registry.keys[agent.kid]
    if key.ended is not None:
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
