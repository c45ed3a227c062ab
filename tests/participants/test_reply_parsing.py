"""Replies: JSON, bare or fenced, out of any bytes; only Malformed is raised."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.agents.reply import MOST_BYTES, read_reply, without_author
from moot.core.errors import Malformed


@pytest.mark.requirement("AGT-003")
@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '\ufeff{"a": 1}\r\n',
        'Here it is:\n```json\n{"a": 1}\n```\nDone.',
        '~~~\n{"a": 1}\n~~~',
        'An empty pair {} is prose. {"a": 1} it is.',
        '````\n```\n````\n```json\r\n{"a": 1}\r\n```',
        '```json\n{"a": 1}',
        'thinking { about } it\n{"a": 1}',
    ],
)
def test_the_object_that_was_meant_is_found(text: str) -> None:
    assert read_reply(text.encode()) == {"a": 1}


@pytest.mark.requirement("AGT-003")
@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "empty_reply"),
        (b" \n\t", "empty_reply"),
        (b"\xff\xfe", "not_utf8"),
        (b"approve!", "no_json"),
        (b"[1, 2]", "no_json"),
        (b"null", "no_json"),
        (b'{"a": 1, "a": 2}', "duplicate_name"),
        (b'{"a": NaN}', "bad_number"),
        (b'{"a": Infinity}', "bad_number"),
        (b'{"a": 1e309}', "bad_number"),
        (b'so {"a": -1e400} it is', "bad_number"),
        (b'{"a": 1}\n{"a": 1}', "two_objects"),
        (b'```json\n{"a": 9}\n```\nNo, rather:\n```json\n{"a": 1}\n```', "two_objects"),
        (b'I think {"b": 2} is wrong. {"a": 1} it is.', "two_objects"),
        (b'{"a": "\\ud800"}', "lone_surrogate"),
        (b'{"a":' * 40 + b"1" + b"}" * 40, "too_deep"),
        (b'{"a":' * 100_000, "no_json"),
        (b"x" * (MOST_BYTES + 1), "reply_too_long"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "no_json"),
    ],
)
def test_anything_else_is_malformed_and_says_what_to_do(raw: bytes, code: str) -> None:
    with pytest.raises(Malformed) as caught:
        read_reply(raw)
    assert caught.value.code == code
    assert caught.value.hint


@pytest.mark.requirement("AGT-003")
@given(
    st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "ignore"))
)
def test_any_bytes_give_an_object_or_malformed(raw: bytes) -> None:
    try:
        found = read_reply(raw)
    except Malformed:
        return
    assert isinstance(found, dict)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=9), _JSON, min_size=1, max_size=4),
    st.sampled_from(["{}", "```json\n{}\n```", "so:\n{}\nthat is all"]),
)
def test_what_was_written_as_json_is_read_back(said: dict[str, object], frame: str) -> None:
    text = json.dumps(said)
    assert read_reply(frame.replace("{}", text).encode()) == said


@pytest.mark.requirement("AGT-020")
def test_a_reply_speaks_for_its_author_only() -> None:
    assert without_author({"x": 1, "author": "amber-otter"}, "amber-otter") == {"x": 1}
    with pytest.raises(Malformed) as caught:
        without_author({"x": 1, "author": "teal-crane"}, "amber-otter")
    assert caught.value.code == "forged_author"
    with pytest.raises(Malformed):
        without_author({"x": 1, "from": ["amber-otter"]}, "amber-otter")
