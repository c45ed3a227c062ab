"""Reports as the tools send them, cut down to what matters: documents of OTLP's JSON form."""

from __future__ import annotations

from typing import Any


def attribute(name: str, value: Any) -> dict[str, Any]:
    kind = {int: "intValue", float: "doubleValue", str: "stringValue"}[type(value)]
    return {"key": name, "value": {kind: value}}


def log(*records: dict[str, Any]) -> dict[str, Any]:
    """A request with these records, each by its attributes; every one holds a text as well."""
    made = [
        {
            "timeUnixNano": "1794798242816000000",
            "body": {"stringValue": "a text that nobody is to keep"},
            "attributes": [attribute(name, value) for name, value in record.items()],
        }
        for record in records
    ]
    scope = {"scope": {"name": "tool"}, "logRecords": made}
    return {"resourceLogs": [{"resource": {"attributes": []}, "scopeLogs": [scope]}]}


def trace(*spans: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    made = [
        {
            "name": name,
            "traceId": "0af7651916cd43dd8448eb211c80319c",
            "spanId": "b7ad6b7169203331",
            "attributes": [attribute(key, value) for key, value in attributes.items()],
        }
        for name, attributes in spans
    ]
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "tool"}, "spans": made}]}]}


def claude_call(
    tokens_in: int = 100, tokens_out: int = 20, dollars: float = 0.25
) -> dict[str, Any]:
    return {
        "event.name": "api_request",
        "model": "claude-opus",
        "prompt": "a secret question",
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "cache_read_tokens": 7,
        "cache_creation_tokens": 3,
        "cost_usd": dollars,
    }


CODEX_CALL = {
    "event.name": "codex.sse_event",
    "event.kind": "response.completed",
    "input_token_count": "50",  # the JSON of OTLP writes whole numbers as text
    "output_token_count": "5",
    "cached_token_count": "40",
    "reasoning_token_count": "2",
}
GEMINI_CALL = {
    "event.name": "gemini_cli.api_response",
    "input_token_count": 30,
    "output_token_count": 4,
    "thoughts_token_count": 6,
    "tool_token_count": 2,
}
OPENCODE_CALL = (
    "ai.streamText.doStream",
    {"ai.prompt": "a secret", "gen_ai.usage.input_tokens": 11, "gen_ai.usage.output_tokens": 2},
)
