"""The body of an OTLP/HTTP request as a document of OTLP's JSON form; Malformed if it is none.

Protobuf is read with OpenTelemetry's own package, which comes with the extra `otel`; without it
such a body is refused, and the tools are asked for JSON anyway.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

import msgspec

from moot.core.errors import Malformed

MOST_BYTES: Final = 32 * 1024 * 1024
JSON: Final = "application/json"
PROTOBUF: Final = "application/x-protobuf"
# Each signal: where its messages are defined, and what the request is called there.
SIGNALS: Final[Mapping[str, tuple[str, str]]] = {
    "logs": ("logs.v1.logs_service_pb2", "ExportLogsServiceRequest"),
    "traces": ("trace.v1.trace_service_pb2", "ExportTraceServiceRequest"),
    "metrics": ("metrics.v1.metrics_service_pb2", "ExportMetricsServiceRequest"),
}


def decode_request(signal: str, content_type: str, encoding: str, body: bytes) -> Mapping[str, Any]:
    """The document; Malformed (`otlp_malformed`, `otlp_unsupported`, `otlp_too_long`)."""
    read = _READERS.get(content_type.partition(";")[0].strip().lower())
    if read is None or signal not in SIGNALS:
        raise _unsupported(f"{signal} as {content_type[:80]!r} is not taken here")
    document = read(signal, _decompress(encoding.strip().lower(), body))
    if not isinstance(document, dict):
        raise _malformed("the document is no object")
    return document


def _decompress(encoding: str, body: bytes) -> bytes:
    if encoding in ("", "identity"):
        return body
    if encoding != "gzip":
        raise _unsupported(f"the encoding {encoding[:40]!r} is not taken here")
    reader = zlib.decompressobj(wbits=31)
    try:
        data = reader.decompress(body, MOST_BYTES + 1)
    except zlib.error as error:
        raise _malformed(str(error)) from None
    if len(data) > MOST_BYTES:
        raise Malformed("it is too long when unpacked", code="otlp_too_long")
    if not reader.eof:
        raise _malformed("it is packed, and breaks off")
    return data


def _read_json(_signal: str, body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise _malformed(str(error)) from None


def _read_protobuf(signal: str, body: bytes) -> Any:
    module, name = SIGNALS[signal]
    try:
        messages = import_module(f"opentelemetry.proto.collector.{module}")
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
    except ImportError:
        raise _unsupported("protobuf is read only with the extra `otel`") from None
    request = getattr(messages, name)()
    try:
        request.ParseFromString(body)
        return MessageToDict(request)
    except (DecodeError, ValueError, RecursionError) as error:
        raise _malformed(str(error)) from None


def _malformed(why: str) -> Malformed:
    return Malformed(f"this is no OTLP request: {why[:200]}", code="otlp_malformed")


def _unsupported(why: str) -> Malformed:
    return Malformed(why, code="otlp_unsupported")


_READERS: Final[Mapping[str, Callable[[str, bytes], Any]]] = {
    JSON: _read_json,
    PROTOBUF: _read_protobuf,
}
