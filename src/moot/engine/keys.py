"""What the engine asks of whoever holds private keys."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from moot.core.errors import NotFound, Refused
from moot.core.machine import Acting, KeyClass
from moot.core.names import SYSTEM
from moot.core.record import Actor
from moot.core.registry.model import KeyEnding, RegisteredKey, State
from moot.core.signing import Signer, key_id

HANDS_KEPT = 4096


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
    """Someone ready to act: who they are by the registry, and the key to prove it."""

    acting: Acting
    held: Held
    actor: Actor  # `acting` as it stands in a record

    @property
    def signer(self) -> Signer:
        return self.held.signer


class Hands:
    """Those who have acted, ready again while the registry and their key at hand are the same."""

    def __init__(self, trust: Trust) -> None:
        self._trust = trust
        self._known: dict[tuple[str, str | None], tuple[State, Hand]] = {}

    def of(self, registry: State, keys: Keys, name: str, role: str | None) -> Hand:
        known = self._known.get((name, role))
        if known is not None:
            seen, hand = known
            if seen is registry and keys.find(name, hand.acting.kid) == hand.held:
                return hand
        hand = self._establish(registry, keys, name, role)
        if len(self._known) >= HANDS_KEPT:
            self._known.clear()
        self._known[name, role] = (registry, hand)
        return hand

    def _establish(self, registry: State, keys: Keys, name: str, role: str | None) -> Hand:
        if name != SYSTEM:
            return hand_of(registry, keys, name, role)
        hand = hand_of_system(self._trust, keys)
        if hand is None:
            raise Refused(
                "key_missing",
                "the ledger's root key is not in this key folder",
                hint="let whoever ran `moot init` do this",
            )
        return hand


def hand_of(registry: State, keys: Keys, name: str, role: str | None = None) -> Hand:
    """Establish `name` by its registered key; a name alone is never enough."""
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
    """The machine itself; None where its key is not at hand."""
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
