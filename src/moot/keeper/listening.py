"""Who may connect to the keeper, how many at once, and how long that may take.

A unix socket for the same machine, TLS for others. Each line has a thread of its own; the engine
takes them one at a time. When there are as many lines as there may be, a machine that has most of
them makes room for others: a line that was silent is made anew by whoever needs it.
"""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from moot.keeper.line import Line, LineBroken

MOST_LINES: Final = 200
BACKLOG: Final = 256
GREETING_SECONDS: Final = 5.0
MOST_GREETING: Final = 16 * 1024  # of somebody who has not said yet who they are
ANSWER_SECONDS: Final = 10.0
IDLE_SECONDS: Final = 900.0
# How long a line that may go on in its turn is waited for: a machine that is near, and has more.
NEXT_SECONDS: Final = 0.006

LOOK_SECONDS: Final = 2.0  # how often lines of machines that were taken off are looked for
ROOM_SECONDS: Final = 1.0  # how long a line that is told to end may take for it


class Answering(Protocol):
    """Answers one machine's questions; `number` is which machine it is."""

    number: int

    @property
    def is_welcome(self) -> bool:
        """False once the machine was taken off."""
        ...

    def __call__(self, frame: bytes) -> bytes: ...


# Given the first frame of a line, says who answers the following ones, and what is said first.
Greet = Callable[[bytes, object], tuple[Answering | None, bytes]]


class _OpenLine:
    """A line, who answers on it once it was greeted, and since when it is silent."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.answering: Answering | None = None
        self.silent_since = time.monotonic()

    def end(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


class KeeperListening:
    """Takes lines on one or more sockets until it is closed."""

    def __init__(
        self,
        greet: Greet,
        forget: Callable[[object], None],
        keeps_turn: Callable[[object], bool] = lambda _: False,
    ) -> None:
        """`forget` is told of a line that has ended, or that kept its turn and asked nothing."""
        self._greet = greet
        self._forget = forget
        self._keeps_turn = keeps_turn
        self._slots = threading.BoundedSemaphore(MOST_LINES)
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._lines: set[_OpenLine] = set()
        self._places: list[Path] = []
        self._closing = False

    def listen_unix(self, place: Path) -> None:
        place.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(str(place))
        os.chmod(place, 0o600)
        self._places.append(place)
        self._begin(listening, None)

    def listen_tls(self, host: str, port: int, context: ssl.SSLContext) -> int:
        """Listen there; returns the port, which the system chooses for 0."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
        self._begin(listening, context)
        return int(listening.getsockname()[1])

    def _begin(self, listening: socket.socket, context: ssl.SSLContext | None) -> None:
        listening.listen(BACKLOG)
        self._sockets.append(listening)
        thread = threading.Thread(target=self._accept, args=(listening, context), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self, listening: socket.socket, context: ssl.SSLContext | None) -> None:
        listening.settimeout(LOOK_SECONDS)
        while not self._closing:
            try:
                connection, _ = listening.accept()
            except OSError as error:
                if isinstance(error, TimeoutError):
                    self._end_unwelcome()
                continue
            if not self._slots.acquire(blocking=False) and not self._make_room():
                connection.close()  # whoever comes too late asks again
                continue
            threading.Thread(target=self._serve, args=(connection, context), daemon=True).start()

    def _end_unwelcome(self) -> None:
        for line in list(self._lines):
            if line.answering is not None and not line.answering.is_welcome:
                line.end()

    def _make_room(self) -> bool:
        """End what a machine that was taken off still has, or the longest silent line of whoever
        has more than half of all; True if a line more may be open now."""
        self._end_unwelcome()
        lines = [line for line in list(self._lines) if line.answering is not None]
        numbers = [line.answering.number for line in lines if line.answering is not None]
        most = max(numbers, key=numbers.count, default=0)
        if numbers.count(most) > MOST_LINES // 2:
            theirs = [line for line, number in zip(lines, numbers, strict=True) if number == most]
            min(theirs, key=lambda line: line.silent_since).end()
        return self._slots.acquire(timeout=ROOM_SECONDS)

    def _serve(self, connection: socket.socket, context: ssl.SSLContext | None) -> None:
        who, line = object(), _OpenLine(connection)
        self._lines.add(line)
        try:
            with suppress(OSError, LineBroken):
                connection.settimeout(GREETING_SECONDS)
                if context is not None:
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    line.connection = context.wrap_socket(connection, server_side=True)
                self._answer_all(line, who)
        finally:
            self._lines.discard(line)
            self._forget(who)
            line.connection.close()
            self._slots.release()

    def _answer_all(self, open_line: _OpenLine, who: object) -> None:
        line = Line(open_line.connection)
        answer, first = self._greet(line.receive(GREETING_SECONDS, MOST_GREETING), who)
        open_line.answering = answer
        line.send(first, ANSWER_SECONDS)
        while answer is not None and answer.is_welcome and not self._closing:
            open_line.silent_since = time.monotonic()
            line.send(answer(line.receive(IDLE_SECONDS)), ANSWER_SECONDS)
            if self._keeps_turn(who) and not line.is_asked_within(NEXT_SECONDS):
                self._forget(who)

    def close(self) -> None:
        self._closing = True
        for listening in self._sockets:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            listening.close()
        for line in list(self._lines):
            line.end()
        for place in self._places:
            place.unlink(missing_ok=True)
        for thread in self._threads:
            thread.join(5)
