"""Signs of life: the latest signed heartbeat, or the latest signed event, whichever is newer.

Neither is believed without proof: a heartbeat counts only if the agent's current key signed it, an
event only if it stands where the index says and its signature holds.
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

# No postponed annotations: msgspec would compile each of them anew in every hook.


SEEN = "seen"


class HeartbeatText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a heartbeat says, and its agent signs."""

    agent: str
    at: str
    epoch: int
    kid: str
    origin: str


def make_heartbeat(signatory: Signatory, origin: str, now: Millis) -> Heartbeat:
    """A heartbeat of this moment, signed by the agent's key."""
    who = signatory.acting
    beat = HeartbeatText(who.id, to_text(now), who.epoch, who.kid, origin)
    raw = canonical(msgspec.to_builtins(beat))
    return Heartbeat(who.id, now, who.kid, raw, signatory.signer.sign(HEARTBEAT, raw))


def latest_signs(view: View, replay: Replay, names: Iterable[str]) -> dict[str, SignOfLife]:
    """The latest proved sign of life of each; names that have none are left out."""
    registry = replay.registry(view)
    signs = ((name, latest_sign(view, replay, registry, name)) for name in names)
    return {name: sign for name, sign in signs if sign is not None}


def latest_sign(view: View, replay: Replay, registry: Registry, name: str) -> SignOfLife | None:
    signs = (_sign_by_heartbeat(view, registry, name), _sign_by_event(view, replay, registry, name))
    return max((sign for sign in signs if sign is not None), key=_time_of, default=None)


def _time_of(sign: SignOfLife) -> Millis:
    return sign.at


def _sign_by_heartbeat(view: View, registry: Registry, name: str) -> SignOfLife | None:
    stored = view.heartbeat(name)
    if stored is None or not is_genuine_heartbeat(registry, stored):
        return None
    return SignOfLife(stored.at, heartbeat=stored.raw.decode(), signature=stored.signature.hex())


def is_genuine_heartbeat(registry: Registry, stored: Heartbeat) -> bool:
    """Did the agent's current key sign this heartbeat, and does it say what the row says?

    StoreFailed (`newer_record`) if that key signed something that we cannot read: whoever runs a
    newer moot must not be taken for dead.
    """
    # LDG-070
    agent = registry.agents.get(stored.agent)
    key = registry.valid_key(agent.kid) if agent is not None else None
    if key is None or key.kid != stored.kid:
        return False
    if not verify(bytes.fromhex(key.public), HEARTBEAT, stored.raw, stored.signature):
        return False
    try:
        beat = msgspec.json.decode(stored.raw, type=HeartbeatText)
        at = parse_time(beat.at)
    except (msgspec.DecodeError, MootError):
        raise StoreFailed(
            "newer_record",
            f"the last heartbeat of {stored.agent} cannot be read",
            hint="update moot",
        ) from None
    expected = (stored.agent, key.epoch, key.kid, registry.origin, stored.at)
    return (beat.agent, beat.epoch, beat.kid, beat.origin, at) == expected


def _sign_by_event(view: View, replay: Replay, registry: Registry, name: str) -> SignOfLife | None:
    """The event that the index points at, if this agent wrote it and its signature holds."""
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


# When everyone was seen last, as unproved rows say: only those that are shown are proved. A forged
# row puts nobody on a list, only in line for a proof.


class _SeenRow(msgspec.Struct, frozen=True, gc=False):
    at: Millis


def read_claimed_times(view: View) -> dict[str, Millis]:
    """By name; no sign of life that can be proved is later than what is claimed here."""
    times = _read_seen_times(view.values(SEEN))
    for name, at in view.heartbeat_times().items():
        times[name] = max(at, times.get(name, at))
    return times


def _read_seen_times(rows: dict[str, bytes]) -> dict[str, Millis]:
    """Damaged ones are left out: then somebody's heartbeat, or last act, says when."""
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
