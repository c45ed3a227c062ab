"""Canonical JSON against two other implementations, and everything it must refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from moot.core.canonical import MAX_DEPTH, MAX_INT, canonical, parse_canonical
from moot.core.errors import Malformed

KEYS = st.text(st.characters(max_codepoint=0xD7FF), max_size=8)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SCALARS = st.none() | st.booleans() | st.integers(-MAX_INT, MAX_INT) | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)


def nested(levels: int, kind: str = "list") -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if kind == "list" else {"k": value}
    return value


def by_stdlib(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


@pytest.mark.requirement("LDG-001")
@given(VALUES)
@example({"": 0, "\x7f": 1, "\u0080": 2, "퟿": 3, "a": '\u2028\x00\x1f"\\/\b\f\n\r\t😀'})
def test_three_implementations_write_the_same_bytes(value: Any) -> None:
    written = canonical(value)
    assert written == rfc8785.dumps(value)
    assert written == by_stdlib(value)


@pytest.mark.requirement("LDG-001")
def test_every_character_is_written_as_the_oracle_writes_it() -> None:
    points = [chr(n) for n in range(0x110000) if not 0xD800 <= n <= 0xDFFF]
    text = "".join(points)
    assert canonical(text) == rfc8785.dumps(text)
    below = dict.fromkeys(points[:55296], 0)
    assert canonical(below) == by_stdlib(below)


@given(VALUES)
def test_what_is_written_reads_back_as_the_same_value(value: Any) -> None:
    assert parse_canonical(canonical(value)) == value


@given(st.dictionaries(KEYS, SCALARS, max_size=8))
def test_the_order_of_insertion_does_not_matter(value: dict[str, Any]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)


def test_a_tuple_is_an_array() -> None:
    assert canonical((1, ("a",))) == b'[1,["a"]]'


REFUSED = {
    "a float": 1.5,
    "a whole float": 1.0,
    "a negative zero": -0.0,
    "not a number": float("nan"),
    "infinity": float("inf"),
    "an integer too large": MAX_INT + 1,
    "an integer too small": -MAX_INT - 1,
    "a huge integer": 10**400,
    "an astral key": {"😀": 1},
    "a key from the private area above the surrogates": {"\ue000": 1},
    "a key that is a lone surrogate": {"a\udc00": 1},
    "text with a lone high surrogate": "\ud800",
    "text with a lone low surrogate": ["\udfff"],
    "text with both surrogates of a pair": "\ud83d\ude00",
    "an integer key": {1: 1},
    "a null key": {None: 1},
    "a boolean key": {True: 1},
    "a bytes key": {b"a": 1},
    "bytes": b"a",
    "a set": {1},
    "an object": object(),
    "an array too deep": nested(MAX_DEPTH + 1),
    "an object too deep": nested(MAX_DEPTH + 1, "dict"),
    "an empty array too deep": json.loads("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)),
}


@pytest.mark.requirement("LDG-002")
@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED.keys())
def test_what_two_libraries_might_write_differently_is_refused(value: Any) -> None:
    with pytest.raises(Malformed) as caught:
        canonical(value)
    assert caught.value.code == "not_canonical"


@pytest.mark.requirement("LDG-002")
@pytest.mark.parametrize("wrong", [1.5, MAX_INT + 1, {"😀": 0}])
def test_a_refusal_names_the_place(wrong: Any) -> None:
    with pytest.raises(Malformed) as caught:
        canonical({"packages": [{}, {"hash": wrong}]})
    assert caught.value.where == "packages[1].hash"


def test_a_value_that_holds_itself_is_refused_for_its_depth() -> None:
    knot: list[Any] = []
    knot.append(knot)
    with pytest.raises(Malformed):
        canonical(knot)


@pytest.mark.parametrize("kind", ["list", "dict"])
def test_the_deepest_allowed_nesting_is_written_and_read(kind: str) -> None:
    value = nested(MAX_DEPTH, kind)
    assert parse_canonical(canonical(value)) == value


@pytest.mark.parametrize("value", [MAX_INT, -MAX_INT, 0, -1, True])
def test_the_largest_integers_are_written_and_read(value: int) -> None:
    assert parse_canonical(canonical(value)) == value
    assert canonical(value) == by_stdlib(value)


NOT_CANONICAL = {
    "a space": b'{"a": 1}',
    "a space before": b" 1",
    "a newline after": b"1\n",
    "a byte order mark": b"\xef\xbb\xbf1",
    "a duplicate key": b'{"a":1,"a":1}',
    "a duplicate key with another value": b'{"a":1,"a":2}',
    "keys out of order": b'{"b":1,"a":1}',
    "an escaped slash": b'"\\/"',
    "an escaped letter": b'"\\u0061"',
    "an upper-case escape": b'"\\u001F"',
    "a long escape where a short one exists": b'"\\u000a"',
    "an escaped pair of surrogates": b'"\\ud83d\\ude00"',
    "an escaped lone surrogate": b'"\\ud800"',
    "a raw lone surrogate": b'"\xed\xa0\x80"',
    "a raw control character": b'"\x01"',
    "a fraction": b"1.0",
    "an exponent": b"1e2",
    "a negative zero": b"-0",
    "a leading zero": b"01",
    "a plus": b"+1",
    "an integer too large": b"9007199254740992",
    "an endless integer": b"9" * 5000,
    "an endless exponent": b"1e" + b"9" * 5000,
    "NaN": b"NaN",
    "Infinity": b"Infinity",
    "nothing": b"",
    "half a word": b"tru",
    "two values": b"1 2",
    "a trailing comma": b"[1,]",
    "a comment": b"[1]//",
    "bytes that are not UTF-8": b'"\xff"',
    "an overlong encoding": b'"\xc0\x80"',
    "a zero byte after": b"1\x00",
    "an astral key": '{"😀":1}'.encode(),
    "an array too deep": b"[" * 33 + b"]" * 33,
    "an array beyond any stack": b"[" * 200_000,
    "objects beyond any stack": b'{"a":' * 200_000,
}


@pytest.mark.requirement("LDG-003")
@pytest.mark.parametrize("data", NOT_CANONICAL.values(), ids=NOT_CANONICAL.keys())
def test_bytes_that_are_not_their_own_canonical_form_are_refused(data: bytes) -> None:
    with pytest.raises(Malformed) as caught:
        parse_canonical(data)
    assert caught.value.code == "not_canonical"


def _accepted(data: bytes) -> None:
    """The fuzz invariant: parse gives a value that is written as these bytes, or Malformed."""
    try:
        value = parse_canonical(data)
    except Malformed:
        return
    assert canonical(value) == data == rfc8785.dumps(value)


@pytest.mark.requirement("LDG-003")
@given(st.binary(max_size=60))
def test_any_bytes_are_a_canonical_value_or_malformed(data: bytes) -> None:
    _accepted(data)


@pytest.mark.requirement("LDG-003")
@given(VALUES, st.data())
def test_a_canonical_text_with_one_changed_byte_is_a_canonical_value_or_malformed(
    value: Any, data: st.DataObject
) -> None:
    written = bytearray(canonical(value))
    place = data.draw(st.integers(0, len(written) - 1))
    written[place] = data.draw(st.integers(0, 255))
    _accepted(bytes(written))


@given(st.lists(st.sampled_from([b"{", b"}", b"[", b"]", b'"a"', b":", b",", b"1", b" "])))
def test_any_heap_of_tokens_is_a_canonical_value_or_malformed(tokens: list[bytes]) -> None:
    _accepted(b"".join(tokens))
