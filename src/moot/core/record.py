"""One signed event: its body, its exact bytes, its hash. docs/format.md section 3.

The signed bytes are stored as they are and never encoded a second time. `seal` makes a record,
`Record` holds it, `Record.body` decodes it.
"""

# No `from __future__ import annotations`: msgspec would compile each annotation in every hook call.

import re
import struct
from typing import Any, Final, Literal

import msgspec

from moot.core.canonical import MAX_INT, check_members, encode_checked
from moot.core.errors import Malformed, Refused
from moot.core.sha256 import sha256
from moot.core.signing import EVENT, Signer, verify

MAX_BODY_BYTES: Final = 65_536
MAX_TEXT_BYTES: Final = 16_384
MAX_ARTIFACTS: Final = 256
MAX_ROLE, MAX_CORR, MAX_KEY, MAX_MEDIA_TYPE = 64, 128, 300, 127
_HASH: Final = re.compile(r"[0-9a-f]{64}\Z")
_size: Final = struct.Struct(">Q").pack  # eight bytes, big-endian
_HASH_PREFIX: Final = b"\x00" + _size(len(EVENT)) + EVENT


class Actor(msgspec.Struct, frozen=True, gc=False):
    """Who signed: the name, the number of its holder (`epoch`), the key id and the role."""

    id: str
    epoch: int
    kid: str
    role: str | None = None


class ArtifactRef(msgspec.Struct, frozen=True, gc=False):
    """An event's reference to stored bytes, by their hash."""

    sha256: str
    size: int
    media_type: str


class Body(msgspec.Struct, frozen=True, gc=False, kw_only=True, forbid_unknown_fields=True):
    """The fields of a signed event (LDG-020)."""

    v: Literal[1] = 1
    origin: str
    stream: str
    seq: int
    prev: str
    reg: int | None
    key: str | None
    type: str
    at: str
    actor: Actor
    cause: str | None = None
    corr: str | None = None
    data: dict[str, Any]
    artifacts: tuple[ArtifactRef, ...] = ()


_decode_body = msgspec.json.Decoder(Body).decode


def frame(*parts: bytes) -> bytes:
    """Join the parts, each after its length: different lists of parts never give equal bytes."""
    return b"".join([_size(len(part)) + part for part in parts])


def genesis(origin: str, stream: str) -> str:
    """Return `prev` of a stream's first event.

    It depends on ledger and stream, so a first event cannot be moved to another stream (LDG-023).
    """
    framed = frame(b"moot.genesis.v1", origin.encode(), stream.encode())
    return sha256(b"\x02" + framed).hexdigest()


def record_hash(body: bytes, kid: str, signature: bytes) -> bytes:
    """Return the hash that the next event cites as `prev`.

    It covers the signature too, so a signature can be neither removed nor replaced (LDG-022).
    """
    key = kid.encode()
    end = _size(len(signature))
    framed = (_HASH_PREFIX, _size(len(body)), body, _size(len(key)), key, end, signature)
    return sha256(b"".join(framed)).digest()


class Record:
    """A signed event as it is stored: body bytes and signature.

    The hash is computed and the body decoded on first use.
    """

    __slots__ = ("_body", "_hash", "kid", "raw", "seq", "signature", "stream")

    def __init__(self, stream: str, seq: int, kid: str, raw: bytes, signature: bytes) -> None:
        self.stream = stream
        self.seq = seq
        self.kid = kid
        self.raw = raw
        self.signature = signature
        self._hash: bytes | None = None
        self._body: Body | None = None

    @property
    def hash(self) -> bytes:
        known = self._hash
        if known is None:
            known = self._hash = record_hash(self.raw, self.kid, self.signature)
        return known

    def fix_hash(self, known: bytes) -> None:
        """Set the hash, for a record whose signature is not available before the commit."""
        self._hash = known

    @property
    def body(self) -> Body:
        if self._body is None:
            try:
                self._body = _decode_body(self.raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                place = f"{self.stream} event {self.seq}"
                problem = f"unreadable body: {error}"
                # LDG-026
                raise Malformed(problem, code="unreadable", where=place) from None
        return self._body

    def signed_by(self, public: bytes) -> bool:
        return verify(public, EVENT, self.raw, self.signature)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        return f"<Record {self.stream}#{self.seq}>"


def seal(body: Body, signer: Signer) -> Record:
    """Make a record: check the body, encode it once, and sign exactly those bytes (LDG-021)."""
    raw = encode_body(body)
    return Record(body.stream, body.seq, signer.kid, raw, signer.sign(EVENT, raw))


def encode_body(body: Body) -> bytes:
    """Return the bytes to sign.

    Malformed if a value has no canonical form or a field is out of range; Refused if the event is
    too large.
    """
    check_members(body.data, "data", depth=1)
    # LDG-025
    _check_fields(body)
    raw = encode_checked(body)
    if len(raw) > MAX_BODY_BYTES:  # LDG-024
        raise Refused(
            "too_large",
            f"this event would hold {len(raw)} bytes, the limit is {MAX_BODY_BYTES}",
            hint="put long text into a file: Moot stores the file and the event cites its hash",
        )
    return raw


def _check_fields(body: Body) -> None:
    """Check the fields that callers provide against docs/format.md section 3.

    A verifier would report an event that breaks these limits as tampered.
    """
    # LDG-025, LDG-080
    if body.actor.role is not None:
        _check_length("role", body.actor.role, MAX_ROLE)
    if body.key is not None:
        _check_length("key", body.key, MAX_KEY)
    if body.corr is not None:
        _check_length("corr", body.corr, MAX_CORR)
    if body.cause is not None and not _HASH.match(body.cause):
        raise Malformed("not the hash of an event", where="cause")
    if len(body.artifacts) > MAX_ARTIFACTS:
        raise Malformed(f"more than {MAX_ARTIFACTS} artifacts", where="artifacts")
    for ref in body.artifacts:
        _check_length("artifacts.media_type", ref.media_type, MAX_MEDIA_TYPE)
        if not _HASH.match(ref.sha256) or not 0 <= ref.size <= MAX_INT:
            raise Malformed("not the hash and size of an artifact", where="artifacts")


def _check_length(where: str, text: str, most: int) -> None:
    if not 1 <= len(text) <= most:
        raise Malformed(f"holds {len(text)} characters, not 1 to {most}", where=where)
