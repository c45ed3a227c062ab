"""One event (section 3): from the bytes of its line to a value, in the order of section 7.

Everything here depends on one line, the keys and the origin alone, so any process can do it; what
depends on the events before (steps 4 and 5) is left to the caller.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from moot.verify import canonical
from moot.verify import canonical as field_rules
from moot.verify.crypto import EVENT, decode_base64, frame_parts, pae_prefix, signature_holds
from moot.verify.verdict import StepFailure, quote_safely

# Keys are sorted and nothing is optional, so a canonical body is a fixed text around a few values.
# Matching that text checks form and fields at once, which halves the cost of a check. It recognises
# less than section 3 allows, never more: the rest is read the long way.


class EventParts(NamedTuple):
    """The values of a body that a check needs; `data` was checked and is dropped."""

    origin: str
    stream: str
    seq: int
    prev: str
    reg: int | None
    name: str
    epoch: int
    kid: str
    cites: tuple[tuple[str, int], ...]
    type: str


def recognise_body(payload: bytes) -> EventParts | None:
    """The parts of a body that is canonical and within section 3, or `None` if in doubt."""
    try:
        text = payload.decode("utf-8")
    except UnicodeDecodeError:
        return None
    head = _BEFORE_DATA(text)
    # The last one is the body's own: after it come no objects, and no string can hold a bare quote.
    split = text.rfind(',"key":')
    tail = _AFTER_DATA(text, split)
    if head is None or tail is None or not _is_data(text[head.end() : split]):
        return None
    epoch, name, kid, artifacts = head.groups()
    origin, prev, reg, seq, stream, _protocol, kind = tail.groups()
    cites = tuple([(sha256, int(size)) for sha256, size in _CITES(artifacts)]) if artifacts else ()
    if len(cites) > 256 or len(kind) > 96:
        return None
    return EventParts(origin, stream, int(seq), prev, int(reg), name, int(epoch), kid, cites, kind)


def _is_data(text: str) -> bool:
    """Section 3: `data` is an object; it stands one level deep in the body."""
    if not text.startswith("{"):
        return False
    try:
        canonical.parse_text(text, canonical.MAX_DEPTH - 1)
    except canonical.NotCanonical:
        return False
    return True


def _short_text_or_null(longest: int) -> str:
    """`null` or a string of 1 to `longest` characters, none of them escaped."""
    return rf'(?:null|"[^"\\\x00-\x1f]{{1,{longest}}}")'


_COUNT = "(?:0|[1-9][0-9]{0,14})"
_ARTIFACT = (
    rf'\{{"media_type":"[^"\\\x00-\x1f]{{1,127}}","sha256":"[0-9a-f]{{64}}","size":{_COUNT}\}}'
)
_BEFORE_DATA = re.compile(
    r'\{"actor":\{"epoch":([1-9][0-9]{0,14}),'
    r'"id":"(?=[a-z0-9-]{3,48}")([a-z0-9]+(?:-[a-z0-9]+)*)",'
    rf'"kid":"([0-9a-f]{{32}})","role":{_short_text_or_null(64)}\}},'
    rf'"artifacts":\[((?:{_ARTIFACT}(?:,{_ARTIFACT})*)?)\],'
    rf'"at":"{field_rules.MOMENT_EXPRESSION}","cause":(?:null|"[0-9a-f]{{64}}"),'
    rf'"corr":{_short_text_or_null(128)},"data":'
).match
_AFTER_DATA = re.compile(
    rf',"key":{_short_text_or_null(300)},"origin":"(moot\.ledger/[0-9a-f]{{32}})",'
    rf'"prev":"([0-9a-f]{{64}})","reg":({_COUNT}),"seq":({_COUNT}),'
    r'"stream":"(?!registry["/])((?P<protocol>[a-z]{1,32})(?:/[A-Za-z0-9._:@+~-]{1,200})?)",'
    r'"type":"((?P=protocol)\.[a-z][a-z0-9_]*)","v":1\}'
).fullmatch
_CITES = re.compile(r'"sha256":"([0-9a-f]{64})","size":([0-9]+)\}').findall


MAX_PAYLOAD: Final = 65_536
REGISTRY: Final = "registry"

# Base64 and hexadecimal need no escapes, so a canonical envelope has exactly one spelling.
_ENVELOPE = re.compile(
    rb'\{"payload":"([^"]*)","payloadType":"application/vnd\.moot\.event\.v1\+json",'
    rb'"signatures":\[\{"keyid":"([0-9a-f]{32})","sig":"([^"]{88})"\}\]\}\n'
).fullmatch
_MAX_PAYLOAD_TEXT = (MAX_PAYLOAD + 2) // 3 * 4
_PAE = pae_prefix(EVENT) + b"%d %b"
_HASHED = b"\x00" + frame_parts(EVENT)
_KID_LENGTH = (32).to_bytes(8, "big")
_SIGNATURE_LENGTH = (64).to_bytes(8, "big")


class OpenedEnvelope(NamedTuple):
    """A line of the second kind, opened and not yet believed."""

    payload: bytes
    keyid: str
    signature: bytes


# Section 9: what these say is followed in every bundle.
SEALED_TYPE: Final = "decision.answer_sealed"
CLOSED_TYPE: Final = "decision.seals_closed"
OPENED_TYPE: Final = "decision.answer_given"
ANSWER_TYPES: Final = frozenset({SEALED_TYPE, CLOSED_TYPE, OPENED_TYPE})


class ReadEvent(NamedTuple):
    """What the chain needs of an event whose steps 2 and 3 hold; small, to cross processes."""

    stream: str
    seq: int
    prev: str
    reg: int | None
    name: str
    epoch: int
    kid: str
    cites: tuple[tuple[str, int], ...]
    type: str
    hash: bytes
    key_is_known: bool
    body: dict[str, Any] | None


class LedgerKeys(NamedTuple):
    """What a process must know to read events: the ledger and the keys of its registry."""

    origin: str
    public_keys: Mapping[str, bytes]
    with_bodies: bool


def open_envelope(line: bytes) -> OpenedEnvelope:
    """Step 1 for an envelope, and the size limit of step 2."""
    match = _ENVELOPE(line)
    if match is None:
        raise StepFailure(1, "envelope_malformed", "this is not an event's envelope")
    text, keyid, signature_text = match.groups()
    if len(text) > _MAX_PAYLOAD_TEXT:
        raise _too_large()
    payload = decode_base64(text)
    signature = decode_base64(signature_text)
    if payload is None or signature is None or len(signature) != 64:
        raise StepFailure(1, "base64_malformed", "the payload or signature is not canonical base64")
    if len(payload) > MAX_PAYLOAD:
        raise _too_large()
    return OpenedEnvelope(payload, keyid.decode("ascii"), signature)


def _too_large() -> StepFailure:
    return StepFailure(2, "payload_too_large", f"the payload is larger than {MAX_PAYLOAD} bytes")


def read_event(line: bytes, table: LedgerKeys) -> ReadEvent:
    """Steps 1 to 3 for one envelope: size, signature over the bytes, canonical form, fields."""
    payload, keyid, signature = open_envelope(line)
    public = table.public_keys.get(keyid)
    if public is not None and not signature_holds(
        public, signature, _PAE % (len(payload), payload)
    ):
        raise StepFailure(2, "signature_invalid", f"the signature does not hold under key {keyid}")
    body = None
    parts = None if table.with_bodies else recognise_body(payload)
    if parts is None:
        body = read_body(payload)
        parts = parts_of(body)
    if parts.origin != table.origin:
        raise StepFailure(3, "origin_foreign", "the event belongs to another ledger", "origin")
    if parts.kid != keyid:
        raise StepFailure(
            3, "kid_mismatch", "the actor's key is not the one that signed", "actor.kid"
        )
    if body is None and parts.type in ANSWER_TYPES:
        body = read_body(payload)
    needed = table.with_bodies or parts.stream == REGISTRY or parts.type in ANSWER_TYPES
    kept = body if needed else None
    return ReadEvent(*parts[1:], event_hash(payload, keyid, signature), public is not None, kept)


def parts_of(body: dict[str, Any]) -> EventParts:
    """The parts of a body that was read the long way."""
    actor = body["actor"]
    return EventParts(
        origin=body["origin"],
        stream=body["stream"],
        seq=body["seq"],
        prev=body["prev"],
        reg=body["reg"],
        name=actor["id"],
        epoch=actor["epoch"],
        kid=actor["kid"],
        cites=tuple((cited["sha256"], cited["size"]) for cited in body["artifacts"]),
        type=body["type"],
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


def genesis_hash(origin: str, stream: str) -> str:
    """Section 3: the `prev` of a stream's event 0, so that no stream fits under another name."""
    framed = frame_parts(b"moot.genesis.v1", origin.encode(), stream.encode())
    return hashlib.sha256(b"\x02" + framed).hexdigest()


def read_body(payload: bytes) -> dict[str, Any]:
    """Step 3: a canonical payload with exactly the fields of section 3, each within its rule."""
    try:
        body = canonical.parse_canonical(payload)
    except canonical.NotCanonical as reason:
        raise StepFailure(3, "payload_not_canonical", f"the payload is {reason}") from reason
    wrong = field_rules.wrong_field(body, _BODY)
    if wrong is not None:
        raise StepFailure(
            3, "field_invalid", f"the field {quote_safely(wrong)} is against section 3", wrong
        )
    protocol = body["type"].partition(".")[0]
    if protocol != body["stream"].partition("/")[0]:
        raise StepFailure(
            3, "protocol_mismatch", "the type is of another protocol than the stream", "type"
        )
    return body  # type: ignore[no-any-return]


_is_artifact = field_rules.an_object(
    {
        "media_type": field_rules.text(1, 127),
        "sha256": field_rules.HEX_HASH,
        "size": field_rules.SIZE,
    }
)

_BODY: Final[Mapping[str, field_rules.Rule]] = {
    "v": field_rules.number(1, 1),
    "origin": field_rules.ORIGIN,
    "stream": field_rules.STREAM,
    "seq": field_rules.number(0),
    "prev": field_rules.HEX_HASH,
    "reg": field_rules.or_null(field_rules.number(0)),
    "key": field_rules.or_null(field_rules.text(1, 300)),
    "type": field_rules.pattern(r"[a-z]+\.[a-z][a-z0-9_]*", 96),
    "at": field_rules.MOMENT,
    "actor": field_rules.an_object(
        {
            "epoch": field_rules.EPOCH,
            "id": field_rules.is_name,
            "kid": field_rules.HEX_KID,
            "role": field_rules.or_null(field_rules.text(1, 64)),
        }
    ),
    "cause": field_rules.or_null(field_rules.HEX_HASH),
    "corr": field_rules.or_null(field_rules.text(1, 128)),
    "data": field_rules.is_object,
    "artifacts": lambda value: (
        type(value) is list and len(value) <= 256 and all(map(_is_artifact, value))
    ),
}
