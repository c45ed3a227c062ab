"""What the engine asks of whoever holds private keys."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from moot.core.errors import NotFound, Refused
from moot.core.machine import Acting, KeyClass
from moot.core.names import SYSTEM
from moot.core.registry.model import Ending, Key, State
from moot.core.signing import Signer, key_id


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
    signer: Signer


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
    return Hand(acting, held.signer)


def hand_of_system(trust: Trust, keys: Keys) -> Hand | None:
    """The machine itself; None where its key is not at hand."""
    held = keys.find(SYSTEM, key_id(trust.root))
    if held is None:
        return None
    return Hand(Acting(SYSTEM, 1, held.signer.kid, KeyClass.SYSTEM), held.signer)


def _valid_key(registry: State, name: str) -> Key:
    agent = registry.agents.get(name)
    if agent is None:
        raise NotFound(
            "agent_not_found", f"no agent is called {name}", hint="`moot agent list` shows all"
        )
    key = registry.keys[agent.kid]
    if key.ended is not None:
        raise Refused(
            _ENDED[key.ending or Ending.ROTATED],
            f"{name} no longer signs: {key.ending}",
            hint="act as another agent; `moot agent register NAME` makes a new one",
        )
    return key


_ENDED = {
    Ending.RETIRED: "agent_retired",
    Ending.REVOKED: "key_revoked",
    Ending.ROTATED: "key_rotated",
}
