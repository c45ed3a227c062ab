"""Keys that anyone could sign for are refused; signatures are checked and never raise."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nacl import bindings

from moot.core import ed25519
from moot.core.errors import Malformed
from moot.core.signing import (
    ENDORSEMENT,
    EVENT,
    HEARTBEAT,
    KEY_PROOF,
    SNAPSHOT,
    Signer,
    is_weak,
    key_id,
    public_key,
    signed_bytes,
    verify,
    verify_raw,
)
from tests.core import ed25519_points

TYPES = (EVENT, KEY_PROOF, ENDORSEMENT, HEARTBEAT, SNAPSHOT)
SMALL = [ed25519_points.encode(point) for point in ed25519_points.small_order()]


def signer(number: int = 1) -> Signer:
    return Signer(hashlib.sha256(b"signing test %d" % number).digest())


def test_the_test_itself_knows_eight_points_of_small_order() -> None:
    assert len(SMALL) == 8
    assert ed25519_points.encode(ed25519_points.IDENTITY) in SMALL
    assert all(
        ed25519_points.times(8, point) == ed25519_points.IDENTITY
        for point in ed25519_points.small_order()
    )


@pytest.mark.requirement("LDG-010")
@pytest.mark.parametrize("public", SMALL, ids=bytes.hex)
def test_a_point_of_small_order_is_no_public_key(public: bytes) -> None:
    assert is_weak(public)
    with pytest.raises(Malformed) as caught:
        public_key(public.hex())
    assert caught.value.code == "weak_key"


@pytest.mark.requirement("LDG-010")
@pytest.mark.parametrize("public", ed25519_points.non_canonical(), ids=bytes.hex)
def test_a_point_written_in_a_second_way_is_no_public_key(public: bytes) -> None:
    assert is_weak(public)


@pytest.mark.requirement("LDG-010")
@pytest.mark.parametrize("public", ed25519_points.off_the_curve(), ids=bytes.hex)
def test_a_point_off_the_curve_is_no_public_key(public: bytes) -> None:
    assert is_weak(public)


@pytest.mark.requirement("LDG-010")
def test_a_key_with_a_component_of_small_order_is_no_public_key() -> None:
    good = ed25519_points.decode(signer().public)
    mixed = [
        ed25519_points.encode(ed25519_points.add(good, point))
        for point in ed25519_points.small_order()
    ]
    assert [is_weak(public) for public in mixed].count(False) == 1
    assert not is_weak(signer().public)


@given(st.binary(min_size=32, max_size=32))
def test_a_real_key_is_never_weak(seed: bytes) -> None:
    public = Signer(seed).public
    assert public_key(public.hex()) == public
    assert ed25519_points.times(8, ed25519_points.decode(public)) != ed25519_points.IDENTITY


@pytest.mark.parametrize(
    "text",
    [
        "",
        "00",
        signer().public.hex()[:-2],
        signer().public.hex() + "00",
        signer().public.hex().upper(),
        " " + signer().public.hex(),
        signer().public.hex()[:-2] + "zz",
        "é" * 64,
    ],
)
def test_a_public_key_is_64_lower_case_hex_digits(text: str) -> None:
    with pytest.raises(Malformed) as caught:
        public_key(text)
    assert caught.value.code == "bad_key"


@given(st.text(max_size=70) | st.text("0123456789abcdef", min_size=64, max_size=64))
def test_any_text_is_a_safe_key_or_malformed(text: str) -> None:
    try:
        raw = public_key(text)
    except Malformed:
        return
    assert raw.hex() == text


@pytest.mark.requirement("LDG-011")
def test_the_published_dsse_vector() -> None:
    body = b"hello world"
    expected = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    assert signed_bytes(b"http://example.com/HelloWorld", body) == expected


@pytest.mark.requirement("LDG-011")
@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        (b"", b"", b"DSSEv1 0  0 "),
        (b"t", b"", b"DSSEv1 1 t 0 "),
        (b"t 1", b"x 2 y", b"DSSEv1 3 t 1 5 x 2 y"),
        (b"t", b"\x00\xff\n", b"DSSEv1 1 t 3 \x00\xff\n"),
        ("é".encode(), "ü".encode(), b"DSSEv1 2 \xc3\xa9 2 \xc3\xbc"),
    ],
)
def test_lengths_are_counted_in_bytes_and_written_in_decimal(
    kind: bytes, body: bytes, expected: bytes
) -> None:
    assert signed_bytes(kind, body) == expected


@pytest.mark.requirement("LDG-011")
@given(
    st.binary(max_size=20), st.binary(max_size=20), st.binary(max_size=20), st.binary(max_size=20)
)
@example(b"a", b" 1 b", b"a 4", b"1 b")
def test_no_two_messages_share_an_encoding(
    kind: bytes, body: bytes, other_kind: bytes, other_body: bytes
) -> None:
    same = (kind, body) == (other_kind, other_body)
    assert (signed_bytes(kind, body) == signed_bytes(other_kind, other_body)) == same


def test_the_kid_is_the_first_half_of_the_hash_of_the_raw_key() -> None:
    public = signer().public
    assert key_id(public) == hashlib.sha256(public).digest()[:16].hex() == signer().kid


@pytest.mark.requirement("LDG-012")
@pytest.mark.parametrize("kind", TYPES)
def test_a_signature_holds_only_for_its_own_kind_of_thing(kind: bytes) -> None:
    signature = signer().sign(kind, b"body")
    held = [other for other in TYPES if verify(signer().public, other, b"body", signature)]
    assert held == [kind]


@given(st.binary(max_size=100), st.data())
def test_a_changed_bit_anywhere_breaks_a_signature(body: bytes, data: st.DataObject) -> None:
    signature = signer().sign(EVENT, body)
    assert verify(signer().public, EVENT, body, signature)
    parts = [signer().public, body, signature]
    which = data.draw(st.sampled_from([n for n, part in enumerate(parts) if part]))
    changed = bytearray(parts[which])
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    parts[which] = bytes(changed)
    assert not verify(parts[0], EVENT, parts[1], parts[2])


@given(st.binary(max_size=40), st.binary(max_size=100), st.binary(max_size=70))
@example(b"", b"", b"")
@example(bytes(32), b"", bytes(64))
def test_verifying_anything_at_all_gives_an_answer(
    public: bytes, body: bytes, signature: bytes
) -> None:
    assert verify(public, EVENT, body, signature) is False
    assert verify_raw(public, body, signature) is False


@pytest.mark.parametrize("kind", TYPES)
def test_a_key_of_the_wrong_length_never_verifies(kind: bytes) -> None:
    """Bytes beyond the end of a short key, or after a long one, must not be looked at."""
    ending_in_zero = next(s for s in map(signer, range(5000)) if s.public[-1] == 0)
    signature = ending_in_zero.sign(kind, b"body")
    assert verify(ending_in_zero.public, kind, b"body", signature)
    for public in (ending_in_zero.public[:31], ending_in_zero.public + b"z", b""):
        assert verify(public, kind, b"body", signature) is False


@pytest.mark.requirement("LDG-010")
@pytest.mark.parametrize("public", SMALL + ed25519_points.non_canonical(), ids=bytes.hex)
@pytest.mark.parametrize("scalar", [0, 1])
def test_no_forged_signature_holds_under_a_weak_key(public: bytes, scalar: int) -> None:
    """With R = identity and s = 0 the equation R = sB - hA holds for a weak A; still refused."""
    for point in SMALL:
        forged = point + scalar.to_bytes(32, "little")
        assert not verify(public, EVENT, b"anything", forged)


def test_a_signature_with_its_scalar_raised_by_the_order_is_refused() -> None:
    signature = signer().sign(EVENT, b"body")
    scalar = int.from_bytes(signature[32:], "little") + ed25519_points.ORDER
    raised = signature[:32] + scalar.to_bytes(32, "little")
    assert verify(signer().public, EVENT, b"body", signature)
    assert not verify(signer().public, EVENT, b"body", raised)


def test_a_signer_does_not_show_its_secret() -> None:
    seed = hashlib.sha256(b"secret").digest()
    shown = repr(Signer(seed))
    assert shown == f"<Signer {Signer(seed).kid}>"
    assert not hasattr(Signer(seed), "__dict__")


def test_fresh_seeds_differ() -> None:
    seeds = {Signer.new_seed() for _ in range(20)}
    assert len(seeds) == 20
    assert {len(seed) for seed in seeds} == {32}


@given(seed=st.binary(min_size=32, max_size=32), message=st.binary(max_size=200))
def test_keys_and_signatures_are_those_of_pynacl(seed: bytes, message: bytes) -> None:
    public, secret = bindings.crypto_sign_seed_keypair(seed)
    assert ed25519.make_key_pair(seed) == (public, secret)
    signature = ed25519.sign(message, secret)
    assert signature + message == bindings.crypto_sign(message, secret)
    assert ed25519.is_signed(message, signature, public)
    assert not ed25519.is_signed(message + b"x", signature, public)
    assert ed25519.is_valid_point(public)


def test_each_new_seed_is_another() -> None:
    seeds = {ed25519.new_seed() for _ in range(100)}
    assert len(seeds) == 100
    assert {len(seed) for seed in seeds} == {ed25519.SEED_BYTES}


@pytest.mark.parametrize("size", [0, 31, 33])
def test_lengths_that_libsodium_would_read_over_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        ed25519.make_key_pair(bytes(size))
    with pytest.raises(ValueError, match="32 bytes"):
        ed25519.is_valid_point(bytes(size))
    with pytest.raises(ValueError, match="64 bytes"):
        ed25519.sign(b"message", bytes(size))
    assert not ed25519.is_signed(b"message", bytes(64), bytes(size))
    assert not ed25519.is_signed(b"message", bytes(size), bytes(32))
