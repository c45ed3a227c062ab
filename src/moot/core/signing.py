"""Ed25519 keys and DSSE signatures, with libsodium's strictness.

OpenSSL and others accept any message under the identity-point public key; libsodium does not,
and `public_key` refuses weak points before they are ever registered. docs/format.md section 2.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from moot.core import ed25519
from moot.core.errors import Malformed
from moot.core.sha256 import sha256

# LDG-012: one payload type for each kind of thing that is signed.
EVENT: Final = b"application/vnd.moot.event.v1+json"
KEY_PROOF: Final = b"application/vnd.moot.key-proof.v1+json"
ENDORSEMENT: Final = b"application/vnd.moot.key-endorsement.v1+json"
HEARTBEAT: Final = b"application/vnd.moot.heartbeat.v1+json"
SNAPSHOT: Final = b"application/vnd.moot.snapshot.v1"
RETURN: Final = b"application/vnd.moot.machine-return.v1+json"
# Not ours: by this one other tools know an in-toto statement.
IN_TOTO: Final = b"application/vnd.in-toto+json"

_FIELD_PRIME: Final = 2**255 - 19


def signed_bytes(payload_type: bytes, body: bytes) -> bytes:
    """What is signed, exactly: these bytes, DSSE's pre-authentication encoding (LDG-011).

    Only checkpoints are signed as they stand, in the form of a signed note (`core/note.py`).
    """
    return b"DSSEv1 %d %b %d %b" % (len(payload_type), payload_type, len(body), body)


@lru_cache(64)  # every command asks for the ledger's own
def key_id(public: bytes) -> str:
    return sha256(public).hexdigest()[:32]


def public_key(text: str) -> bytes:
    """The 32 raw bytes of a hex public key that is safe to trust, else Malformed."""
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        raw = b""
    if len(raw) != ed25519.PUBLIC_BYTES or raw.hex() != text:
        raise Malformed("a public key is 64 lower-case hex digits", code="bad_key")
    if is_weak(raw):
        raise Malformed("this public key is weak: anyone could sign for it", code="weak_key")
    return raw


def is_weak(public: bytes) -> bool:
    """Small order, off the curve, or not the canonical encoding of its point (LDG-010)."""
    y = int.from_bytes(public, "little") & (2**255 - 1)
    return y >= _FIELD_PRIME or not ed25519.is_valid_point(public)


class Signer:
    """A private key in memory. It signs under a payload type and never shows its secret."""

    __slots__ = ("_secret", "kid", "public")

    def __init__(self, seed: bytes) -> None:
        self.public, self._secret = ed25519.make_key_pair(seed)
        self.kid = key_id(self.public)

    @staticmethod
    def new_seed() -> bytes:
        return ed25519.new_seed()

    def sign(self, payload_type: bytes, body: bytes) -> bytes:
        return ed25519.sign(signed_bytes(payload_type, body), self._secret)

    def sign_raw(self, message: bytes) -> bytes:
        """Only for signed notes: their form is fixed elsewhere; no `signed_bytes` look like it."""
        return ed25519.sign(message, self._secret)

    def __repr__(self) -> str:
        return f"<Signer {self.kid}>"


def verify(public: bytes, payload_type: bytes, body: bytes, signature: bytes) -> bool:
    return ed25519.is_signed(signed_bytes(payload_type, body), signature, public)


def verify_raw(public: bytes, message: bytes, signature: bytes) -> bool:
    return ed25519.is_signed(message, signature, public)
