"""One event (section 3): from the bytes of its line to a value, in the order of section 7.

Everything here depends on one line, the keys and the origin alone, so any process can do it; what
depends on the events before (steps 4 and 5) is left to the caller.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from moot.verify import canonical, fields
from moot.verify.crypto import EVENT, frame, holds, pae_prefix, unbase64
from moot.verify.failure import Bad, shown
from moot.verify.template import Parts, recognise

MAX_PAYLOAD: Final = 65_536
REGISTRY: Final = "registry"

# Base64 and hexadecimal need no escapes, so a canonical envelope has exactly one spelling.
_ENVELOPE = re.compile(
    rb'\{"payload":"([^"]*)","payloadType":"application/vnd\.moot\.event\.v1\+json",'
    rb'"signatures":\[\{"keyid":"([0-9a-f]{32})","sig":"([^"]{88})"\}\]\}\n'
).fullmatch
_MAX_PAYLOAD_TEXT = (MAX_PAYLOAD + 2) // 3 * 4
_PAE = pae_prefix(EVENT) + b"%d %b"
_HASHED = b"\x00" + frame(EVENT)
_KID_LENGTH = (32).to_bytes(8, "big")
_SIGNATURE_LENGTH = (64).to_bytes(8, "big")


class Envelope(NamedTuple):
    """A line of the second kind, opened and not yet believed."""

    payload: bytes
    keyid: str
    signature: bytes


class Event(NamedTuple):
    """What the chain needs of an event whose steps 2 and 3 hold; small, to cross processes."""

    stream: str
    seq: int
    prev: str
    reg: int | None
    name: str
    epoch: int
    kid: str
    cites: tuple[tuple[str, int], ...]
    hash: bytes
    known: bool
    body: dict[str, Any] | None


class Table(NamedTuple):
    """What a process must know to read events: the ledger and the keys of its registry."""

    origin: str
    publics: Mapping[str, bytes]
    with_bodies: bool


def open_envelope(line: bytes) -> Envelope:
    """Step 1 for an envelope, and the size limit of step 2."""
    match = _ENVELOPE(line)
    if match is None:
        raise Bad(1, "envelope_malformed", "this is not an event's envelope")
    text, keyid, signature_text = match.groups()
    if len(text) > _MAX_PAYLOAD_TEXT:
        raise _too_large()
    payload = unbase64(text)
    signature = unbase64(signature_text)
    if payload is None or signature is None or len(signature) != 64:
        raise Bad(1, "base64_malformed", "the payload or signature is not canonical base64")
    if len(payload) > MAX_PAYLOAD:
        raise _too_large()
    return Envelope(payload, keyid.decode("ascii"), signature)


def _too_large() -> Bad:
    return Bad(2, "payload_too_large", f"the payload is larger than {MAX_PAYLOAD} bytes")


def read_event(line: bytes, table: Table) -> Event:
    """Steps 1 to 3 for one envelope: size, signature over the bytes, canonical form, fields."""
    payload, keyid, signature = open_envelope(line)
    public = table.publics.get(keyid)
    if public is not None and not holds(public, signature, _PAE % (len(payload), payload)):
        raise Bad(2, "signature_invalid", f"the signature does not hold under key {keyid}")
    body = None
    parts = None if table.with_bodies else recognise(payload)
    if parts is None:
        body = read_body(payload)
        parts = parts_of(body)
    if parts.origin != table.origin:
        raise Bad(3, "origin_foreign", "the event belongs to another ledger", "origin")
    if parts.kid != keyid:
        raise Bad(3, "kid_mismatch", "the actor's key is not the one that signed", "actor.kid")
    kept = body if table.with_bodies or parts.stream == REGISTRY else None
    return Event(*parts[1:], event_hash(payload, keyid, signature), public is not None, kept)


def parts_of(body: dict[str, Any]) -> Parts:
    """The parts of a body that was read the long way."""
    actor = body["actor"]
    return Parts(
        origin=body["origin"],
        stream=body["stream"],
        seq=body["seq"],
        prev=body["prev"],
        reg=body["reg"],
        name=actor["id"],
        epoch=actor["epoch"],
        kid=actor["kid"],
        cites=tuple((cited["sha256"], cited["size"]) for cited in body["artifacts"]),
    )


def event_hash(payload: bytes, keyid: str, signature: bytes) -> bytes:
    """Section 3: the hash covers the signature, so that it can be neither stripped nor swapped."""
    framed = b"".join(
        (
            _HASHED,
            len(payload).to_bytes(8, "big"),
            payload,
            _KID_LENGTH,
            keyid.encode("ascii"),
            _SIGNATURE_LENGTH,
            signature,
        )
    )
    return hashlib.sha256(framed).digest()


def genesis(origin: str, stream: str) -> str:
    """Section 3: the `prev` of a stream's event 0, so that no stream fits under another name."""
    framed = frame(b"moot.genesis.v1", origin.encode(), stream.encode())
    return hashlib.sha256(b"\x02" + framed).hexdigest()


def read_body(payload: bytes) -> dict[str, Any]:
    """Step 3: a canonical payload with exactly the fields of section 3, each within its rule."""
    try:
        body = canonical.parse(payload)
    except canonical.NotCanonical as reason:
        raise Bad(3, "payload_not_canonical", f"the payload is {reason}") from reason
    wrong = fields.wrong_field(body, _BODY)
    if wrong is not None:
        raise Bad(3, "field_invalid", f"the field {shown(wrong)} is against section 3", wrong)
    protocol = body["type"].partition(".")[0]
    if protocol != body["stream"].partition("/")[0]:
        raise Bad(3, "protocol_mismatch", "the type is of another protocol than the stream", "type")
    return body  # type: ignore[no-any-return]


_is_artifact = fields.an_object(
    {"media_type": fields.text(1, 127), "sha256": fields.HEX_HASH, "size": fields.SIZE}
)

_BODY: Final[Mapping[str, fields.Rule]] = {
    "v": fields.number(1, 1),
    "origin": fields.ORIGIN,
    "stream": fields.STREAM,
    "seq": fields.number(0),
    "prev": fields.HEX_HASH,
    "reg": fields.or_null(fields.number(0)),
    "key": fields.or_null(fields.text(1, 300)),
    "type": fields.pattern(r"[a-z]+\.[a-z][a-z0-9_]*", 96),
    "at": fields.MOMENT,
    "actor": fields.an_object(
        {
            "epoch": fields.EPOCH,
            "id": fields.is_name,
            "kid": fields.HEX_KID,
            "role": fields.or_null(fields.text(1, 64)),
        }
    ),
    "cause": fields.or_null(fields.HEX_HASH),
    "corr": fields.or_null(fields.text(1, 128)),
    "data": fields.is_object,
    "artifacts": lambda value: (
        type(value) is list and len(value) <= 256 and all(map(_is_artifact, value))
    ),
}
