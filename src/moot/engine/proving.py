"""Is this record really by the one it names? Asked before anything that takes or runs.

The offline verifier in `verify/` answers the same question with code of its own.
"""

from __future__ import annotations

from moot.core.errors import Tampered
from moot.core.names import REGISTRY, SYSTEM
from moot.core.record import Record
from moot.core.registry.model import Ending, Key, State
from moot.core.signing import key_id
from moot.engine.keys import Trust


def prove(record: Record, registry: State, trust: Trust) -> None:
    """Tampered unless the named key was valid where its author stood, and signed these bytes."""
    body = record.body
    if record.stream == REGISTRY and record.seq == 0:
        _require(record, body.actor.kid == key_id(trust.root), "another root key")
        _require(record, record.signed_by(trust.root), "the root's signature does not hold")
        return
    key = registry.keys.get(body.actor.kid)
    position = body.reg
    if key is None or position is None or not _covers(key, position):
        raise _unproved(record, "its key was not valid there")
    named = (key.name, key.epoch) == (body.actor.id, body.actor.epoch)
    _require(record, named, "its key belongs to someone else")
    _require(record, key.ending is not Ending.REVOKED, "its key was revoked")
    public = bytes.fromhex(key.public)
    _require(record, record.signed_by(public), "the signature does not hold")


def _covers(key: Key, position: int) -> bool:
    return key.name == SYSTEM or key.valid_at(position)


def _require(record: Record, holds: bool, why: str) -> None:
    if not holds:
        raise _unproved(record, why)


def _unproved(record: Record, why: str) -> Tampered:
    return Tampered(
        f"{record.stream} event {record.seq} is not proved: {why}",
        code="unproved_record",
        stream=record.stream,
        seq=record.seq,
    )
