"""Keys under which a signature proves nothing are refused (section 2)."""

from __future__ import annotations

import pytest
from nacl.bindings import crypto_core_ed25519_add, crypto_sign_seed_keypair

from moot.verify.crypto import is_weak_key, signature_holds

# Every encoding of the eight points of small order, canonical or not.
_SMALL_ORDER = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
]


@pytest.mark.parametrize("encoded", _SMALL_ORDER)
def test_a_point_of_small_order_is_weak_and_verifies_nothing(encoded: str) -> None:
    point = bytes.fromhex(encoded)
    assert is_weak_key(point)
    # R = A = the identity and S = 0 satisfies the equation for every message.
    assert not signature_holds(point, point + bytes(32), b"anything")


def test_what_is_no_point_or_not_canonical_is_weak() -> None:
    assert is_weak_key(b"\x02" + bytes(31))
    assert is_weak_key(b"\xff" * 32)


def test_an_honest_key_is_not_weak_until_a_small_part_is_added() -> None:
    public, _ = crypto_sign_seed_keypair(bytes(32))
    assert not is_weak_key(public)
    order_two = bytes.fromhex(_SMALL_ORDER[2])
    assert is_weak_key(crypto_core_ed25519_add(public, order_two))
