"""The grammars of names, streams, event types and callers' keys."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import Malformed
from moot.core.names import (
    CALLER_KEY,
    EVENT_TYPE,
    RESERVED,
    protocol_of,
    require_agent_name,
    require_stream_name,
)

LOWER = set(string.ascii_lowercase + string.digits)


def is_agent_name(text: str) -> bool:
    """The norm again, without a regular expression."""
    words = text.split("-")
    return 3 <= len(text) <= 48 and all(word and set(word) <= LOWER for word in words)


@given(st.text("ab-9A_é\n", max_size=8) | st.text("a-", min_size=45, max_size=50))
def test_agent_names_are_words_joined_by_single_hyphens(text: str) -> None:
    if is_agent_name(text):
        assert require_agent_name(text) == text
        return
    with pytest.raises(Malformed) as caught:
        require_agent_name(text)
    assert caught.value.code == "bad_name"
    assert "amber-otter" in caught.value.hint


@pytest.mark.parametrize("text", ["abc", "a-b", "007", "x" * 48, "amber-otter-2"])
def test_the_shortest_and_longest_names_are_names(text: str) -> None:
    assert require_agent_name(text) == text


@pytest.mark.parametrize(
    "text",
    ["", "ab", "x" * 49, "-ab", "ab-", "a--b", "Abc", "a b", "abc\n", "a/b", "ábc", "a.b", "٣٤٥"],
)
def test_near_misses_are_not_names(text: str) -> None:
    with pytest.raises(Malformed) as caught:
        require_agent_name(text)
    assert caught.value.code == "bad_name"


@pytest.mark.parametrize("text", ["registry", "mail/RS-1", "x/a.b_c:d@e+f~g-h", "a/" + "z" * 200])
def test_streams_are_a_protocol_and_perhaps_a_name(text: str) -> None:
    assert require_stream_name(text) == text
    assert protocol_of(text) == text.split("/", maxsplit=1)[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "mail/",
        "/x",
        "Mail/x",
        "mail/x/y",
        "mail/../x/",
        "mail/a b",
        "mail/é",
        "mail/x\n",
        "mail1/x",
        "a/" + "z" * 201,
        "mail\\x",
        "mail/\x00",
    ],
)
def test_paths_and_near_misses_are_not_streams(text: str) -> None:
    with pytest.raises(Malformed) as caught:
        require_stream_name(text)
    assert caught.value.code == "bad_id"


@pytest.mark.parametrize("text", ["registry/x", "registry/registry"])
def test_there_is_one_registry_and_no_stream_below_it(text: str) -> None:
    with pytest.raises(Malformed) as caught:
        require_stream_name(text)
    assert caught.value.code == "bad_id"


@given(st.text("ab/.:@+~-_ \né", max_size=12))
def test_a_stream_name_holds_at_most_one_slash_and_no_space(text: str) -> None:
    try:
        require_stream_name(text)
    except Malformed:
        return
    protocol, slash, name = text.partition("/")
    assert re.fullmatch("[a-z]+", protocol)
    assert bool(name) == bool(slash)
    assert not set(name) & set("/ \né")


@pytest.mark.parametrize("text", ["a.b", "example.errand_asked", "a." + "b" * 94])
def test_event_types_are_a_protocol_and_a_word(text: str) -> None:
    assert EVENT_TYPE.match(text)


@pytest.mark.parametrize(
    "text", ["", "a", "a.", ".b", "a.B", "a.1", "a.b\n", "a.b.c", "a." + "b" * 95]
)
def test_near_misses_are_not_event_types(text: str) -> None:
    assert not EVENT_TYPE.match(text)


@pytest.mark.parametrize("text", ["k", "a" * 96, "A.z_0:@+~-"])
def test_callers_keys(text: str) -> None:
    assert CALLER_KEY.match(text)


@pytest.mark.parametrize("text", ["", "a" * 97, "a/b", "a!b", "a b", "k\n", "é"])
def test_near_misses_are_not_callers_keys(text: str) -> None:
    assert not CALLER_KEY.match(text)


def test_the_names_of_the_machine_itself_are_reserved() -> None:
    assert {"system", "checkpoint", "operator"} <= RESERVED
