"""One signed event: its body, its exact bytes, its hash. docs/format.md section 3.

The bytes that were signed are kept and are never encoded again. `seal` makes a record, `Record`
holds it, `Record.body` reads it back.
"""

# No postponed annotations: msgspec would compile each of them anew in every hook.

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
_size: Final = struct.Struct(">Q").pack  # eight bytes, the highest first
_HASHED: Final = b"\x00" + _size(len(EVENT)) + EVENT


class Actor(msgspec.Struct, frozen=True, gc=False):
    """Who signed: the name, which holder of that name, the key, and the part played."""

    id: str
    epoch: int
    kid: str
    role: str | None = None


class ArtifactRef(msgspec.Struct, frozen=True, gc=False):
    """A blob cited by an event, by its content."""

    sha256: str
    size: int
    media_type: str


class Body(msgspec.Struct, frozen=True, gc=False, kw_only=True, forbid_unknown_fields=True):
    """What is signed, field by field (LDG-020)."""

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
    """Length-prefixed concatenation: no two lists of parts give the same bytes."""
    return b"".join([_size(len(part)) + part for part in parts])


def genesis(origin: str, stream: str) -> str:
    """`prev` of a stream's first event: no event fits at the start of another stream (LDG-023)."""
    framed = frame(b"moot.genesis.v1", origin.encode(), stream.encode())
    return sha256(b"\x02" + framed).hexdigest()


def record_hash(body: bytes, kid: str, signature: bytes) -> bytes:
    """The hash that the next event names. It covers the signature too, so that a signature can be
    neither removed nor replaced (LDG-022)."""
    key = kid.encode()
    end = _size(len(signature))
    framed = (_HASHED, _size(len(body)), body, _size(len(key)), key, end, signature)
    return sha256(b"".join(framed)).digest()


class Record:
    """A signed event as it is stored: body bytes and signature; hash and body are made on first
    use."""

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
        """Take the hash from whoever has the signature, which is not shown before the commit."""
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
    """The bytes to sign; Malformed or Refused if the body breaks the profile or the limits."""
    check_members(body.data, "data", depth=1)
    # LDG-025
    _check_fields(body)
    raw = encode_checked(body)
    if len(raw) > MAX_BODY_BYTES:  # LDG-024
        raise Refused(
            "too_large",
            f"this event would hold {len(raw)} bytes, the limit is {MAX_BODY_BYTES}",
            hint="put long text into a file: it is stored beside the record and cited by its hash",
        )
    return raw


def _check_fields(body: Body) -> None:
    """Check the fields that callers provide by section 3: a checker would call others tampered."""
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
