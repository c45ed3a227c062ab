"""The socket of a `moot run` or a tool's server: who may connect, how much it may say, how long.

Only the same system user gets in: the folder is 0700, the socket 0600, and the system is asked who
calls where it can tell. Each call has a thread of its own; at most so many at once, others wait.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from moot.keys.runner_line import HEARD, BrokenFrame, read_frame, write_frame

MOST_CALLS: Final = 64
BACKLOG: Final = 128
READ_SECONDS: Final = 10.0
WRITE_SECONDS: Final = 10.0
# How long the end of a run waits for answers that are under way.
LEAVING_SECONDS: Final = 5.0

Answer = Callable[[list[bytes]], Sequence[bytes]]
# Whether the process of this number may ask.
Admit = Callable[[int], bool]


class Listening:
    """Answers questions on a socket until it is closed; with `admit` only those of processes that
    the system names."""

    def __init__(self, place: Path, answer: Answer, admit: Admit | None = None) -> None:
        self._place = place
        self._answer = answer
        self._admit = admit
        self._calls = threading.BoundedSemaphore(MOST_CALLS)
        self._closing = False
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.set_inheritable(False)
        try:
            self._socket.bind(str(place))
            os.chmod(place, 0o600)  # the folder was nobody else's before, either
            self._socket.listen(BACKLOG)
        except OSError:
            self._socket.close()
            raise
        self._thread = threading.Thread(target=self._accept, name="moot-listening", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no more questions; those under way get a little time."""
        self._closing = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes `accept` where it waits
        self._socket.close()
        self._place.unlink(missing_ok=True)
        for _ in range(MOST_CALLS):
            if not self._calls.acquire(timeout=LEAVING_SECONDS):
                return

    def _accept(self) -> None:
        while not self._closing:
            try:
                line, _ = self._socket.accept()
            except OSError:
                if self._closing:
                    return
                continue  # whoever called has gone again
            self._calls.acquire()
            threading.Thread(target=self._serve, args=(line,), daemon=True).start()

    def _serve(self, line: socket.socket) -> None:
        try:
            with line, suppress(OSError, BrokenFrame):
                if not self._may_ask(line):
                    return
                question = read_frame(line, READ_SECONDS)
                line.settimeout(WRITE_SECONDS)
                line.sendall(HEARD)  # fails if nobody waits any more
                answer = self._answer(question)
                line.settimeout(WRITE_SECONDS)
                write_frame(line, *answer)
        finally:
            self._calls.release()

    def _may_ask(self, line: socket.socket) -> bool:
        """Where the system does not tell who calls, the modes of folder and socket must do."""
        peer = getattr(socket, "SO_PEERCRED", None)
        if peer is None:
            return self._admit is None
        size = struct.calcsize("3i")
        process, user, _ = struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, peer, size))
        return bool(user == os.getuid()) and (self._admit is None or self._admit(process))
