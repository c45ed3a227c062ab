"""Canonical JSON as the verifier reads it: the published vectors, an oracle, and hostile texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from moot.verify.canonical import (
    MAX_DEPTH,
    MAX_INT,
    NotCanonical,
    parse_canonical,
    parse_text,
    write_canonical,
)

VECTORS = Path(__file__).parents[2] / "docs" / "vectors" / "canonical.json"

_texts = st.text(st.characters(exclude_categories=["Cs"]))
_keys = st.text(st.characters(max_codepoint=0xD7FF))
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INT, MAX_INT) | _texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_keys, inner, max_size=4),
    max_leaves=20,
)


def _vectors(kind: str) -> list[Any]:
    found: list[Any] = json.loads(VECTORS.read_text(encoding="utf-8"))[kind]
    return found


@pytest.mark.parametrize("vector", _vectors("canonical"), ids=lambda vector: vector["bytes"][:40])
def test_a_published_canonical_text_is_read_and_written_alike(vector: dict[str, Any]) -> None:
    data = bytes.fromhex(vector["bytes"])
    assert parse_canonical(data) == vector["value"]
    assert write_canonical(vector["value"]) == data


@pytest.mark.parametrize("text", _vectors("refused"), ids=lambda text: ascii(text[:40]))
def test_a_published_refused_text_is_refused(text: str) -> None:
    with pytest.raises(NotCanonical):
        parse_canonical(text.encode("utf-8"))


@given(_values)
def test_what_the_oracle_writes_is_canonical(value: Any) -> None:
    written = rfc8785.dumps(value)
    assert write_canonical(value) == written
    assert parse_canonical(written) == value


@given(st.text(alphabet='{}[]",:\\\t 01-e.abu\ud7ff\ue000é', max_size=30))
def test_a_text_is_refused_or_is_its_own_writing(text: str) -> None:
    data = text.encode("utf-8")
    try:
        value = parse_canonical(data)
    except NotCanonical:
        return
    assert rfc8785.dumps(value) == data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b'"\xed\xa0\x80"',
        b"[1]x",
        b"\xef\xbb\xbf[1]",
        b"9" * 5000,
        b"-" + b"9" * 17,
        b'"' + b'\\"' * 1_000_000,
        b"[" * 2_000_000,
        b"[" * 500_000 + b"]" * 500_000,
        b'{"a":' * 400_000,
        b'["' + b"[" * 1_000_000,
        b"[" * 33 + b"1" + b"]" * 33,
        b'{"a":' * 33 + b"1" + b"}" * 33,
        b'{"\xee\x80\x80":1}',
        b'[{"a":{"\xf0\x9f\x98\x80":1}}]',
        b"Infinity",
        b"-Infinity",
    ],
    ids=lambda data: f"{len(data)}-{data[:12]!r}",
)
def test_a_hostile_text_is_refused(data: bytes) -> None:
    with pytest.raises(NotCanonical):
        parse_canonical(data)


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_thirty_two_levels_are_allowed_among_any_number_of_brackets(opening: str) -> None:
    closing = {"[": "]", '{"a":': "}"}[opening]
    deep = opening * (MAX_DEPTH - 1) + '"[[[[{{{{"' + closing * (MAX_DEPTH - 1)
    assert parse_canonical(f"[{deep},[],[],{{}},[[]]]".encode())
    with pytest.raises(NotCanonical):
        parse_canonical(f"[[{deep}]]".encode())


def test_a_part_of_a_text_has_only_the_depth_that_is_left() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert parse_text(text)
    with pytest.raises(NotCanonical):
        parse_text(text, MAX_DEPTH - 1)
