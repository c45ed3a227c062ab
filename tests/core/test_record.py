"""Sealed events: what their hash covers, what their body may hold, what is refused."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.canonical import canonical, parse_canonical
from moot.core.errors import Malformed, MootError, Refused
from moot.core.record import (
    MAX_ARTIFACTS,
    MAX_BODY_BYTES,
    Actor,
    ArtifactRef,
    Body,
    Record,
    frame,
    genesis,
    record_hash,
    seal,
)
from moot.core.signing import EVENT, Signer, signed_bytes, verify_raw

SIGNER = Signer(hashlib.sha256(b"record test").digest())
ORIGIN = "moot.ledger/" + "a" * 32
REF = ArtifactRef("b" * 64, 3, "text/plain")


def body(**changed: Any) -> Body:
    whole: dict[str, Any] = {
        "origin": ORIGIN,
        "stream": "example/today",
        "seq": 0,
        "prev": genesis(ORIGIN, "example/today"),
        "reg": 0,
        "key": None,
        "type": "example.errand_asked",
        "at": "2026-02-18T16:00:00.000Z",
        "actor": Actor("amber-otter", 1, SIGNER.kid),
        "data": {"id": "e1"},
    }
    return Body(**{**whole, **changed})


def by_hand(kind: bytes, raw: bytes, kid: str, signature: bytes) -> bytes:
    """Section 3 of the format page, spelled out."""
    parts = [kind, raw, kid.encode("ascii"), signature]
    framed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hashlib.sha256(b"\x00" + framed).digest()


@pytest.mark.requirement("LDG-020")
def test_a_sealed_body_is_canonical_json_with_exactly_the_named_fields() -> None:
    sealed = seal(body(artifacts=(REF,)), SIGNER)
    told = parse_canonical(sealed.raw)
    assert sorted(told) == sorted(
        [
            "v",
            "origin",
            "stream",
            "seq",
            "prev",
            "reg",
            "key",
            "type",
            "at",
            "actor",
            "cause",
            "corr",
            "data",
            "artifacts",
        ]
    )
    assert told["v"] == 1
    assert told["actor"] == {"epoch": 1, "id": "amber-otter", "kid": SIGNER.kid, "role": None}
    assert told["artifacts"] == [{"media_type": "text/plain", "sha256": "b" * 64, "size": 3}]


@pytest.mark.requirement("LDG-021")
def test_the_signature_is_over_the_exact_bytes_under_the_events_own_type() -> None:
    sealed = seal(body(), SIGNER)
    assert verify_raw(SIGNER.public, signed_bytes(EVENT, sealed.raw), sealed.signature)
    assert sealed.signed_by(SIGNER.public)
    assert not sealed.signed_by(Signer(bytes(32)).public)


@pytest.mark.requirement("LDG-022")
def test_the_hash_is_the_one_the_format_page_spells_out() -> None:
    sealed = seal(body(), SIGNER)
    assert sealed.hash == by_hand(EVENT, sealed.raw, SIGNER.kid, sealed.signature)
    assert record_hash(sealed.raw, sealed.kid, sealed.signature) == sealed.hash


@pytest.mark.requirement("LDG-022")
def test_the_hash_covers_the_body_the_key_and_the_signature() -> None:
    sealed = seal(body(), SIGNER)
    raw, signature = sealed.raw, sealed.signature
    others = [
        Record("example/today", 0, sealed.kid, raw + b" ", signature),
        Record("example/today", 0, "0" * 32, raw, signature),
        Record("example/today", 0, sealed.kid, raw, signature[:-1] + b"\x00"),
        Record("example/today", 0, sealed.kid, raw, b""),
        # The same bytes cut elsewhere between the parts.
        Record("example/today", 0, sealed.kid + signature[:1].hex(), raw, signature[1:]),
    ]
    hashes = {sealed.hash, *(other.hash for other in others)}
    assert len(hashes) == 6
    assert all(sealed != other for other in others)


def test_a_record_without_its_signature_has_the_hash_from_its_signer() -> None:
    sealed = seal(body(), SIGNER)
    unshown = Record(sealed.stream, sealed.seq, sealed.kid, sealed.raw, b"")
    unshown.fix_hash(sealed.hash)
    assert unshown.hash == sealed.hash


def test_records_are_equal_by_their_hash() -> None:
    sealed = seal(body(), SIGNER)
    same = Record(sealed.stream, sealed.seq, sealed.kid, sealed.raw, sealed.signature)
    assert same == sealed
    assert hash(same) == hash(sealed)
    assert sealed != "not a record"


@pytest.mark.requirement("LDG-023")
def test_genesis_is_the_one_the_format_page_spells_out() -> None:
    parts = [b"moot.genesis.v1", b"o", b"s"]
    framed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    assert genesis("o", "s") == hashlib.sha256(b"\x02" + framed).hexdigest()


@pytest.mark.requirement("LDG-023")
@given(*[st.text(max_size=6)] * 4)
def test_no_two_streams_or_ledgers_share_a_genesis(
    origin: str, stream: str, other: str, another: str
) -> None:
    same = (origin, stream) == (other, another)
    assert (genesis(origin, stream) == genesis(other, another)) == same


@given(st.lists(st.binary(max_size=4), max_size=4), st.lists(st.binary(max_size=4), max_size=4))
def test_no_two_lists_of_parts_are_framed_alike(one: list[bytes], two: list[bytes]) -> None:
    assert (frame(*one) == frame(*two)) == (one == two)


@pytest.mark.requirement("LDG-024")
def test_a_body_of_the_largest_size_is_sealed_and_one_byte_more_is_refused() -> None:
    room = MAX_BODY_BYTES - len(seal(body(data={"t": ""}), SIGNER).raw)
    assert len(seal(body(data={"t": "x" * room}), SIGNER).raw) == MAX_BODY_BYTES
    with pytest.raises(Refused) as caught:
        seal(body(data={"t": "x" * (room + 1)}), SIGNER)
    assert caught.value.code == "too_large"
    assert caught.value.hint


def wrapped(levels: int) -> dict[str, Any]:
    value: Any = 1
    for _ in range(levels - 1):
        value = [value]
    return {"d": value}


@pytest.mark.requirement("LDG-002")
def test_the_depth_of_the_data_counts_the_body_around_it() -> None:
    """What is sealed must be canonical as a whole, or no checker would accept it."""
    deepest = seal(body(data=wrapped(31)), SIGNER)
    assert parse_canonical(deepest.raw)["data"] == wrapped(31)
    with pytest.raises(Malformed) as caught:
        seal(body(data=wrapped(32)), SIGNER)
    assert caught.value.code == "not_canonical"


@pytest.mark.requirement("LDG-002")
@pytest.mark.parametrize(
    "data", [{"x": 1.5}, {"x": 2**53}, {"x": "\ud800"}, {"😀": 1}, {"x": {1: 2}}, {"x": b""}]
)
def test_data_outside_the_canonical_profile_is_malformed(data: dict[str, Any]) -> None:
    with pytest.raises(Malformed) as caught:
        seal(body(data=data), SIGNER)
    assert caught.value.code == "not_canonical"


OUTSIDE: dict[str, dict[str, Any]] = {
    "an empty role": {"actor": Actor("amber-otter", 1, SIGNER.kid, "")},
    "a long role": {"actor": Actor("amber-otter", 1, SIGNER.kid, "r" * 65)},
    "a role that is not text": {"actor": Actor("amber-otter", 1, SIGNER.kid, "\ud800")},
    "an empty corr": {"corr": ""},
    "a long corr": {"corr": "c" * 129},
    "a corr that is not text": {"corr": "\udfff"},
    "an empty key": {"key": ""},
    "a long key": {"key": "k" * 301},
    "a short cause": {"cause": "ab"},
    "an upper-case cause": {"cause": "AB" * 32},
    "a cause with a newline": {"cause": "ab" * 32 + "\n"},
    "too many artifacts": {"artifacts": (REF,) * (MAX_ARTIFACTS + 1)},
    "an artifact without a media type": {"artifacts": (ArtifactRef("b" * 64, 3, ""),)},
    "a long media type": {"artifacts": (ArtifactRef("b" * 64, 3, "m" * 128),)},
    "an upper-case artifact hash": {"artifacts": (ArtifactRef("B" * 64, 3, "a/b"),)},
    "a short artifact hash": {"artifacts": (ArtifactRef("b" * 63, 3, "a/b"),)},
    "a negative size": {"artifacts": (ArtifactRef("b" * 64, -1, "a/b"),)},
    "a size beyond 2^53-1": {"artifacts": (ArtifactRef("b" * 64, 2**53, "a/b"),)},
    "a size beyond any machine": {"artifacts": (ArtifactRef("b" * 64, 2**70, "a/b"),)},
}


@pytest.mark.requirement("LDG-025")
@pytest.mark.parametrize("changed", OUTSIDE.values(), ids=OUTSIDE.keys())
def test_a_field_outside_its_rule_is_never_sealed(changed: dict[str, Any]) -> None:
    """A checker would call such a record tampered, so it must not come to be."""
    with pytest.raises(Malformed):
        seal(body(**changed), SIGNER)


@pytest.mark.requirement("LDG-025")
def test_the_longest_fields_are_sealed() -> None:
    actor = Actor("amber-otter", 1, SIGNER.kid, "r" * 64)
    refs = tuple(ArtifactRef(f"{n:064x}", 2**53 - 1, "m" * 127) for n in range(MAX_ARTIFACTS))
    whole = body(actor=actor, corr="é" * 128, key="k" * 300, cause="0f" * 32, artifacts=refs)
    assert seal(whole, SIGNER).body == whole


def test_a_body_reads_back_as_it_was_sealed() -> None:
    whole = body(cause="0" * 64, corr="affair", key="amber-otter/k/0", artifacts=(REF,), seq=7)
    assert seal(whole, SIGNER).body == whole


UNREADABLE = {
    "nothing": b"",
    "not JSON": b"{",
    "not UTF-8": b'{"v":"\xff"}',
    "an array": b"[]",
    "a missing field": b'{"v":1}',
    "a field too many": canonical({**msgspec.to_builtins(body()), "extra": 1}),
    "text for a number": canonical({**msgspec.to_builtins(body()), "seq": "0"}),
    "another version": canonical({**msgspec.to_builtins(body()), "v": 2}),
    "deep nesting": b'{"data":{"a":' + b"[" * 100_000,
}


@pytest.mark.requirement("LDG-026")
@pytest.mark.parametrize("raw", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_an_unreadable_body_is_malformed_and_names_its_place(raw: bytes) -> None:
    record = Record("example/today", 4, SIGNER.kid, raw, b"")
    with pytest.raises(Malformed) as caught:
        _ = record.body
    assert caught.value.code == "unreadable"
    assert caught.value.where == "example/today event 4"


@pytest.mark.requirement("LDG-026")
@given(st.binary(max_size=50))
def test_any_bytes_are_a_body_or_malformed(raw: bytes) -> None:
    with pytest.raises(Malformed):
        _ = Record("example/today", 4, SIGNER.kid, raw, b"").body


@given(st.data())
def test_a_changed_byte_changes_the_hash_and_breaks_the_signature(data: st.DataObject) -> None:
    sealed = seal(body(), SIGNER)
    raw = bytearray(sealed.raw)
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    changed = Record(sealed.stream, sealed.seq, sealed.kid, bytes(raw), sealed.signature)
    assert changed.hash != sealed.hash
    assert not changed.signed_by(SIGNER.public)


def test_sealing_the_same_body_twice_gives_the_same_record() -> None:
    assert seal(body(), SIGNER) == seal(body(), SIGNER)


def test_only_expected_errors_come_out_of_sealing_odd_data() -> None:
    for odd in (float("nan"), object(), {1, 2}, 10**40, "\ud800", {"k": {"k": float("inf")}}):
        with pytest.raises(MootError):
            seal(body(data={"x": odd}), SIGNER)


def test_the_raw_bytes_are_what_the_standard_library_would_write() -> None:
    sealed = seal(body(data={"z": 1, "a": "é\n"}), SIGNER)
    told = json.loads(sealed.raw)
    again = json.dumps(told, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert again.encode() == sealed.raw
