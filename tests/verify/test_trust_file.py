"""The trust file: what a verdict rests on is read strictly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moot.verify import Trust, TrustError, load_trust, parse_trust

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
    expected = Trust(
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


def test_an_oversized_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "trust.json"
    file.write_bytes(json.dumps(_GOOD).encode() + b" " * 70_000)
    with pytest.raises(TrustError):
        load_trust(file)
