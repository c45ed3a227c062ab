"""Signs of life: signed, latest only, never moving time back. One of the two side tables.

A heartbeat is believed only if the agent's current key signed it; any signed event counts as a
sign of life as well (the protocol that cares looks at both).
"""

from __future__ import annotations

import msgspec

from moot.core.canonical import canonical
from moot.core.clock import Millis, from_text, to_text
from moot.core.errors import MootError
from moot.core.ledger import Heartbeat, View
from moot.core.registry.model import State as Registry
from moot.core.signing import HEARTBEAT, verify
from moot.engine.engine import Engine
from moot.engine.keys import hand_of


class Beat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    agent: str
    at: str
    epoch: int
    kid: str
    origin: str


def beat(engine: Engine, name: str) -> Millis:
    """Say that `name` is alive; returns the time now kept (which may be a later one)."""
    hand = hand_of(engine.registry(), engine.keys, name)
    now = engine.clock()
    said = Beat(name, to_text(now), hand.acting.epoch, hand.acting.kid, engine.trust.origin)
    raw = canonical(msgspec.to_builtins(said))
    signature = hand.signer.sign(HEARTBEAT, raw)
    with engine.store.write() as change:
        kept = change.put_heartbeat(Heartbeat(name, now, hand.acting.kid, raw, signature))
        known = None if kept else change.heartbeat(name)
    return known.at if known is not None else now


def last_beat(view: View, registry: Registry, name: str) -> Millis | None:
    """When `name` last said it was alive; None if never, or if what is stored is forged."""
    stored = view.heartbeat(name)
    return None if stored is None else believed(registry, stored)


def believed(registry: Registry, stored: Heartbeat) -> Millis | None:
    """The time of a heartbeat that its agent's current key really signed."""
    agent = registry.agents.get(stored.agent)
    key = registry.key(agent.kid) if agent is not None else None
    if key is None or key.kid != stored.kid:
        return None
    if not verify(bytes.fromhex(key.public), HEARTBEAT, stored.raw, stored.signature):
        return None
    try:
        said = msgspec.json.decode(stored.raw, type=Beat)
        at = from_text(said.at)
    except (msgspec.DecodeError, MootError):
        return None
    due = (stored.agent, key.epoch, key.kid, registry.origin, stored.at)
    return at if (said.agent, said.epoch, said.kid, said.origin, at) == due else None
