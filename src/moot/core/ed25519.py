"""Ed25519 by libsodium, through the C binding inside PyNaCl.

Importing `nacl.bindings` would also load the wrappers for the rest of libsodium. That takes longer
than importing all of our own modules that a hook needs before an edit.
"""

from __future__ import annotations

from typing import Final

try:
    from nacl._sodium import ffi, lib
except ImportError:  # if PyNaCl ever moves it, its own module still imports it
    from nacl.bindings.crypto_sign import ffi, lib  # type: ignore[attr-defined]

SEED_BYTES: Final = 32
PUBLIC_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
_SECRET_BYTES: Final = 64
_BYTES: Final = ffi.typeof("unsigned char[]")

if lib.sodium_init() == -1:
    raise AssertionError("libsodium cannot be initialised")


def new_seed() -> bytes:
    seed = ffi.new(_BYTES, SEED_BYTES)
    lib.randombytes(seed, SEED_BYTES)
    return bytes(ffi.buffer(seed))


def make_key_pair(seed: bytes) -> tuple[bytes, bytes]:
    """Return the public and the secret key of a seed."""
    if len(seed) != SEED_BYTES:
        raise ValueError(f"a seed has {SEED_BYTES} bytes")
    public, secret = ffi.new(_BYTES, PUBLIC_BYTES), ffi.new(_BYTES, _SECRET_BYTES)
    if lib.crypto_sign_seed_keypair(public, secret, seed) != 0:
        raise AssertionError("libsodium failed")
    return bytes(ffi.buffer(public)), bytes(ffi.buffer(secret))


def sign(message: bytes, secret: bytes) -> bytes:
    """Return the signature, without the message."""
    if len(secret) != _SECRET_BYTES:
        raise ValueError(f"a secret key has {_SECRET_BYTES} bytes")
    signed = ffi.new(_BYTES, SIGNATURE_BYTES + len(message))
    if lib.crypto_sign(signed, ffi.NULL, message, len(message), secret) != 0:
        raise AssertionError("libsodium failed")
    return bytes(ffi.buffer(signed, SIGNATURE_BYTES))


def is_signed(message: bytes, signature: bytes, public: bytes) -> bool:
    """True if the signature is valid. Checks the lengths first: libsodium would read past the
    end."""
    if len(public) != PUBLIC_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    signed = signature + message
    opened = ffi.new(_BYTES, len(signed))
    return bool(lib.crypto_sign_open(opened, ffi.NULL, signed, len(signed), public) == 0)


def is_valid_point(public: bytes) -> bool:
    """True for a point on the curve, in canonical form and in the main subgroup."""
    if not lib.PYNACL_HAS_CRYPTO_CORE_ED25519:
        raise AssertionError("this build of libsodium cannot tell a weak key")
    if len(public) != PUBLIC_BYTES:
        raise ValueError(f"a point has {PUBLIC_BYTES} bytes")
    return bool(lib.crypto_core_ed25519_is_valid_point(public) == 1)
