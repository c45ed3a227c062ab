"""The template recognises only bodies that the long way reads, and reads them alike."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.verify.event_reader import parts_of, read_body, recognise_body
from moot.verify.verdict import StepFailure

_BODY: dict[str, Any] = {
    "actor": {"epoch": 1, "id": "amber-otter", "kid": "0a" * 16, "role": None},
    "artifacts": [{"media_type": "text/plain", "sha256": "1b" * 32, "size": 5}],
    "at": "2026-02-18T16:00:00.000Z",
    "cause": None,
    "corr": "affair",
    "data": {"text": "héllo", "list": [1, {"key": None}]},
    "key": "once",
    "origin": "moot.ledger/" + "2c" * 16,
    "prev": "3d" * 32,
    "reg": 4,
    "seq": 7,
    "stream": "mail/thread",
    "type": "mail.sent",
    "v": 1,
}


def _write(body: Any) -> bytes:
    return json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def _agree(payload: bytes) -> bool:
    """Whether the template recognised the payload; if so, the long way reads the same."""
    parts = recognise_body(payload)
    if parts is not None:
        assert parts == parts_of(read_body(payload))
    return parts is not None


def test_a_body_template_is_recognised() -> None:
    assert _agree(_write(_BODY))
    assert _agree(_write({**_BODY, "artifacts": [], "corr": None, "key": None, "data": {}}))


_odd_texts = st.text(max_size=400) | st.text(alphabet='",:{}key\\', max_size=12)
_odd_numbers = st.integers(-2, 3) | st.integers(10**14, 2**53 + 1)
_odd = st.none() | st.booleans() | _odd_numbers | _odd_texts | st.floats(0, 2)
_artifact = st.fixed_dictionaries(
    {
        "media_type": _odd_texts | st.just("text/plain"),
        "sha256": st.just("1b" * 32) | _odd,
        "size": _odd_numbers,
    }
)
_changes = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(_BODY, _odd),
        "data": st.recursive(
            st.dictionaries(_odd_texts, _odd, max_size=3),
            lambda inner: st.dictionaries(_odd_texts, inner, max_size=2),
        ),
        "artifacts": st.lists(_artifact, max_size=3),
        "stream": st.sampled_from(["registry", "registry/x", "mail", "mail/", "mail/a b", "Mail"]),
        "type": st.sampled_from(["mail.x", "mailx.y", "mail.9", "registry.x", "mail." + "x" * 92]),
        "at": st.sampled_from(["2026-02-30T00:00:00.000Z", "2024-02-29T23:59:59.999Z", "now"]),
        "extra": _odd,
    },
)


@given(_changes)
def test_a_changed_body_is_recognised_only_if_the_long_way_reads_it(change: dict[str, Any]) -> None:
    _agree(_write({**_BODY, **change}))


@given(st.integers(0, len(_write(_BODY)) - 1), st.binary(max_size=3), st.integers(0, 3))
def test_a_changed_text_is_recognised_only_if_the_long_way_reads_it(
    at: int, new: bytes, removed: int
) -> None:
    payload = _write(_BODY)
    _agree(payload[:at] + new + payload[at + removed :])


@pytest.mark.parametrize(
    "data",
    [
        {"a": {"key": None, "origin": _BODY["origin"], "prev": _BODY["prev"], "v": 1}},
        {"text": ',"key":null'},
        {"text": '},"key":null,"origin":"'},
        _BODY,
    ],
    ids=str,
)
def test_data_that_looks_like_the_rest_of_a_body_is_still_data(data: dict[str, Any]) -> None:
    assert _agree(_write({**_BODY, "data": data}))


def test_a_second_body_behind_the_first_is_not_recognised() -> None:
    payload = _write(_BODY)
    assert recognise_body(payload + payload) is None
    assert recognise_body(payload + b"\n") is None
    with pytest.raises(StepFailure):
        read_body(payload + payload)


@pytest.mark.parametrize("depth", [31, 32])
def test_data_is_one_level_deep_already(depth: int) -> None:
    deep: Any = {}
    for _ in range(depth - 1):
        deep = {"a": deep}
    assert _agree(_write({**_BODY, "data": deep})) == (depth < 32)


def test_two_hundred_and_fifty_six_artifacts_are_the_most() -> None:
    cited = _BODY["artifacts"]
    assert _agree(_write({**_BODY, "artifacts": cited * 256}))
    assert not _agree(_write({**_BODY, "artifacts": cited * 257}))
    with pytest.raises(StepFailure):
        read_body(_write({**_BODY, "artifacts": cited * 257}))
