"""The trust file: what a verdict rests on is read strictly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.verify import (
    TrustedLedger,
    TrustError,
    load_trust,
    parse_trust,
    standalone,
    verify_bundle,
)
from moot.workspace import trust as trust_files

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "docs" / "vectors"

_GOOD = {
    "checkpoint": "ab" * 32,
    "format": "moot-trust/1",
    "minimum": 3,
    "origin": "moot.ledger/" + "0" * 32,
    "root": "cd" * 32,
}


def test_a_trust_file_may_hold_white_space(tmp_path: Path) -> None:
    file = tmp_path / "trust.json"
    file.write_text(json.dumps(_GOOD, indent=2), encoding="utf-8")
    expected = TrustedLedger(
        origin="moot.ledger/" + "0" * 32, root="cd" * 32, checkpoint="ab" * 32, minimum=3
    )
    assert load_trust(file) == expected


def test_an_absent_trust_file_is_the_callers_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_trust(tmp_path / "none.json")


@pytest.mark.parametrize(
    "change",
    [
        {"format": "moot-trust/2"},
        {"minimum": -1},
        {"minimum": True},
        {"minimum": 1.0},
        {"minimum": "3"},
        {"origin": "moot.ledger/"},
        {"root": "CD" * 32},
        {"root": None},
        {"checkpoint": "ab" * 31},
        {"more": 1},
    ],
    ids=str,
)
def test_a_malformed_field_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(TrustError):
        parse_trust(json.dumps({**_GOOD, **change}).encode())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        json.dumps(_GOOD).encode()[:-1] + b',"minimum":4}',
        json.dumps({name: _GOOD[name] for name in _GOOD if name != "minimum"}).encode(),
    ],
    ids=lambda data: str(data[:20]),
)
def test_a_malformed_file_is_refused(data: bytes) -> None:
    with pytest.raises(TrustError):
        parse_trust(data)


@pytest.mark.parametrize("minimum", [None, 0, 2**53 - 1])
def test_any_number_of_a_checkpoint_or_none_can_be_the_least(minimum: int | None) -> None:
    assert parse_trust(json.dumps({**_GOOD, "minimum": minimum}).encode()).minimum == minimum


def test_an_oversized_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "trust.json"
    file.write_bytes(json.dumps(_GOOD).encode() + b" " * 70_000)
    with pytest.raises(TrustError):
        load_trust(file)


# The fingerprint, by which two people compare trust files.


def test_the_published_fingerprint_is_what_every_checker_tells() -> None:
    files = VECTORS / "bundle.jsonl", VECTORS / "trust.json"
    told = verify_bundle(files[0], load_trust(files[1])).fingerprint
    assert told is not None
    assert f"`{told}`" in (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
    assert standalone.verify(*map(str, files)).fingerprint == told
    assert trust_files.fingerprint(trust_files.read_trust_file(files[1]).trust()) == told


def test_without_a_trust_file_there_is_no_fingerprint() -> None:
    file = VECTORS / "bundle.jsonl"
    assert verify_bundle(file, None).fingerprint is None
    assert standalone.verify(str(file)).fingerprint is None


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_any_two_keys_have_one_fingerprint(
    tmp_path_factory: pytest.TempPathFactory, root: bytes, checkpoint: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "trust.json"
    file.write_text(json.dumps({**_GOOD, "root": root.hex(), "checkpoint": checkpoint.hex()}))
    told = load_trust(file).fingerprint()
    assert standalone.verify(str(VECTORS / "bundle.jsonl"), str(file)).fingerprint == told
    assert [len(group) for group in told.split(" ")] == [5, 5, 5, 5]
