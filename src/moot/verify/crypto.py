"""The building blocks of section 2: kid, PAE, frame, signature, weak keys, canonical base64."""

from __future__ import annotations

import binascii
import hashlib
from typing import Final

from nacl.bindings import crypto_core_ed25519_is_valid_point, crypto_sign_open
from nacl.exceptions import BadSignatureError

EVENT: Final = b"application/vnd.moot.event.v1+json"
KEY_PROOF: Final = b"application/vnd.moot.key-proof.v1+json"
KEY_ENDORSEMENT: Final = b"application/vnd.moot.key-endorsement.v1+json"


def key_id(public: bytes) -> str:
    """The name of a public key."""
    return hashlib.sha256(public).hexdigest()[:32]


def pae_prefix(kind: bytes) -> bytes:
    """The part of PAE(kind, body) that does not depend on the body."""
    return b"DSSEv1 %d %b " % (len(kind), kind)


def signed_bytes(kind: bytes, body: bytes) -> bytes:
    """The same as in `core/signing.py`, written a second time: body, bound to its kind."""
    return b"%b%d %b" % (pae_prefix(kind), len(body), body)


def frame_parts(*parts: bytes) -> bytes:
    """The parts, each behind its length, so that no two lists of parts give the same bytes."""
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def signature_holds(public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the 64 bytes are a signature of the message under the 32 bytes of the key."""
    try:
        crypto_sign_open(signature + message, public)
    except BadSignatureError:
        return False
    return True


def is_weak_key(public: bytes) -> bool:
    """Whether the key is not the canonical encoding of a point of the large prime order.

    Under a key of small order some signatures hold for every message. A key with a part of small
    order, which no honest generator makes, is refused with them.
    """
    # LDG-010
    return not crypto_core_ed25519_is_valid_point(public)


def decode_base64(text: bytes) -> bytes | None:
    """The bytes of canonical base64, or `None`: what is written again must be the same text."""
    try:
        data = binascii.a2b_base64(text)
    except binascii.Error:
        return None
    return data if binascii.b2a_base64(data, newline=False) == text else None
