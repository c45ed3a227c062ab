"""The heads of a revocation, fed in pieces of any length."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.verify.trusted_registry import HeadsReader

_HASH = "ab" * 32
_names = st.from_regex(r"[a-z]{1,9}(/[A-Za-z0-9._:@+~-]{1,20})?", fullmatch=True)


def _text(heads: dict[str, int]) -> bytes:
    listed = {name: [seq, _HASH] for name, seq in heads.items()}
    return json.dumps(listed, sort_keys=True, separators=(",", ":")).encode()


def _read(data: bytes, piece: int, wanted: set[str]) -> HeadsReader:
    reader = HeadsReader(wanted)
    for start in range(0, len(data), piece):
        reader.feed(data[start : start + piece])
    return reader


@given(st.dictionaries(_names, st.integers(0, 2**53 - 1)), st.integers(1, 200))
def test_heads_are_read_alike_in_pieces_of_any_length(heads: dict[str, int], piece: int) -> None:
    wanted = set(list(heads)[::2])
    reader = _read(_text(heads), piece, wanted)
    assert reader.finish()
    assert {name: seq for name, (seq, _) in reader.heads.items()} == {
        name: heads[name] for name in wanted
    }


@pytest.mark.parametrize("piece", [1, 7, 10_000])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"{} ",
        b"{}{}",
        b"null",
        _text({"mail/a": 1})[:-1],
        _text({"mail/a": 1})[:-1] + b",}",
        _text({"mail/a": 1}) + b"\n",
        _text({"mail/a": 2**53}),
        _text({"mail/a": 1}).replace(b":[1", b":[01"),
        _text({"mail/a": 1}).replace(b":[1", b":[-1"),
        _text({"mail/a": 1}).replace(b":[1", b":[1.0"),
        _text({"mail/a": 1}).replace(b"ab", b"AB"),
        _text({"mail/a": 1}).replace(b"mail", b"MAIL"),
        _text({"mail/a": 1, "mail/b": 2}).replace(b"mail/b", b"mail/a"),
        _text({"mail/a": 1, "mail/c": 2}).replace(b"mail/a", b"mail/d"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_what_is_not_the_canonical_text_of_heads_is_refused(data: bytes, piece: int) -> None:
    assert not _read(data, piece, {"mail/a"}).finish()


def test_the_largest_number_of_an_event_is_read() -> None:
    reader = _read(_text({"mail/a": 2**53 - 1}), 10_000, {"mail/a"})
    assert reader.finish()
    assert reader.heads == {"mail/a": (2**53 - 1, _HASH)}


def test_an_endless_name_is_not_collected() -> None:
    reader = _read(b'{"' + b"a" * 2_000_000 + b'":[0,"', 100_000, set())
    assert not reader.finish()
    assert reader.heads == {}
