"""The exporters, the tracer and the measurements of this process.

OpenTelemetry's own variables say where and how often to export; only OTLP over HTTP as protobuf is
supported. A collector that does not answer delays the end of a process by a bounded time. It makes
no command fail and prints nothing unless MOOT_DEBUG is set.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from moot.core.version import VERSION
from moot.usage.telemetry.conventions import (
    CAPTURE_VARIABLE,
    ERROR,
    EVENT,
    SCHEMA_URL,
    SCOPE,
    TOKEN_TYPE,
    TOKEN_USAGE,
    RecordCounts,
)

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span

    from moot.api.runs.limits import Cost


# How long one export may take, unless OTEL_EXPORTER_OTLP_TIMEOUT says otherwise. It is shorter than
# the exporter's first pause before a retry, so that there is no retry if the collector is down.
EXPORT_SECONDS: Final = 0.75
# How much longer the end of a process waits: the name of a collector may not resolve.
CLOSE_SECONDS: Final = 1.0
DEFAULT_ENDPOINT: Final = "http://localhost:4318"
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
_HEADERS: Final = "OTEL_EXPORTER_OTLP_HEADERS"
_INCURSION: Final = "presence.incursion_noted"
_TEXTS_ON: Final = frozenset({"1", "true", "span_only", "span_and_event"})


class NotExported(Exception):
    """Telemetry is on but impossible; the message says why."""


class Telemetry:
    """The exporters of this process, until `close`. `texts`: texts may be exported."""

    def __init__(self, env: Mapping[str, str], *, texts: bool, counts: RecordCounts) -> None:
        _require_known_protocol(env)
        if not env.get("MOOT_DEBUG"):
            _silence_library()
        self.env = env
        self._seconds = _export_seconds(env)
        self.texts = texts or env.get(CAPTURE_VARIABLE, "").lower() in _TEXTS_ON
        self._counts = counts
        resource = Resource.create(_resource(env))
        self._traces = TracerProvider(resource=resource, shutdown_on_exit=False)
        if _is_exported(env, "TRACES"):
            exporter = OTLPSpanExporter(**_address(env, "traces"))
            self._traces.add_span_processor(BatchSpanProcessor(exporter))
        readers = []
        if _is_exported(env, "METRICS"):
            metric_exporter = OTLPMetricExporter(**_address(env, "metrics"))
            readers.append(PeriodicExportingMetricReader(metric_exporter))
        self._metrics = MeterProvider(readers, resource=resource, shutdown_on_exit=False)
        self.tracer = self._traces.get_tracer(SCOPE, VERSION, schema_url=SCHEMA_URL)
        self._make_instruments()

    def _make_instruments(self) -> None:
        meter = self._metrics.get_meter(SCOPE, VERSION, schema_url=SCHEMA_URL)
        self._events = meter.create_counter("moot.events", "{event}", "Events recorded")
        self._refusals = meter.create_counter("moot.refusals", "{refusal}", "Acts refused")
        self._incursions = meter.create_counter(
            "moot.incursions", "{incursion}", "Attempts to reach into what another holds"
        )
        self._durations = {
            what: meter.create_histogram(f"moot.{what}.duration", "s", f"How long a {what} took")
            for what in ("command", "hook", "call")
        }
        self._duties = meter.create_gauge("moot.duties.open", "{duty}", "What is due here")
        self._tokens = meter.create_histogram(TOKEN_USAGE, "{token}", "Tokens of one call")
        self._cost = meter.create_counter("moot.cost", "USD", "Money, where a price is known")

    @property
    def parent(self) -> Context:
        """The trace of the process that started us, if it named one."""
        carrier = {"traceparent": self.env.get("TRACEPARENT", "")}
        return TraceContextTextMapPropagator().extract(carrier)

    def measure(self, what: str, seconds: float, attributes: Mapping[str, Any]) -> None:
        self._durations[what].record(seconds, dict(attributes))

    def set_open_duties(self, count: int) -> None:
        self._duties.set(count)

    def add_cost(self, cost: Cost, attributes: Mapping[str, Any]) -> None:
        """Add what was used; add nothing if it is unknown, because unknown is not zero."""
        for kind, tokens in (("input", cost.tokens_in), ("output", cost.tokens_out)):
            if tokens:
                self._tokens.record(tokens, {**attributes, TOKEN_TYPE: kind})
        if cost.calls > cost.unpriced:
            self._cost.add(cost.micros / 1_000_000, dict(attributes))

    def add_counts(self, counts: RecordCounts) -> None:
        """Export what was recorded and refused since the last call."""
        events, refusals = counts.take()
        for kind, count in events.items():
            self._events.add(count, {EVENT: kind})
        for code, count in refusals.items():
            self._refusals.add(count, {ERROR: code})
        if events[_INCURSION]:
            self._incursions.add(events[_INCURSION])

    def close(self) -> None:
        """Send what is left, and wait for that no longer than a bounded time."""
        self.add_counts(self._counts)
        sending = threading.Thread(target=self._shut_down, name="moot-telemetry", daemon=True)
        sending.start()
        sending.join(CLOSE_SECONDS + 2 * self._seconds)

    def _shut_down(self) -> None:
        self._traces.shutdown()
        self._metrics.shutdown(timeout_millis=self._seconds * 2_000)


def trace_parent(span: Span) -> str:
    """Return the value of TRACEPARENT for a program that is part of this span."""
    from opentelemetry.trace import set_span_in_context

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier, set_span_in_context(span))
    return carrier.get("traceparent", "")


def _require_known_protocol(env: Mapping[str, str]) -> None:
    for variable in _PROTOCOLS:
        if env.get(variable, "http/protobuf") != "http/protobuf" and not _is_of_run(env):
            raise NotExported(
                f"{variable} is {env[variable]}, but Moot supports only http/protobuf"
            )


def _is_exported(env: Mapping[str, str], signal: str) -> bool:
    is_disabled = env.get("OTEL_SDK_DISABLED", "").lower() == "true"
    is_otlp = env.get(f"OTEL_{signal}_EXPORTER", "otlp") == "otlp"
    return (is_otlp and not is_disabled) or _is_of_run(env)


def _is_of_run(env: Mapping[str, str]) -> bool:
    """Return True if the variables name the `moot run` that started us: they are for its tool."""
    return "x-moot-token=" in env.get(_HEADERS, "")


def _address(env: Mapping[str, str], signal: str) -> dict[str, Any]:
    """Return the arguments of an exporter; it reads the rest from the variables itself."""
    arguments: dict[str, Any] = {"timeout": _export_seconds(env)}
    if _is_of_run(env):  # then the user has named no other address
        arguments["endpoint"] = f"{DEFAULT_ENDPOINT}/v1/{signal}"
        arguments["headers"] = {"x-from": "moot"}
    return arguments


def _export_seconds(env: Mapping[str, str]) -> float:
    """Return how long one export may take; raise ValueError if the variable is not a number."""
    text = env.get("OTEL_EXPORTER_OTLP_TIMEOUT")
    return float(text) if text else EXPORT_SECONDS


def _resource(env: Mapping[str, str]) -> dict[str, str]:
    """Return who exports; the user's variables may name the service differently."""
    resource = {"service.version": VERSION, "service.instance.id": str(uuid.uuid4())}
    attributes = env.get("OTEL_RESOURCE_ATTRIBUTES", "")
    is_named = env.get("OTEL_SERVICE_NAME") or "service.name=" in attributes
    return resource if is_named else {"service.name": "moot", **resource}


def _silence_library() -> None:
    """Discard the library's log of failed attempts: standard error belongs to the command."""
    log = logging.getLogger("opentelemetry")
    log.addHandler(logging.NullHandler())
    log.propagate = False


def start_telemetry(env: Mapping[str, str], counts: RecordCounts) -> Telemetry:
    """Start to export; raise NotExported if a variable asks for something unsupported."""
    from moot.usage.telemetry.switch import read_telemetry_settings

    texts = read_telemetry_settings(env).texts == "on"
    try:
        return Telemetry(env, texts=texts, counts=counts)
    except (ValueError, KeyError, OSError) as error:
        raise NotExported(f"OpenTelemetry cannot use its variables: {error}") from None
