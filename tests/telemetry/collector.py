"""A collector: takes OTLP over HTTP and reads it with OpenTelemetry's own messages."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

MESSAGES: dict[str, Any] = {
    "/v1/traces": ExportTraceServiceRequest,
    "/v1/metrics": ExportMetricsServiceRequest,
}


class Span(NamedTuple):
    name: str
    attributes: dict[str, Any]
    trace: str
    id: str
    parent: str
    failed: bool
    schema: str


class Collector:
    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def variables(self) -> dict[str, str]:
        return {"MOOT_OTEL": "1", "OTEL_EXPORTER_OTLP_ENDPOINT": self.url}

    def __enter__(self) -> Collector:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def spans(self) -> list[Span]:
        return [
            _span(span, scope.get("schemaUrl", ""))
            for path, document in self.requests
            if path == "/v1/traces"
            for resource in document["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]

    def span(self, name: str) -> Span:
        (found,) = [span for span in self.spans if span.name == name]
        return found

    def points(self, name: str) -> list[tuple[dict[str, Any], Any]]:
        """The points of a metric: their attributes and values, in the order they came."""
        return [
            (_attributes(point), _value(point))
            for path, document in self.requests
            if path == "/v1/metrics"
            for resource in document["resourceMetrics"]
            for scope in resource["scopeMetrics"]
            for metric in scope["metrics"]
            if metric["name"] == name
            for kind in ("sum", "gauge", "histogram")
            for point in metric.get(kind, {}).get("dataPoints", [])
        ]

    @property
    def resources(self) -> list[dict[str, Any]]:
        return [
            _attributes(resource["resource"])
            for _, document in self.requests
            for kind in ("resourceSpans", "resourceMetrics")
            for resource in document.get(kind, [])
        ]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Silent: pytest shows what matters."""

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                message = MESSAGES[self.path]()
                message.ParseFromString(body)
                collector.bodies.append(body)
                collector.requests.append((self.path, MessageToDict(message)))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

        return Handler


def _span(span: dict[str, Any], schema: str) -> Span:
    return Span(
        span["name"],
        _attributes(span),
        span["traceId"],
        span["spanId"],
        span.get("parentSpanId", ""),
        span.get("status", {}).get("code") == "STATUS_CODE_ERROR",
        schema,
    )


def _attributes(holder: dict[str, Any]) -> dict[str, Any]:
    return {pair["key"]: _plain(pair["value"]) for pair in holder.get("attributes", [])}


def _plain(value: dict[str, Any]) -> Any:
    kind, content = next(iter(value.items()))
    if kind == "intValue":
        return int(content)
    if kind == "arrayValue":
        return [_plain(each) for each in content.get("values", [])]
    return content


def _value(point: dict[str, Any]) -> Any:
    if "count" in point:
        return int(point["count"])
    return int(point["asInt"]) if "asInt" in point else point["asDouble"]
