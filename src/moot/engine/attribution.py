"""Check that the actor whom a record names signed it, before commands that take or run something.

The offline verifier in `verify/` checks the same with separate code.
"""

from __future__ import annotations

import msgspec

from moot.core.errors import NotFound, Tampered
from moot.core.machine import KeyClass
from moot.core.names import REGISTRY
from moot.core.record import Actor, Record
from moot.core.registry.model import KeyEnding, RegisteredKey, State
from moot.core.signing import key_id
from moot.engine.signers import LedgerTrust
from moot.store.artifacts import Artifacts

# Events of a revoked key count up to the heads that its revocation cites; if that artifact is
# missing or unreadable, none counts. docs/format.md section 4.

_decode = msgspec.json.Decoder(dict[str, tuple[int, str]]).decode
_NONE = -1


class CitedHeads:
    """Reads each cited artifact once; there is one for each revocation."""

    def __init__(self, artifacts: Artifacts | None) -> None:
        self._artifacts = artifacts
        # hash of an artifact -> its content: stream -> (seq, hash) of its newest event then
        self._known: dict[str, dict[str, tuple[int, str]]] = {}

    def last_counted(self, sha256: str, stream: str) -> int:
        """Return the last position of `stream` that counts; -1 if none does."""
        if sha256 not in self._known:
            heads = self._read(sha256)
            if heads is None:
                return _NONE
            self._known[sha256] = heads
        return self._known[sha256].get(stream, (_NONE, ""))[0]

    def _read(self, sha256: str) -> dict[str, tuple[int, str]] | None:
        if self._artifacts is None:
            return None
        try:
            return _decode(b"".join(self._artifacts.chunks(sha256)))
        except (NotFound, Tampered, msgspec.DecodeError, UnicodeDecodeError):
            return None


AUTHORS_KEPT = 4096  # above this the cache is cleared
# The only registry events that count without the root key. docs/format.md section 4.
_BY_HUMANS = ("registry.key_revoked", "registry.artifact_erased")


class Prover:
    """Proves records of one ledger, verifying each signature.

    Caches authors' keys while the registry is the same state: few authors write many records.
    """

    def __init__(self, trust: LedgerTrust, heads: CitedHeads) -> None:
        self._trust = trust
        self._heads = heads
        # A registry and, valid for it: (stream, registry position, author) -> public key. One
        # value, since threads may share it.
        self._known: tuple[State | None, dict[tuple[str, int | None, Actor], bytes]] = (None, {})

    def prove(self, record: Record, registry: State) -> None:
        """Raise Tampered unless the named key signed these bytes and was valid at the registry
        position that the author named."""
        if record.stream == REGISTRY and record.seq == 0:
            kid, root = record.body.actor.kid, self._trust.root
            _require(record, kid == key_id(root), "another root key")
            _require(record, record.signed_by(root), "the root key's signature is invalid")
            return
        known_registry, publics = self._known
        if known_registry is not registry or len(publics) >= AUTHORS_KEPT:
            publics = {}
            self._known = registry, publics
        body = record.body
        author = (record.stream, body.reg, body.actor)
        public = publics.get(author)
        if public is None:
            key = _find_key(record, registry, self._heads)
            public = bytes.fromhex(key.public)
            if record.stream != REGISTRY and key.ending is not KeyEnding.REVOKED:
                publics[author] = public  # else validity depends on more of the record
        _require(record, record.signed_by(public), "the signature is invalid")


def _find_key(record: Record, registry: State, heads: CitedHeads) -> RegisteredKey:
    """Return the key that a record names; Tampered unless it was allowed to sign it."""
    body = record.body
    key = registry.keys.get(body.actor.kid)
    if key is None or not _covers(key, body.reg, registry.position):
        raise _unproved(record, "its key was not valid at that time")
    named = (key.name, key.epoch) == (body.actor.id, body.actor.epoch)
    _require(record, named, "its key belongs to another name")
    _require(record, _may_write(key, record), "its key may not write this")
    _require(record, _counts(key, record, heads), "its key was revoked")
    return key


def _covers(key: RegisteredKey, position: int | None, newest: int) -> bool:
    # LDG-041
    return position is not None and position <= newest and key.is_valid_at(position)


def _may_write(key: RegisteredKey, record: Record) -> bool:
    """Return whether the key may write this: only the root key signs the registry, except that a
    person's key may revoke and erase there (LDG-040)."""
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
