"""Was this record really signed by the one it names? Asked before commands that take or run.

The offline verifier in `verify/` answers the same question with code of its own.
"""

from __future__ import annotations

from moot.core.errors import Tampered
from moot.core.machine import KeyClass
from moot.core.names import REGISTRY
from moot.core.record import Record
from moot.core.registry.model import KeyEnding, RegisteredKey, State
from moot.core.signing import key_id
from moot.engine.heads import CitedHeads
from moot.engine.keys import LedgerTrust

# The only events of the registry that count without the root key. docs/format.md section 4.
_BY_HUMANS = ("registry.key_revoked", "registry.artifact_erased")


def prove(record: Record, registry: State, trust: LedgerTrust, heads: CitedHeads) -> None:
    """Tampered unless the named key signed these bytes and was valid at the position of the
    registry that the author named."""
    body = record.body
    if record.stream == REGISTRY and record.seq == 0:
        _require(record, body.actor.kid == key_id(trust.root), "another root key")
        _require(record, record.signed_by(trust.root), "the root's signature does not hold")
        return
    key = registry.keys.get(body.actor.kid)
    if key is None or not _covers(key, body.reg, registry.position):
        raise _unproved(record, "its key was not valid there")
    named = (key.name, key.epoch) == (body.actor.id, body.actor.epoch)
    _require(record, named, "its key belongs to someone else")
    _require(record, _may_write(key, record), "its key may not write this")
    _require(record, _counts(key, record, heads), "its key was revoked")
    public = bytes.fromhex(key.public)
    _require(record, record.signed_by(public), "the signature does not hold")


def _covers(key: RegisteredKey, position: int | None, newest: int) -> bool:
    # LDG-041
    return position is not None and position <= newest and key.is_valid_at(position)


def _may_write(key: RegisteredKey, record: Record) -> bool:
    """Only the root key signs the registry; a person's key may revoke and erase there (LDG-040)."""
    if record.stream != REGISTRY or key.kind is KeyClass.SYSTEM:
        return True
    return key.kind is KeyClass.HUMAN and record.body.type in _BY_HUMANS


def _counts(key: RegisteredKey, record: Record, heads: CitedHeads) -> bool:
    # LDG-042
    if key.ending is not KeyEnding.REVOKED:
        return True
    return record.seq <= heads.last_counted(key.heads or "", record.stream)


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
