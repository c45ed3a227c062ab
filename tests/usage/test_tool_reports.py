"""Which reports count, what of them does, and what malformed ones do: nothing."""

from __future__ import annotations

import gzip
import json
from typing import Any

import msgspec
import pytest
from google.protobuf.json_format import ParseDict
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from moot.agents.cost import Cost
from moot.core.errors import Malformed
from moot.usage.meter import RunUsage, UsageMeter
from moot.usage.receiver import JSON, MOST_BYTES, PROTOBUF, SIGNALS, decode_request
from moot.usage.tool_reports import ModelCall, read_calls
from tests.usage import reports

CLAUDE = ModelCall("claude", Cost(1, 110, 20, 250_000))
CODEX = ModelCall("codex", Cost(1, 50, 5, unpriced=1))
GEMINI = ModelCall("gemini", Cost(1, 32, 10, unpriced=1))
OPENCODE = ModelCall("opencode", Cost(1, 11, 2, unpriced=1))
DOCUMENTS = {
    "logs": reports.log(reports.claude_call(), reports.CODEX_CALL, reports.GEMINI_CALL),
    "traces": reports.trace(reports.OPENCODE_CALL, ("ai.streamText", reports.OPENCODE_CALL[1])),
}
CALLS = {"logs": [CLAUDE, CODEX, GEMINI], "traces": [OPENCODE]}
MESSAGES: dict[str, Any] = {"logs": ExportLogsServiceRequest, "traces": ExportTraceServiceRequest}


@pytest.mark.parametrize("signal", CALLS)
def test_each_tools_own_report_of_a_call_counts(signal: str) -> None:
    document = decode_request(signal, JSON, "", json.dumps(DOCUMENTS[signal]).encode())
    assert read_calls(signal, document) == CALLS[signal]


@pytest.mark.parametrize("signal", CALLS)
def test_protobuf_and_packed_bodies_say_the_same(signal: str) -> None:
    message = ParseDict(DOCUMENTS[signal], MESSAGES[signal]()).SerializeToString()
    plain = decode_request(signal, PROTOBUF, "", message)
    packed = decode_request(signal, f"{PROTOBUF}; x=1", "gzip", gzip.compress(message))
    assert read_calls(signal, plain) == read_calls(signal, packed) == CALLS[signal]


def test_no_text_of_a_report_gets_any_further() -> None:
    calls = read_calls("logs", DOCUMENTS["logs"]) + read_calls("traces", DOCUMENTS["traces"])
    kept = msgspec.json.encode([call._asdict() for call in calls]).decode()
    assert "secret" not in kept
    assert "text" not in kept


def test_what_a_stream_of_codex_says_without_numbers_is_no_call() -> None:
    quiet = {"event.name": "codex.sse_event", "event.kind": "response.completed"}
    other = {**reports.CODEX_CALL, "event.kind": "response.created"}
    assert read_calls("logs", reports.log(quiet, other)) == []


@pytest.mark.parametrize("number", ["-5", "1e9", "٣", "9" * 40, -5, 2.5, 10**30, "", True])
def test_a_number_that_is_none_counts_as_not_said(number: Any) -> None:
    record = reports.log({**reports.CODEX_CALL, "output_token_count": "5"})
    attributes = record["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["attributes"]
    for pair in attributes:
        if pair["key"] == "output_token_count":
            pair["value"] = {"intValue": number}
    (call,) = read_calls("logs", record)
    assert call.cost.tokens_in == 50
    assert call.cost.tokens_out in (0, 10**12)  # as much as a record holds, or nothing


def test_a_price_that_is_none_is_unknown_and_not_zero() -> None:
    for wrong in ("free", float("inf"), -1.0):
        (call,) = read_calls("logs", reports.log({**reports.claude_call(), "cost_usd": wrong}))
        assert (call.cost.micros, call.cost.unpriced) == (0, 1)


def test_a_meter_knows_nothing_before_the_first_report() -> None:
    told: list[RunUsage] = []
    meter = UsageMeter(told.append)
    meter.add([])
    assert (meter.total, told) == (None, [])
    meter.add([CLAUDE, CODEX])
    meter.add([CLAUDE])
    assert meter.total == RunUsage(("claude", "codex"), Cost(3, 270, 45, 500_000, 1))
    assert told[-1] == meter.total


@pytest.mark.parametrize(
    ("kind", "encoding", "body", "code"),
    [
        (JSON, "", b"{", "otlp_malformed"),
        (JSON, "", b"[]", "otlp_malformed"),
        (JSON, "", b"[" * 100_000, "otlp_malformed"),
        (JSON, "", b'"\xff"', "otlp_malformed"),
        (PROTOBUF, "", b"\xff\xff\xff", "otlp_malformed"),
        (JSON, "gzip", b"no gzip", "otlp_malformed"),
        (JSON, "gzip", gzip.compress(b"{}", mtime=0)[:-9], "otlp_malformed"),
        (JSON, "gzip", gzip.compress(bytes(MOST_BYTES + 1), mtime=0), "otlp_too_long"),
        (JSON, "br", b"{}", "otlp_unsupported"),
        ("text/plain", "", b"{}", "otlp_unsupported"),
        ("", "", b"{}", "otlp_unsupported"),
    ],
)
def test_a_body_that_is_no_report_is_refused_by_name(
    kind: str, encoding: str, body: bytes, code: str
) -> None:
    with pytest.raises(Malformed) as problem:
        decode_request("logs", kind, encoding, body)
    assert problem.value.code == code


NAMES = ("resourceLogs", "scopeLogs", "logRecords", "resourceSpans", "scopeSpans", "spans")
FIELDS = ("attributes", "key", "value", "intValue", "stringValue", "name", "eventName")
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from((*NAMES, *FIELDS)) | st.text(max_size=5), inner, max_size=4
        )
    ),
    max_leaves=25,
)
DOCUMENT = st.dictionaries(st.sampled_from(["resourceLogs", "resourceSpans"]), JSON_VALUES)


@given(signal=st.sampled_from([*SIGNALS, "other"]), document=DOCUMENT)
def test_any_document_is_read_without_trouble(signal: str, document: dict[str, Any]) -> None:
    for call in read_calls(signal, document):
        assert call.cost.tokens_in >= 0
        assert call.cost.tokens_out >= 0


def code_of(signal: str, kind: str, encoding: str, body: bytes) -> str:
    """How a body is refused; empty if it is read, and then so are its calls."""
    try:
        read_calls(signal, decode_request(signal, kind, encoding, body))
    except Malformed as problem:
        return problem.code
    return ""


@given(
    signal=st.sampled_from([*SIGNALS, "other"]),
    kind=st.sampled_from([JSON, PROTOBUF, "text/plain", ""]),
    encoding=st.sampled_from(["", "identity", "gzip", "br"]),
    body=st.binary(max_size=300),
)
def test_any_bytes_are_read_or_refused(signal: str, kind: str, encoding: str, body: bytes) -> None:
    assert code_of(signal, kind, encoding, body) in ("", "otlp_malformed", "otlp_unsupported")


@given(cut=st.integers(0, 400), flip=st.integers(0, 400), bits=st.integers(1, 255))
def test_a_damaged_message_is_read_or_refused(cut: int, flip: int, bits: int) -> None:
    message = ParseDict(DOCUMENTS["logs"], ExportLogsServiceRequest()).SerializeToString()
    damaged = bytearray(message[: len(message) - cut])
    damaged[flip % len(damaged)] ^= bits
    assert code_of("logs", PROTOBUF, "", bytes(damaged)) in ("", "otlp_malformed")
