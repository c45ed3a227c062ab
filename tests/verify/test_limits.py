"""Huge, deep and path-like content is refused by limits, and nothing but a verdict comes out."""

from __future__ import annotations

import io
from typing import Any

import pytest

from moot.verify import bundle, canonical, event_reader, receipt, standalone
from moot.verify import bundle as artifacts
from moot.verify.bundle import MAX_LINE, lines_of
from tests.verify.bundle_builder import Json, canon, seal, small
from tests.verify.verdicts import judge, named

LEDGER = small()
BUNDLE = LEDGER.bundle()
LINE = BUNDLE.event("errand/tea", 1)


def _sized(size: int) -> bytes:
    """A body of exactly so many bytes."""
    body: Json = {**LEDGER.streams["errand/tea"][1].body, "data": {"text": ""}}
    missing = size - len(canon(body))
    return canon({**body, "data": {"text": "x" * missing}})


def _judged(payload: bytes) -> tuple[str, int | None]:
    entry = seal(payload, LEDGER.current["ada"])
    return named(judge(BUNDLE.replace(LINE, entry.envelope), LEDGER))


def test_a_payload_of_64_kibibytes_is_the_largest() -> None:
    # The largest one is sound and only not what the proof says; one byte more is refused itself.
    assert _judged(_sized(65_536)) == ("tampered", BUNDLE.find("proof", 1))
    assert _judged(_sized(65_537)) == ("tampered", LINE)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{}",
        b"null",
        b"[" * 60_000,
        b"[" * 30_000 + b"]" * 30_000,
        b'{"a":' * 12_000,
        b"9" * 65_000,
        b'"' + b"\\" * 60_000,
        b"\xff" * 60_000,
        b'{"v":1e400}',
        b'{"v":' + b"1" * 60_000 + b"}",
    ],
    ids=lambda payload: f"{len(payload)}-{payload[:8]!r}",
)
def test_a_hostile_payload_is_tampered_even_if_it_is_signed(payload: bytes) -> None:
    assert _judged(payload) == ("tampered", LINE)


def _deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [30, 31])
def test_thirty_two_levels_are_the_deepest(levels: int) -> None:
    body = {**LEDGER.streams["errand/tea"][1].body, "data": {"a": _deep(levels)}}
    expected = BUNDLE.find("proof", 1) if levels == 30 else LINE
    assert _judged(canon(body)) == ("tampered", expected)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"\x00",
        b"{}",
        b"[]",
        b"null",
        b"{",
        b'{"payload":1}',
        b'{"payload":"' + b"A" * 2_000_000 + b'"}',
        b'{"checkpoint":' + b"[" * 500_000,
        b'{"artifact":{"sha256":"' + b"0" * 64 + b'","size":9007199254740991}}',
        b'{"chunk":""}',
        b'{"fork":{}}',
        b'{"fork":' * 1000 + b"}" * 1000,
        b'{"proof":{}}',
        b'{"unknown":1}',
        b"x" * (MAX_LINE + 10),
        b'{"digest":"x"}',
    ],
    ids=lambda raw: f"{len(raw)}-{raw[:20]!r}",
)
@pytest.mark.parametrize("line", [2, LINE, len(BUNDLE.lines) + 1])
def test_a_hostile_line_is_tampered_where_it_stands(raw: bytes, line: int) -> None:
    assert named(judge(BUNDLE.replace(line, raw), LEDGER)) == ("tampered", line)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\n\n\n",
        b"\x00" * 100,
        b"x",
        b"{}\n",
        b"\xff\xfe\n",
        b"PK\x03\x04" * 1000,
        b'{"checkpoint":""}\n',
        BUNDLE.lines[0] + b"\n",
    ],
    ids=lambda data: str(data[:30]),
)
def test_what_is_no_bundle_is_tampered_at_its_first_line(data: bytes) -> None:
    assert named(judge(data, LEDGER)) == ("tampered", 1)


@pytest.mark.requirement("LDG-093")
def test_an_endless_line_is_not_read_to_its_end() -> None:
    class Endless(io.RawIOBase):
        served = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            buffer[:] = b"x" * len(buffer)
            self.served += len(buffer)
            assert self.served < 4 * MAX_LINE
            return len(buffer)

    endless = io.BufferedReader(Endless())
    assert len(next(lines_of(endless))) == MAX_LINE + 1


@pytest.mark.parametrize(
    "header",
    [
        {"lines": -1},
        {"lines": True},
        {"lines": "5"},
        {"lines": 2**53},
        {"format": "moot-bundle/2"},
        {"digest": "A" * 64},
        {"digest": None},
        {"origin": "../../etc"},
        {"more": 1},
    ],
    ids=str,
)
def test_a_malformed_header_is_tampered(header: Json) -> None:
    assert named(judge(BUNDLE.data(**header), LEDGER)) == ("tampered", 1)


@pytest.mark.requirement("LDG-093")
@pytest.mark.parametrize("stream", ["errand/..", "errand/.", "errand/con", "errand/" + "x" * 200])
def test_a_name_that_looks_like_a_path_is_only_a_name(stream: str) -> None:
    ledger = small()
    ledger.event(stream, ledger.current["ada"])
    assert judge(ledger.bundle(), ledger)


@pytest.mark.parametrize(
    "stream",
    ["errand/", "errand/a/b", "errand/../a", "/etc", "Errand", "errand/" + "x" * 201, "errand/é"],
)
def test_a_name_against_the_rule_is_refused(stream: str) -> None:
    ledger = small()
    ada = ledger.current["ada"]
    ledger.event(stream, ada, type="errand.noted")
    bundle = ledger.bundle()
    assert named(judge(bundle, ledger)) == ("tampered", bundle.find("event", -1))


def test_text_from_a_bundle_is_shown_escaped() -> None:
    ledger = small()
    ledger.event("errand/tea", ledger.current["ada"], **{"\x1b[31m" + "y" * 500: 1})
    verdict = judge(ledger.bundle(), ledger)
    assert verdict.verdict == "tampered"
    wheres = [finding.where or "" for finding in verdict.findings]
    told = "".join([str(verdict), str(verdict.to_dict()), *wheres])
    assert "\x1b" not in told
    assert "\\x1b" in verdict.integrity
    assert "y" * 100 not in told


@pytest.mark.parametrize(("length", "verdict"), [(96, "valid"), (97, "tampered")])
def test_the_name_of_an_event_has_at_most_96_characters(length: int, verdict: str) -> None:
    ledger = small()
    ledger.event("errand/tea", ledger.current["ada"], type="errand.".ljust(length, "x"))
    assert judge(ledger.bundle(), ledger).verdict == verdict


@pytest.mark.parametrize(("count", "verdict"), [(256, "valid"), (257, "tampered")])
def test_an_event_cites_at_most_256_artifacts(count: int, verdict: str) -> None:
    ledger = small()
    cited = [ledger.cite(b"%d" % number) for number in range(count)]
    ledger.event("errand/tea", ledger.current["ada"], artifacts=cited)
    assert judge(ledger.bundle(artifacts=False), ledger).verdict == verdict


def test_of_many_missing_artifacts_the_first_ten_are_told_and_the_others_counted() -> None:
    ledger = small()
    cited = [ledger.cite(b"%d" % number) for number in range(11)]
    ledger.event("errand/tea", ledger.current["ada"], artifacts=cited)
    verdict = judge(ledger.bundle(artifacts=False), ledger)
    told = [found for found in verdict.findings if found.code == "artifact_missing"]
    assert [found.severity for found in told] == ["warning"] * 10 + ["info"]
    assert told[-1].message == "and 2 more that are not in the bundle"


LONGEST = {"corr": 128, "key": 300, "role": 64, "media_type": 127}


@pytest.mark.parametrize("field", LONGEST)
@pytest.mark.parametrize(("more", "verdict"), [(0, "valid"), (1, "tampered")])
def test_a_short_text_is_as_long_as_it_may_be(field: str, more: int, verdict: str) -> None:
    ledger = small()
    ada, text = ledger.current["ada"], "x" * (LONGEST[field] + more)
    changes: Json = {field: text}
    if field == "role":
        changes = {"actor": {"epoch": 1, "id": "ada", "kid": ada.kid, "role": text}}
    if field == "media_type":
        changes = {"artifacts": [ledger.cite(b"tea", text)]}
    ledger.event("errand/tea", ada, **changes)
    assert judge(ledger.bundle(), ledger).verdict == verdict


# The limits of docs/format.md as numbers, for both checkers.

LIMITS = {
    "integer": (9_007_199_254_740_991, canonical.MAX_INT, standalone.MAX_INTEGER),
    "depth": (32, canonical.MAX_DEPTH, standalone.MAX_DEPTH),
    "line": (2_097_152, bundle.MAX_LINE, standalone.MAX_LINE_BYTES),
    "payload": (65_536, event_reader.MAX_PAYLOAD, standalone.MAX_PAYLOAD_BYTES),
    "chunk": (786_432, artifacts.CHUNK, standalone.CHUNK_BYTES),
    "receipt": (67_108_864, receipt.MAX_RECEIPT, standalone.MAX_RECEIPT_BYTES),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_is_the_one_that_the_format_states(limit: str) -> None:
    stated, ours, alone = LIMITS[limit]
    assert (ours, alone) == (stated, stated)
