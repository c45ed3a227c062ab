"""Signs of life: the latest signed heartbeat, or the latest signed event, whichever is newer.

Neither counts without proof: the agent's current key must have signed the heartbeat; the event must
be where the index says, with a valid signature.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from moot.core.canonical import canonical
from moot.core.clock import Millis, parse_time, to_text
from moot.core.errors import MootError, StoreFailed
from moot.core.ledger import Heartbeat, View
from moot.core.machine import SignOfLife
from moot.core.record import Record
from moot.core.registry.model import State as Registry
from moot.core.signing import HEARTBEAT, verify
from moot.engine.replay import Replay
from moot.engine.signers import Signatory

SEEN = "seen"


class HeartbeatText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The text of a heartbeat, which its agent signs."""

    agent: str
    at: str
    epoch: int
    kid: str
    origin: str


def make_heartbeat(signatory: Signatory, origin: str, now: Millis) -> Heartbeat:
    """Make a heartbeat for now, signed by the agent's key."""
    agent = signatory.acting
    text = HeartbeatText(agent.id, to_text(now), agent.epoch, agent.kid, origin)
    raw = canonical(msgspec.to_builtins(text))
    return Heartbeat(agent.id, now, agent.kid, raw, signatory.signer.sign(HEARTBEAT, raw))


def latest_signs(view: View, replay: Replay, names: Iterable[str]) -> dict[str, SignOfLife]:
    """Return the latest proved sign of life of each name that has one."""
    registry = replay.registry(view)
    signs = ((name, latest_sign(view, replay, registry, name)) for name in names)
    return {name: sign for name, sign in signs if sign is not None}


def latest_sign(view: View, replay: Replay, registry: Registry, name: str) -> SignOfLife | None:
    signs = (_sign_by_heartbeat(view, registry, name), _sign_by_event(view, replay, registry, name))
    return max((sign for sign in signs if sign), key=lambda sign: sign.at, default=None)


def _sign_by_heartbeat(view: View, registry: Registry, name: str) -> SignOfLife | None:
    stored = view.heartbeat(name)
    if stored is None or not is_genuine_heartbeat(registry, stored):
        return None
    return SignOfLife(stored.at, heartbeat=stored.raw.decode(), signature=stored.signature.hex())


def is_genuine_heartbeat(registry: Registry, stored: Heartbeat) -> bool:
    """Return whether the agent's current key signed this heartbeat and its text matches the row.

    StoreFailed (`newer_record`) if that key signed a text that we cannot read: an agent that runs a
    newer moot must not count as dead.
    """
    # LDG-070
    agent = registry.agents.get(stored.agent)
    key = registry.valid_key(agent.kid) if agent is not None else None
    if key is None or key.kid != stored.kid:
        return False
    if not verify(bytes.fromhex(key.public), HEARTBEAT, stored.raw, stored.signature):
        return False
    try:
        text = msgspec.json.decode(stored.raw, type=HeartbeatText)
        at = parse_time(text.at)
    except (msgspec.DecodeError, MootError):
        raise StoreFailed(
            "newer_record",
            f"the last heartbeat of {stored.agent} cannot be read",
            hint="update moot",
        ) from None
    expected = (stored.agent, key.epoch, key.kid, registry.origin, stored.at)
    return (text.agent, text.epoch, text.kid, text.origin, at) == expected


def _sign_by_event(view: View, replay: Replay, registry: Registry, name: str) -> SignOfLife | None:
    """Return the event that the index points at, if this agent wrote it with a valid signature."""
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
    return SignOfLife(parse_time(record.body.at), event=record.hash.hex())


def _is_by(record: Record, name: str, epoch: int) -> bool:
    try:
        actor = record.body.actor
    except MootError:
        return False
    return (actor.id, actor.epoch) == (name, epoch)


# When each agent was last seen, by unproved rows. Only the signs that are shown get proved: a
# forged row cannot make an agent look alive.


class _SeenRow(msgspec.Struct, frozen=True, gc=False):
    at: Millis


def read_claimed_times(view: View) -> dict[str, Millis]:
    """Return name -> claimed time. No proved sign of life is later than the claimed one."""
    times = _read_seen_times(view.values(SEEN))
    for name, at in view.heartbeat_times().items():
        times[name] = max(at, times.get(name, at))
    return times


def _read_seen_times(rows: dict[str, bytes]) -> dict[str, Millis]:
    """Return name -> time, without damaged rows; heartbeats cover those agents."""
    decode = msgspec.json.Decoder(_SeenRow).decode
    try:
        return {name: decode(value).at for name, value in rows.items()}
    except msgspec.DecodeError:
        return {name: row.at for name, value in rows.items() if (row := _read_row(value))}


def _read_row(value: bytes) -> _SeenRow | None:
    try:
        return msgspec.json.decode(value, type=_SeenRow)
    except msgspec.DecodeError:
        return None
