"""A machine's connection to its keeper: frames over a unix socket or TLS.

A frame is a length in four bytes and that many bytes. The machine recognises its keeper by the
certificate's fingerprint, which came with the invitation; no certificate authority is involved.
"""

from __future__ import annotations

import os
import select
import socket
import ssl
import struct
import time
from typing import Any, Final

from moot.core.errors import Tampered, Unavailable
from moot.core.sha256 import sha256

MAX_FRAME: Final = 64 * 1024 * 1024
FRAME_LENGTH: Final = struct.Struct(">I")  # before every frame
CHUNK: Final = 1 << 14  # bytes that are read in one go, as many as TLS decrypts in one
CONNECT_SECONDS: Final = 3.0
MAX_PORT: Final = 65_535
MAX_LABEL: Final = 63  # characters between two points of a host's name
UNIX: Final = "unix:"


class ConnectionLost(Exception):
    """The connection ended, or a frame was malformed, too long or too slow."""


class ConnectFailed(ConnectionLost):
    """The connection could not be made: nothing was sent."""


class ClientConnection:
    """One connection, used by one thread."""

    def __init__(self, raw: socket.socket) -> None:
        self._socket = raw
        self._received = bytearray()
        self._read_buffer = memoryview(bytearray(CHUNK))
        self._poller: select.poll | None = None
        self._seconds: float | None = None  # the socket's timeout; setting it is a system call
        raw.settimeout(None)

    def send(self, frame: bytes, seconds: float, *further: bytes) -> None:
        """Send a frame, and `further` ones with it, without waiting for an answer."""
        self._set_timeout(seconds)
        data = FRAME_LENGTH.pack(len(frame)) + frame
        for each in further:
            data += FRAME_LENGTH.pack(len(each)) + each
        try:
            sent = self._socket.send(data)  # nearly always all of it; `sendall` costs twice as much
            if sent < len(data):
                self._socket.sendall(memoryview(data)[sent:])
        except OSError as error:
            raise ConnectionLost(str(error) or "the connection broke") from None

    def receive(self, seconds: float | None, most: int = MAX_FRAME) -> bytes:
        """Return one whole frame, received within `seconds`; None waits without a limit."""
        until = None if seconds is None else time.monotonic() + seconds
        if not self._received:
            self._read_more(seconds)
        while len(self._received) < FRAME_LENGTH.size:
            self._read_more_until(until)
        (length,) = FRAME_LENGTH.unpack_from(self._received)
        if length > most:
            raise ConnectionLost("the message is too long")
        end = FRAME_LENGTH.size + length
        while len(self._received) < end:
            self._read_more_until(until)
        frame = bytes(self._received[FRAME_LENGTH.size : end])
        del self._received[:end]
        return frame

    def _set_timeout(self, seconds: float | None) -> None:
        if seconds != self._seconds:
            self._socket.settimeout(seconds)
            self._seconds = seconds

    def _read_more_until(self, until: float | None) -> None:
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            raise ConnectionLost("no answer in time")
        self._read_more(left)

    def _read_more(self, seconds: float | None) -> None:
        self._set_timeout(seconds)
        try:
            count = self._socket.recv_into(self._read_buffer)
        except TimeoutError:
            raise ConnectionLost("no answer in time") from None
        except OSError as error:
            raise ConnectionLost(str(error) or "the connection broke") from None
        if not count:
            raise ConnectionLost("the connection broke")
        self._received += self._read_buffer[:count]

    @property
    def has_ended(self) -> bool:
        """Return whether the keeper closed the connection while it was idle."""
        if self._poller is None:
            self._poller = select.poll()
            self._poller.register(self._socket, select.POLLIN)
        return bool(self._poller.poll(0))

    def close(self) -> None:
        self._socket.close()


def connect(address: str, fingerprint: str, seconds: float = CONNECT_SECONDS) -> ClientConnection:
    """Connect to the keeper at `address`: HOST:PORT, or unix:PATH on the same machine.

    Tampered if another program answers there; ConnectFailed if none does.
    """
    try:
        if address.startswith(UNIX):
            return ClientConnection(_connect_unix(address, seconds))
        return ClientConnection(_connect_tls(address, fingerprint, seconds))
    except TimeoutError:
        raise ConnectFailed("no answer in time") from None
    except OSError as error:
        raise ConnectFailed(error.strerror or str(error) or type(error).__name__) from None


def read_address(address: str) -> tuple[str, int]:
    """Return host and port; Unavailable (`bad_address`) if the address is malformed."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    is_port = port.isascii() and port.isdigit() and 0 < int(port) <= MAX_PORT
    if not (is_port and host.isprintable() and " " not in host and _is_host_name(host)):
        raise Unavailable(
            "bad_address",
            f"{address!r} is not an address",
            hint=f"an address is HOST:PORT, with a port from 1 to {MAX_PORT}",
        )
    return host, int(port)


def _is_host_name(host: str) -> bool:
    """Return whether this can be a host's name or number. IDNA tables load only when needed."""
    if host.isascii():
        labels = host.removesuffix(".").split(".")
        return all(0 < len(label) <= MAX_LABEL for label in labels)
    try:
        return bool(host.encode("idna"))
    except UnicodeError:
        return False


def _connect_unix(address: str, seconds: float) -> socket.socket:
    """Connect to a unix socket. It has no certificate, so our own user or root must own it."""
    path = address.removeprefix(UNIX)
    if os.stat(path).st_uid not in (os.geteuid(), 0):
        raise _another_keeper(address, "the socket belongs to another user")
    plain = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        plain.settimeout(seconds)
        plain.connect(path)
    except BaseException:
        plain.close()
        raise
    return plain


def _connect_tls(address: str, fingerprint: str, seconds: float) -> ssl.SSLSocket:
    host, port = read_address(address)
    name: Any = host
    if name.isascii():
        name = name.encode()  # a str would load the IDNA tables
    plain = socket.create_connection((name, port), seconds)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # the fingerprint below is the check
    try:
        connection = context.wrap_socket(plain, server_hostname=None)
    except BaseException:
        plain.close()
        raise
    shown = connection.getpeercert(binary_form=True) or b""
    if fingerprint_of(shown) != fingerprint:
        connection.close()
        raise _another_keeper(address, "its fingerprint is not the one known here")
    return connection


def _another_keeper(address: str, why: str) -> Tampered:
    return Tampered(
        f"another keeper answers at {address}: {why}",
        code="another_keeper",
        hint="compare with the fingerprint that `moot keep` shows on the machine that keeps the"
        " ledger; if it was changed on purpose, join again with a new invitation",
    )


def fingerprint_of(certificate: bytes) -> str:
    """Return a certificate's fingerprint: 32 hex digits, short enough to type."""
    return sha256(certificate).hexdigest()[:32]
