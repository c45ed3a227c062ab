"""Messages as bytes: whatever is sent is read exactly, or named as what it is."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import Malformed
from moot.core.findings import Finding, select_errors
from moot.protocols.parliament.messages import message as messages
from moot.protocols.parliament.messages.shapes import read_json
from tests.parliament.samples import KINDS, Document, message, response

requirement = pytest.mark.requirement


@requirement("PAR-084")
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "not_json"),
        (b"{", "not_json"),
        (b"{} {}", "not_json"),
        (b'{"round": NaN}', "not_json"),
        (b'{"round": 1e999}', "not_json"),
        (b'"\\ud800"', "not_json"),
        (b"\xff\xfe", "not_json"),
        (b"[" * 20_000, "not_json"),
        (b'{"type": "VOTE", "type": "MOTION"}', "duplicate_key"),
        (b"[" + b" " * messages.MAX_MESSAGE + b"]", "too_large"),
    ],
)
def test_what_is_no_json_is_malformed(data: bytes, code: str) -> None:
    with pytest.raises(Malformed) as refused:
        read_json(data, messages.MAX_MESSAGE)
    assert refused.value.code == code
    assert refused.value.hint


def test_a_key_said_twice_is_named_with_its_path() -> None:
    text = json.dumps(response("VOTE")).replace('"vote": "YES"', '"vote": "NO", "vote": "YES"')
    with pytest.raises(Malformed) as refused:
        read_json(text, messages.MAX_MESSAGE)
    assert (refused.value.code, refused.value.where) == ("duplicate_key", "content.vote")


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm() -> None:
    text = json.dumps(response("MOTION"), indent=2).replace("\n", "\r\n")
    document = read_json(b"\xef\xbb\xbf" + text.encode(), messages.MAX_MESSAGE)
    assert messages.response_findings(document) == ()
    assert messages.read_response(document) == messages.read_response(response("MOTION"))


def test_a_value_is_shown_short_however_deep_or_long_it_is() -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    for value in (deep, {"a": deep}, 10**6_000, "x" * 1_000):
        (found,) = select_errors(messages.response_findings(response("ANSWER", stance=value)))
        assert (found.rule, found.where) == ("PAR-029", "content.stance")
        assert len(found.message) < 200


@pytest.mark.parametrize("value", [None, 1, "text", [], True])
def test_a_message_is_an_object(value: Any) -> None:
    for look in (messages.response_findings, messages.message_findings):
        assert [one.code for one in look(value)] == ["not_an_object"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(data=st.binary(max_size=300) | st.text(max_size=300))
def test_any_bytes_are_read_or_malformed(data: bytes | str) -> None:
    with suppress(Malformed):
        document = read_json(data, messages.MAX_MESSAGE)
        check_all_named(messages.response_findings(document))
        check_all_named(messages.message_findings(document))


@given(kind=st.sampled_from(KINDS), data=st.data())
def test_any_value_in_any_place_is_read_or_named(kind: str, data: st.DataObject) -> None:
    document = deepcopy(message(kind))
    holder: Any = document
    while True:
        name = data.draw(st.sampled_from(sorted(holder)))
        if not isinstance(holder[name], dict) or not holder[name] or data.draw(st.booleans()):
            break
        holder = holder[name]
    holder[name] = data.draw(JSON)
    said = messages.message_findings(document)
    check_all_named(said)
    assert all(one.where for one in said)
    if not select_errors(said):
        assert messages.read_message(document)
    check_all_named(messages.response_findings(document))
    if not select_errors(messages.response_findings(document)):
        assert messages.read_response(document)


def check_all_named(said: tuple[Finding, ...]) -> None:
    for one in said:
        assert one.rule.startswith("PAR-")
        assert one.message
        assert one.hint


@given(document=JSON)
def test_any_document_is_judged(document: Document) -> None:
    check_all_named(messages.response_findings(document))
    check_all_named(messages.message_findings(document))
