"""Takes OTLP over HTTP on loopback for one run: from whoever has the run's token, and nobody else.

It listens on 127.0.0.1 at a port of the system's choice while the run lives. A request needs the
token in a header, and no browser sends one here: `Origin` is refused, and so is another `Host`. How
long a request may be and may take is bounded, and how many come at once. What is refused is told
to whoever asks, and changes nothing.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, Final

import h11
import msgspec

from moot.coding_tools.starts import TOKEN_HEADER, OtlpAddress
from moot.core.errors import Malformed
from moot.usage.tool_reports import ModelCall, read_calls

# The body of an OTLP/HTTP request as a document of OTLP's JSON form; Malformed if it is none.
#
# Protobuf is read with OpenTelemetry's own package, which comes with the extra `otel`; without it
# such a body is refused, and the tools are asked for JSON anyway.

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


HOST: Final = "127.0.0.1"
MOST_CONNECTIONS: Final = 16
IDLE_SECONDS: Final = 30.0
# How long the end of a run waits for reports that are under way.
LEAVING_SECONDS: Final = 2.0
MOST_HEADER_BYTES: Final = 16 * 1024
_READ: Final = 1 << 16

Take = Callable[[list[ModelCall]], None]
_STATUS: Final = {"otlp_malformed": 400, "otlp_unsupported": 415, "otlp_too_long": 413}


class _Refusal(Exception):
    """The answer is this status, and nothing was taken."""

    def __init__(self, status: int) -> None:
        self.status = status


@contextmanager
def receiving(take: Take) -> Iterator[OtlpAddress]:
    """Take what tools report for as long as the block lasts; OSError if nothing can listen."""
    listener = socket.create_server((HOST, 0), backlog=MOST_CONNECTIONS)
    receiver = _Receiver(listener, secrets.token_urlsafe(32), take)
    thread = threading.Thread(target=receiver.accept, name="moot-otlp", daemon=True)
    thread.start()
    try:
        yield receiver.address
    finally:
        receiver.close()
        thread.join()


class _Receiver:
    def __init__(self, listener: socket.socket, token: str, take: Take) -> None:
        self._listener = listener
        self._port = listener.getsockname()[1]
        self._token = token
        self._take = take
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._closing = False

    @property
    def address(self) -> OtlpAddress:
        return OtlpAddress(f"http://{HOST}:{self._port}", self._token)

    def close(self) -> None:
        """Take no more connections; what has arrived on those there are is still taken."""
        self._closing = True
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes `accept` where it waits
        self._listener.close()
        with self._lock:
            for line in self._open:
                with suppress(OSError):
                    line.shutdown(socket.SHUT_RD)
        until = time.monotonic() + LEAVING_SECONDS
        for _ in range(MOST_CONNECTIONS):
            if not self._room.acquire(timeout=max(0.0, until - time.monotonic())):
                return

    def accept(self) -> None:
        while not self._closing:
            try:
                line, _ = self._listener.accept()
            except OSError:
                if self._closing:
                    return
                continue  # whoever called has gone again
            if not self._room.acquire(blocking=False):
                line.close()
                continue
            threading.Thread(target=self._serve, args=(line,), daemon=True).start()

    def _serve(self, line: socket.socket) -> None:
        with self._lock:
            self._open.add(line)
        try:
            with line, suppress(OSError, h11.RemoteProtocolError):
                line.settimeout(IDLE_SECONDS)
                self._converse(line)
        finally:
            with self._lock:
                self._open.discard(line)
            self._room.release()

    def _converse(self, line: socket.socket) -> None:
        """One request after another, as long as the other side keeps to HTTP."""
        http = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEADER_BYTES)
        while True:
            event = _next_event(http, line)
            if not isinstance(event, h11.Request):
                return
            try:
                kind, status = self._answer(event, http, line), 200
            except _Refusal as refusal:
                kind, status = JSON, refusal.status
            _send(http, line, status, kind)
            if http.our_state is not h11.DONE or http.their_state is not h11.DONE:
                return  # what is left of a refused request is not read
            http.start_next_cycle()

    def _answer(self, request: h11.Request, http: h11.Connection, line: socket.socket) -> str:
        """Take a report; in which form it came."""
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers
        }
        signal = self._require_allowed(request, headers)
        if int(headers.get("content-length", "0")) > MOST_BYTES:
            raise _Refusal(413)
        if headers.get("expect", "").lower() == "100-continue":
            line.sendall(http.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
        body = _read_body(http, line)
        try:
            document = decode_request(
                signal, headers.get("content-type", ""), headers.get("content-encoding", ""), body
            )
        except Malformed as error:
            raise _Refusal(_STATUS[error.code]) from None
        calls = read_calls(signal, document)
        if calls:
            self._take(calls)
        return JSON if JSON in headers["content-type"].lower() else PROTOBUF

    def _require_allowed(self, request: h11.Request, headers: dict[str, str]) -> str:
        """The signal that is sent; refused before anything of the body is read."""
        if headers.get("host") != f"{HOST}:{self._port}" or "origin" in headers:
            raise _Refusal(403)
        token = headers.get(TOKEN_HEADER, "")
        if not hmac.compare_digest(token.encode("latin-1"), self._token.encode()):
            raise _Refusal(401)
        if request.method != b"POST":
            raise _Refusal(405)
        signal = request.target.decode("latin-1").removeprefix("/v1/")
        if signal not in SIGNALS:
            raise _Refusal(404)
        return signal


def _next_event(http: h11.Connection, line: socket.socket) -> object:
    while True:
        event = http.next_event()
        if event is not h11.NEED_DATA:
            return event
        http.receive_data(line.recv(_READ))


def _read_body(http: h11.Connection, line: socket.socket) -> bytes:
    body = bytearray()
    while True:
        event = _next_event(http, line)
        if isinstance(event, h11.EndOfMessage):
            return bytes(body)
        if not isinstance(event, h11.Data):
            raise _Refusal(400)
        body += event.data
        if len(body) > MOST_BYTES:
            raise _Refusal(413)


def _send(http: h11.Connection, line: socket.socket, status: int, kind: str) -> None:
    """The answer to a report that was taken is an empty message in the form that it came in."""
    body = b"{}" if status == 200 and kind == JSON else b""
    headers = [("content-type", kind), ("content-length", str(len(body)))]
    if http.their_state is not h11.DONE:
        headers.append(("connection", "close"))
    sent = http.send(h11.Response(status_code=status, headers=headers)) or b""
    sent += http.send(h11.Data(data=body)) or b""
    line.sendall(sent + (http.send(h11.EndOfMessage()) or b""))
