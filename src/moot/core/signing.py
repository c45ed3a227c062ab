"""Ed25519 keys and DSSE signatures, checked as strictly as libsodium does.

With the identity point as public key, OpenSSL and others accept any message; libsodium does not.
`public_key` refuses such weak points before they can be registered. docs/format.md
section 2.
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
# Defined by in-toto, so that other tools recognise our statements.
IN_TOTO: Final = b"application/vnd.in-toto+json"

_FIELD_PRIME: Final = 2**255 - 19


def signed_bytes(payload_type: bytes, body: bytes) -> bytes:
    """Return the exact bytes to sign: DSSE's pre-authentication encoding (LDG-011).

    Checkpoints are the exception: their text is signed without it (`core/checkpoint_note.py`).
    """
    return b"DSSEv1 %d %b %d %b" % (len(payload_type), payload_type, len(body), body)


@lru_cache(64)  # every command needs the id of the ledger's key
def key_id(public: bytes) -> str:
    return sha256(public).hexdigest()[:32]


def public_key(text: str) -> bytes:
    """Decode a public key from hex. Malformed if it is not 32 bytes or a weak point."""
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
    """True for a point of small order, off the curve, or in a non-canonical encoding (LDG-010)."""
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
        """Sign a message without payload type; only for signed notes, whose format C2SP defines.

        No output of `signed_bytes` has that format, so neither signature can pass for the other.
        """
        return ed25519.sign(message, self._secret)

    def __repr__(self) -> str:
        return f"<Signer {self.kid}>"


def verify(public: bytes, payload_type: bytes, body: bytes, signature: bytes) -> bool:
    return ed25519.is_signed(signed_bytes(payload_type, body), signature, public)


def verify_raw(public: bytes, message: bytes, signature: bytes) -> bool:
    return ed25519.is_signed(message, signature, public)
