"""A machine's connection to its keeper: frames over a unix socket or TLS.

A frame is four bytes of length and as many bytes. The other side is known by its certificate's
fingerprint, which came with the invitation; no public authority is asked.
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
PIECE: Final = 1 << 14  # bytes that are read in one go, as many as TLS decrypts in one
CONNECT_SECONDS: Final = 3.0
MOST_PORT: Final = 65_535
MOST_LABEL: Final = 63  # characters between two points of a host's name
UNIX: Final = "unix:"


class ConnectionLost(Exception):
    """The connection ended, or what came is no frame, is too long, or came too slowly."""


class ConnectFailed(ConnectionLost):
    """No connection could be made: nothing was sent."""


class ClientConnection:
    """One connection, used by one thread."""

    def __init__(self, raw: socket.socket) -> None:
        self._socket = raw
        self._data = bytearray()
        self._piece = memoryview(bytearray(PIECE))
        self._looking: select.poll | None = None
        self._seconds: float | None = None  # how long the socket waits: telling it is a system call
        raw.settimeout(None)

    def send(self, frame: bytes, seconds: float, *further: bytes) -> None:
        """Send a frame; `further` ones travel with it, without waiting for its answer."""
        self._wait_for(seconds)
        data = FRAME_LENGTH.pack(len(frame)) + frame
        for each in further:
            data += FRAME_LENGTH.pack(len(each)) + each
        try:
            sent = self._socket.send(data)  # nearly always all of it; `sendall` costs twice as much
            if sent < len(data):
                self._socket.sendall(memoryview(data)[sent:])
        except OSError as error:
            raise ConnectionLost(str(error) or "it broke off") from None

    def receive(self, seconds: float | None, most: int = MAX_FRAME) -> bytes:
        """Return one whole frame, within the time; with None it may take any time to begin."""
        until = None if seconds is None else time.monotonic() + seconds
        if not self._data:
            self._read_more(seconds)
        while len(self._data) < FRAME_LENGTH.size:
            self._read_more_until(until)
        (length,) = FRAME_LENGTH.unpack_from(self._data)
        if length > most:
            raise ConnectionLost("it is too long")
        end = FRAME_LENGTH.size + length
        while len(self._data) < end:
            self._read_more_until(until)
        frame = bytes(self._data[FRAME_LENGTH.size : end])
        del self._data[:end]
        return frame

    def _wait_for(self, seconds: float | None) -> None:
        if seconds != self._seconds:
            self._socket.settimeout(seconds)
            self._seconds = seconds

    def _read_more_until(self, until: float | None) -> None:
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            raise ConnectionLost("no answer in time")
        self._read_more(left)

    def _read_more(self, seconds: float | None) -> None:
        self._wait_for(seconds)
        try:
            count = self._socket.recv_into(self._piece)
        except TimeoutError:
            raise ConnectionLost("no answer in time") from None
        except OSError as error:
            raise ConnectionLost(str(error) or "it broke off") from None
        if not count:
            raise ConnectionLost("it broke off")
        self._data += self._piece[:count]

    @property
    def has_ended(self) -> bool:
        """True if the other side has closed it while nothing was asked."""
        if self._looking is None:
            self._looking = select.poll()
            self._looking.register(self._socket, select.POLLIN)
        return bool(self._looking.poll(0))

    def close(self) -> None:
        self._socket.close()


def connect(address: str, fingerprint: str, seconds: float = CONNECT_SECONDS) -> ClientConnection:
    """Connect to the keeper at `address`: HOST:PORT, or unix:PATH on the same machine.

    Tampered if another program answers there; ConnectFailed if none does.
    """
    try:
        if address.startswith(UNIX):
            return ClientConnection(_connect_here(address, seconds))
        return ClientConnection(_connect_tls(address, fingerprint, seconds))
    except TimeoutError:
        raise ConnectFailed("no answer in time") from None
    except OSError as error:
        raise ConnectFailed(error.strerror or str(error) or type(error).__name__) from None


def read_address(address: str) -> tuple[str, int]:
    """Return host and port; Unavailable (`bad_address`) if no host could have this name."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    is_port = port.isascii() and port.isdigit() and 0 < int(port) <= MOST_PORT
    if not (is_port and host.isprintable() and " " not in host and _has_labels(host)):
        raise Unavailable(
            "bad_address",
            f"{address!r} is no address",
            hint=f"an address is HOST:PORT, with a port from 1 to {MOST_PORT}",
        )
    return host, int(port)


def _has_labels(host: str) -> bool:
    """Could this be the name or the number of a host? The tables of all alphabets are loaded only
    for a name that needs them."""
    if host.isascii():
        labels = host.removesuffix(".").split(".")
        return all(0 < len(label) <= MOST_LABEL for label in labels)
    try:
        return bool(host.encode("idna"))
    except UnicodeError:
        return False


def _connect_here(address: str, seconds: float) -> socket.socket:
    """Connect to a unix socket. It shows no certificate: our own user or root must own it."""
    path = address.removeprefix(UNIX)
    if os.stat(path).st_uid not in (os.geteuid(), 0):
        raise _another_keeper(address, "another user's socket stands there")
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
        name = name.encode()  # as text it would be looked up in tables of all alphabets first
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
        raise _another_keeper(address, "its fingerprint is not the one that is known here")
    return connection


def _another_keeper(address: str, why: str) -> Tampered:
    return Tampered(
        f"another keeper answers at {address}: {why}",
        code="another_keeper",
        hint="ask whoever keeps the ledger: `moot keep` shows its fingerprint; if that has"
        " changed for a reason, take a new invitation",
    )


def fingerprint_of(certificate: bytes) -> str:
    """Return what a certificate is known by: 32 hex digits, short enough to type."""
    return sha256(certificate).hexdigest()[:32]
