"""Receive OTLP over HTTP on loopback for one run; every request needs the run's token.

It listens on 127.0.0.1, at a port that the system chooses, while the run is active. Requests from a
browser (with `Origin`) and for another `Host` are refused. The size, duration and number of
requests are limited. A refused request gets a status and changes nothing.
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

MOST_BYTES: Final = 32 * 1024 * 1024
JSON: Final = "application/json"
PROTOBUF: Final = "application/x-protobuf"
# Signal -> the protobuf module of its messages, and the name of its request there.
SIGNALS: Final[Mapping[str, tuple[str, str]]] = {
    "logs": ("logs.v1.logs_service_pb2", "ExportLogsServiceRequest"),
    "traces": ("trace.v1.trace_service_pb2", "ExportTraceServiceRequest"),
    "metrics": ("metrics.v1.metrics_service_pb2", "ExportMetricsServiceRequest"),
}


def decode_request(signal: str, content_type: str, encoding: str, body: bytes) -> Mapping[str, Any]:
    """Return the request as OTLP's JSON form; raise Malformed (`otlp_malformed`,
    `otlp_unsupported`, `otlp_too_long`).

    Protobuf needs OpenTelemetry's package, which the extra `otel` installs. Without it such a body
    is refused; Moot configures the tools to send JSON.
    """
    read = _READERS.get(content_type.partition(";")[0].strip().lower())
    if read is None or signal not in SIGNALS:
        raise _unsupported(f"{signal} as {content_type[:80]!r} is not supported")
    document = read(signal, _decompress(encoding.strip().lower(), body))
    if not isinstance(document, dict):
        raise _malformed("the document is not an object")
    return document


def _decompress(encoding: str, body: bytes) -> bytes:
    if encoding in ("", "identity"):
        return body
    if encoding != "gzip":
        raise _unsupported(f"the encoding {encoding[:40]!r} is not supported")
    reader = zlib.decompressobj(wbits=31)
    try:
        data = reader.decompress(body, MOST_BYTES + 1)
    except zlib.error as error:
        raise _malformed(str(error)) from None
    if len(data) > MOST_BYTES:
        raise Malformed("it is too long when decompressed", code="otlp_too_long")
    if not reader.eof:
        raise _malformed("the compressed body is truncated")
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
        raise _unsupported("protobuf needs the extra `otel`") from None
    request = getattr(messages, name)()
    try:
        request.ParseFromString(body)
        return MessageToDict(request)
    except (DecodeError, ValueError, RecursionError) as error:
        raise _malformed(str(error)) from None


def _malformed(why: str) -> Malformed:
    return Malformed(f"this is not an OTLP request: {why[:200]}", code="otlp_malformed")


def _unsupported(why: str) -> Malformed:
    return Malformed(why, code="otlp_unsupported")


_READERS: Final[Mapping[str, Callable[[str, bytes], Any]]] = {
    JSON: _read_json,
    PROTOBUF: _read_protobuf,
}


HOST: Final = "127.0.0.1"
MOST_CONNECTIONS: Final = 16
IDLE_SECONDS: Final = 30.0
# How long the end of a run waits for open requests.
CLOSE_SECONDS: Final = 2.0
MOST_HEADER_BYTES: Final = 16 * 1024
_READ: Final = 1 << 16

TakeCalls = Callable[[list[ModelCall]], None]
_STATUS: Final = {"otlp_malformed": 400, "otlp_unsupported": 415, "otlp_too_long": 413}


class _Refusal(Exception):
    """Answer with this status; the request changed nothing."""

    def __init__(self, status: int) -> None:
        self.status = status


@contextmanager
def receiving(take: TakeCalls) -> Iterator[OtlpAddress]:
    """Receive reports of tools while the block runs; raise OSError if it cannot listen."""
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
    def __init__(self, listener: socket.socket, token: str, take: TakeCalls) -> None:
        self._listener = listener
        self._port = listener.getsockname()[1]
        self._token = token
        self._take = take
        self._slots = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._closing = False

    @property
    def address(self) -> OtlpAddress:
        return OtlpAddress(f"http://{HOST}:{self._port}", self._token)

    def close(self) -> None:
        """Accept no more connections; process what has arrived on the open ones."""
        self._closing = True
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes `accept` where it waits
        self._listener.close()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RD)
        until = time.monotonic() + CLOSE_SECONDS
        for _ in range(MOST_CONNECTIONS):
            if not self._slots.acquire(timeout=max(0.0, until - time.monotonic())):
                return

    def accept(self) -> None:
        while not self._closing:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                if self._closing:
                    return
                continue  # the client has closed the connection
            if not self._slots.acquire(blocking=False):
                connection.close()
                continue
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.add(connection)
        try:
            with connection, suppress(OSError, h11.RemoteProtocolError):
                connection.settimeout(IDLE_SECONDS)
                self._serve_requests(connection)
        finally:
            with self._lock:
                self._open.discard(connection)
            self._slots.release()

    def _serve_requests(self, connection: socket.socket) -> None:
        """Answer one request after another while the client follows HTTP."""
        http = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEADER_BYTES)
        while True:
            event = _next_event(http, connection)
            if not isinstance(event, h11.Request):
                return
            try:
                kind, status = self._answer(event, http, connection), 200
            except _Refusal as refusal:
                kind, status = JSON, refusal.status
            _send(http, connection, status, kind)
            if http.our_state is not h11.DONE or http.their_state is not h11.DONE:
                return  # do not read the rest of a refused request
            http.start_next_cycle()

    def _answer(self, request: h11.Request, http: h11.Connection, connection: socket.socket) -> str:
        """Take a report; return its content type."""
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers
        }
        signal = self._require_allowed(request, headers)
        if int(headers.get("content-length", "0")) > MOST_BYTES:
            raise _Refusal(413)
        if headers.get("expect", "").lower() == "100-continue":
            connection.sendall(
                http.send(h11.InformationalResponse(status_code=100, headers=[])) or b""
            )
        body = _read_body(http, connection)
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
        """Return the signal that is sent; refuse a request before its body is read."""
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


def _next_event(http: h11.Connection, connection: socket.socket) -> object:
    while True:
        event = http.next_event()
        if event is not h11.NEED_DATA:
            return event
        http.receive_data(connection.recv(_READ))


def _read_body(http: h11.Connection, connection: socket.socket) -> bytes:
    body = bytearray()
    while True:
        event = _next_event(http, connection)
        if isinstance(event, h11.EndOfMessage):
            return bytes(body)
        if not isinstance(event, h11.Data):
            raise _Refusal(400)
        body += event.data
        if len(body) > MOST_BYTES:
            raise _Refusal(413)


def _send(http: h11.Connection, connection: socket.socket, status: int, kind: str) -> None:
    """Send the answer: for a report that was taken, an empty message of its content type."""
    body = b"{}" if status == 200 and kind == JSON else b""
    headers = [("content-type", kind), ("content-length", str(len(body)))]
    if http.their_state is not h11.DONE:
        headers.append(("connection", "close"))
    sent = http.send(h11.Response(status_code=status, headers=headers)) or b""
    sent += http.send(h11.Data(data=body)) or b""
    connection.sendall(sent + (http.send(h11.EndOfMessage()) or b""))
