"""The keeper's end of a connection: non-blocking reads and writes.

Plain or TLS. One question at a time: the next is taken once its answer has been sent, and of what
comes meanwhile only a little is read. So a machine that sends and never reads costs a buffer, and
`held` says how long that is.
"""

from __future__ import annotations

import math
import socket
import ssl
import time
from typing import Final

from moot.hosts.connection import FRAME_LENGTH, MAX_FRAME, ConnectionLost

AT_ONCE: Final = 1 << 16  # bytes that are read or written in one go
MOST_AHEAD: Final = 1 << 18  # bytes that are read while a question is being answered
_NOT_NOW: Final = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)

_read: Final = memoryview(bytearray(AT_ONCE))  # shared: there is one thread


class ServerConnection:
    """One connection. Whatever breaks it is raised as ConnectionLost; `close` is the caller's."""

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
        self._is_agreed = context is None  # on the secrets of TLS
        self._came = bytearray()
        self._goes: memoryview | None = None
        self._busy_with = 0  # bytes of the question that is being answered, then of its answer
        self.most = MAX_FRAME  # how long a frame may be
        self.is_answering = False  # a question was taken, and its answer has not been sent
        self.is_last = False  # it ends once its answer has been sent
        self.wants_to_write = False
        self.ends_at = math.inf  # when it is closed unless something happens before

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def has_room(self) -> bool:
        """Whether more may be read now."""
        return not self.is_answering or len(self._came) < MOST_AHEAD

    @property
    def has_frame(self) -> bool:
        """Whether a whole frame has come, or one that is too long."""
        if len(self._came) < FRAME_LENGTH.size:
            return False
        (length,) = FRAME_LENGTH.unpack_from(self._came)
        return bool(length > self.most or len(self._came) >= FRAME_LENGTH.size + length)

    @property
    def held(self) -> int:
        """How many bytes are kept in memory for it: what has come and was not taken, and the
        question that is being answered or its answer, until all of that was read."""
        return len(self._came) + self._busy_with

    @property
    def is_sending(self) -> bool:
        """Whether a part of an answer waits until the other side reads."""
        return self._goes is not None

    def read(self) -> None:
        """Take in what has come."""
        try:
            if self._agree():
                self._read()
        except _NOT_NOW:
            pass
        except OSError as error:
            raise ConnectionLost(str(error) or "it broke off") from None

    def _agree(self) -> bool:
        """The handshake of TLS, as far as it goes now; True once it is done."""
        if not self._is_agreed and self._secured is not None:
            self.wants_to_write = False
            try:
                self._secured.do_handshake()
            except ssl.SSLWantWriteError:
                self.wants_to_write = True
                raise
            self._is_agreed = True
            return False  # what follows is told by the selector
        return True

    def _read(self) -> None:
        """Up to one piece; TLS may have decrypted more than that, of which nobody else knows."""
        while True:
            count = self._socket.recv_into(_read)
            if not count:
                raise ConnectionLost("it broke off")
            self._came += _read[:count]
            if self._secured is None or not self._secured.pending():
                return

    def take_frame(self) -> bytes | None:
        """The next whole frame, if it is there and nothing else is being answered."""
        came = self._came
        if self.is_answering or len(came) < FRAME_LENGTH.size:
            return None
        (length,) = FRAME_LENGTH.unpack_from(came)
        if length > self.most:
            raise ConnectionLost("it is too long")
        end = FRAME_LENGTH.size + length
        if len(came) < end:
            return None
        frame = bytes(came[FRAME_LENGTH.size : end])
        del came[:end]
        self.is_answering = True
        self._busy_with = length
        self.ends_at = math.inf
        return frame

    def begin_answer(self, frame: bytes, seconds: float) -> None:
        """Send as much as can be sent now; `write` sends the rest, within the time."""
        self._goes = memoryview(FRAME_LENGTH.pack(len(frame)) + frame)
        self._busy_with = len(self._goes)
        self.write()
        if self._goes is not None:
            self.ends_at = time.monotonic() + seconds

    def write(self) -> None:
        """Go on sending. Once all of the answer has gone the next question may be taken. TLS wants
        the very same bytes again if they could not be sent."""
        try:
            while self._goes is not None:
                sent = self._socket.send(self._goes[:AT_ONCE])
                self._goes = self._goes[sent:] if sent < len(self._goes) else None
            self.is_answering = self.wants_to_write = False
            self._busy_with = 0
            self.ends_at = math.inf
        except _NOT_NOW:
            self.wants_to_write = True
        except OSError as error:
            raise ConnectionLost(str(error) or "it broke off") from None

    def close(self) -> None:
        self._socket.close()
