"""The keeper's end of a connection: non-blocking reads and writes.

Plain or TLS. It handles one question at a time: it takes the next after the answer has been sent,
and reads only a little ahead. So a machine that sends and never reads costs one buffer, whose size
is `buffered_bytes`.
"""

from __future__ import annotations

import math
import socket
import ssl
import time
from typing import Final

from moot.hosts.connection import FRAME_LENGTH, MAX_FRAME, ConnectionLost

CHUNK: Final = 1 << 16  # bytes that are read or written in one go
MAX_READ_AHEAD: Final = 1 << 18  # bytes that are read while a question is being answered
_WOULD_BLOCK: Final = (
    BlockingIOError,
    InterruptedError,
    ssl.SSLWantReadError,
    ssl.SSLWantWriteError,
)

_buffer: Final = memoryview(bytearray(CHUNK))  # shared: there is one thread


class ServerConnection:
    """One connection. Raises ConnectionLost for any failure; the caller then calls `close`."""

    def __init__(self, raw: socket.socket, context: ssl.SSLContext | None) -> None:
        raw.setblocking(False)
        self._socket = raw
        self._secured: ssl.SSLSocket | None = None
        if context is not None:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._secured = context.wrap_socket(
                raw, server_side=True, do_handshake_on_connect=False
            )
            self._socket = self._secured
        self._has_shaken_hands = context is None  # TLS
        self._received = bytearray()
        self._unsent: memoryview | None = None
        self._busy_bytes = 0  # bytes of the question that is being answered, then of its answer
        self.max_frame = MAX_FRAME
        self.is_answering = False  # a question was taken, and its answer has not been sent
        self.closes_after_answer = False
        self.wants_to_write = False
        self.deadline = math.inf  # when it is closed unless something happens before

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def has_room(self) -> bool:
        """Return whether more may be read now."""
        return not self.is_answering or len(self._received) < MAX_READ_AHEAD

    @property
    def has_frame(self) -> bool:
        """Return whether a whole frame has arrived, or one that is too long."""
        if len(self._received) < FRAME_LENGTH.size:
            return False
        (length,) = FRAME_LENGTH.unpack_from(self._received)
        return bool(length > self.max_frame or len(self._received) >= FRAME_LENGTH.size + length)

    @property
    def buffered_bytes(self) -> int:
        """Return the bytes in memory for it: received and not taken, and the question that is being
        answered or the unsent answer."""
        return len(self._received) + self._busy_bytes

    @property
    def is_sending(self) -> bool:
        """Return whether a part of an answer waits for the machine to read."""
        return self._unsent is not None

    def read(self) -> None:
        """Read what has arrived."""
        try:
            if self._shake_hands():
                self._read()
        except _WOULD_BLOCK:
            pass
        except OSError as error:
            raise ConnectionLost(str(error) or "the connection broke") from None

    def _shake_hands(self) -> bool:
        """Continue the TLS handshake; True if it was done before."""
        if not self._has_shaken_hands and self._secured is not None:
            self.wants_to_write = False
            try:
                self._secured.do_handshake()
            except ssl.SSLWantWriteError:
                self.wants_to_write = True
                raise
            self._has_shaken_hands = True
            return False  # the selector reports what follows
        return True

    def _read(self) -> None:
        """Read one chunk, and what TLS has decrypted already: the selector does not see that."""
        while True:
            count = self._socket.recv_into(_buffer)
            if not count:
                raise ConnectionLost("the connection broke")
            self._received += _buffer[:count]
            if self._secured is None or not self._secured.pending():
                return

    def take_frame(self) -> bytes | None:
        """Return the next frame if it is complete and no question is being answered."""
        received = self._received
        if self.is_answering or len(received) < FRAME_LENGTH.size:
            return None
        (length,) = FRAME_LENGTH.unpack_from(received)
        if length > self.max_frame:
            raise ConnectionLost("the message is too long")
        end = FRAME_LENGTH.size + length
        if len(received) < end:
            return None
        frame = bytes(received[FRAME_LENGTH.size : end])
        del received[:end]
        self.is_answering = True
        self._busy_bytes = length
        self.deadline = math.inf
        return frame

    def begin_answer(self, frame: bytes, seconds: float) -> None:
        """Send as much as possible now; `write` sends the rest, within `seconds`."""
        self._unsent = memoryview(FRAME_LENGTH.pack(len(frame)) + frame)
        self._busy_bytes = len(self._unsent)
        self.write()
        if self._unsent is not None:
            self.deadline = time.monotonic() + seconds

    def write(self) -> None:
        """Continue sending the answer; afterwards the next question can be taken.

        Bytes that could not be sent stay in place: TLS wants the same buffer again.
        """
        try:
            while self._unsent is not None:
                sent = self._socket.send(self._unsent[:CHUNK])
                self._unsent = self._unsent[sent:] if sent < len(self._unsent) else None
            self.is_answering = self.wants_to_write = False
            self._busy_bytes = 0
            self.deadline = math.inf
        except _WOULD_BLOCK:
            self.wants_to_write = True
        except OSError as error:
            raise ConnectionLost(str(error) or "the connection broke") from None

    def close(self) -> None:
        self._socket.close()
