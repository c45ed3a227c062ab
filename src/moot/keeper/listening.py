"""Who may connect to the keeper, how many at once, and how long that may take.

A unix socket for the same machine, TLS for others. Each line has a thread of its own; the engine
takes them one at a time.
"""

from __future__ import annotations

import os
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from moot.keeper.line import Line, LineBroken

MOST_LINES: Final = 200
BACKLOG: Final = 256
GREETING_SECONDS: Final = 5.0
MOST_GREETING: Final = 16 * 1024  # of somebody who has not said yet who they are
ANSWER_SECONDS: Final = 10.0
IDLE_SECONDS: Final = 900.0
# How long a line that may go on in its turn is waited for: a machine that is near, and has more.
NEXT_SECONDS: Final = 0.006

# Given the first frame of a line, says how to answer the following ones, and what is said first.
Greet = Callable[[bytes, object], tuple[Callable[[bytes], bytes] | None, bytes]]


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
        self._lines: set[socket.socket] = set()
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
        while not self._closing:
            try:
                connection, _ = listening.accept()
            except OSError:
                if self._closing:
                    return
                continue
            if not self._slots.acquire(blocking=False):
                connection.close()  # whoever comes too late asks again
                continue
            threading.Thread(target=self._serve, args=(connection, context), daemon=True).start()

    def _serve(self, connection: socket.socket, context: ssl.SSLContext | None) -> None:
        who = object()
        self._lines.add(connection)
        try:
            with suppress(OSError, LineBroken):
                connection.settimeout(GREETING_SECONDS)
                if context is not None:
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    plain, connection = (
                        connection,
                        context.wrap_socket(connection, server_side=True),
                    )
                    self._lines.discard(plain)
                    self._lines.add(connection)
                self._answer_all(Line(connection), who)
        finally:
            self._lines.discard(connection)
            self._forget(who)
            connection.close()
            self._slots.release()

    def _answer_all(self, line: Line, who: object) -> None:
        answer, first = self._greet(line.receive(GREETING_SECONDS, MOST_GREETING), who)
        line.send(first, ANSWER_SECONDS)
        while answer is not None and not self._closing:
            line.send(answer(line.receive(IDLE_SECONDS)), ANSWER_SECONDS)
            if self._keeps_turn(who) and not line.is_asked_within(NEXT_SECONDS):
                self._forget(who)

    def close(self) -> None:
        self._closing = True
        for listening in self._sockets:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            listening.close()
        for connection in list(self._lines):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for place in self._places:
            place.unlink(missing_ok=True)
        for thread in self._threads:
            thread.join(5)
