"""Signs of life: the latest signed heartbeat, or the latest signed event, whichever is newer.

Neither is taken on trust: a heartbeat counts only if the agent's current key signed it, an event
only if it stands where the index says and is proved. Nothing here moves time back.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from moot.core.canonical import canonical
from moot.core.clock import Millis, from_text, to_text
from moot.core.errors import MootError
from moot.core.ledger import Heartbeat, View
from moot.core.machine import Sign
from moot.core.record import Record
from moot.core.registry.model import State as Registry
from moot.core.signing import HEARTBEAT, verify
from moot.engine.keys import Hand
from moot.engine.replay import Replay

SEEN = "seen"


class Beat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    agent: str
    at: str
    epoch: int
    kid: str
    origin: str


def heartbeat(hand: Hand, origin: str, now: Millis) -> Heartbeat:
    """A sign of life, signed."""
    who = hand.acting
    said = Beat(who.id, to_text(now), who.epoch, who.kid, origin)
    raw = canonical(msgspec.to_builtins(said))
    return Heartbeat(who.id, now, who.kid, raw, hand.signer.sign(HEARTBEAT, raw))


def signs_of(view: View, replay: Replay, names: Iterable[str]) -> dict[str, Sign]:
    """The latest proved sign of each; who has none is absent."""
    registry = replay.registry(view)
    found = ((name, sign_of(view, replay, registry, name)) for name in names)
    return {name: sign for name, sign in found if sign is not None}


def sign_of(view: View, replay: Replay, registry: Registry, name: str) -> Sign | None:
    signs = (_beat(view, registry, name), _event(view, replay, registry, name))
    return max((sign for sign in signs if sign is not None), key=_at, default=None)


def _at(sign: Sign) -> Millis:
    return sign.at


def _beat(view: View, registry: Registry, name: str) -> Sign | None:
    stored = view.heartbeat(name)
    if stored is None or not believed(registry, stored):
        return None
    return Sign(stored.at, heartbeat=stored.raw.decode(), signature=stored.signature.hex())


def believed(registry: Registry, stored: Heartbeat) -> bool:
    """Did its agent's current key really sign this heartbeat?"""
    agent = registry.agents.get(stored.agent)
    key = registry.valid_key(agent.kid) if agent is not None else None
    if key is None or key.kid != stored.kid:
        return False
    if not verify(bytes.fromhex(key.public), HEARTBEAT, stored.raw, stored.signature):
        return False
    try:
        said = msgspec.json.decode(stored.raw, type=Beat)
        at = from_text(said.at)
    except (msgspec.DecodeError, MootError):
        return False
    due = (stored.agent, key.epoch, key.kid, registry.origin, stored.at)
    return (said.agent, said.epoch, said.kid, said.origin, at) == due


def _event(view: View, replay: Replay, registry: Registry, name: str) -> Sign | None:
    """The event the index points at, if it is this agent's and its signature holds."""
    row = view.row(SEEN, name)
    agent = registry.agents.get(name)
    if row is None or agent is None:
        return None
    record = next(view.records(row.stream, after=row.seq - 1), None)
    if record is None or not _is_by(record, name, agent.epoch):
        return None
    try:
        replay.prove(record, registry)
    except MootError:
        return None
    return Sign(from_text(record.body.at), event=record.hash.hex())


def _is_by(record: Record, name: str, epoch: int) -> bool:
    try:
        actor = record.body.actor
    except MootError:
        return False
    return (actor.id, actor.epoch) == (name, epoch)
