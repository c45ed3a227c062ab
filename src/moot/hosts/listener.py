"""The keeper's event loop: accept connections, read frames, send answers, enforce limits.

It listens on a unix socket for the same machine and with TLS for others. One thread serves all
connections and never waits for one of them, so that commands which arrive together are recorded
together. A few background threads do what takes long. At the connection limit, the machine with
more than half of the connections loses one. When the system is out of file descriptors or memory,
the keeper pauses accepting for a moment.
"""

from __future__ import annotations

import errno
import math
import os
import selectors
import socket
import ssl
import stat
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from moot.hosts.connection import ConnectionLost
from moot.hosts.server_connection import ServerConnection

MAX_CONNECTIONS: Final = 200
BACKLOG: Final = 256
HELLO_SECONDS: Final = 5.0
MAX_HELLO: Final = 16 * 1024  # bytes of a first frame, from an unknown sender
# Bytes of unanswered questions and unread answers in memory, over all connections. Above this the
# keeper drops the largest connection; it sums up only after one has more than COUNTED_BYTES.
MAX_BUFFERED: Final = 256 * 1024 * 1024
COUNTED_BYTES: Final = 1024 * 1024
ANSWER_SECONDS: Final = 10.0
IDLE_SECONDS: Final = 900.0
# How long a connection that keeps its turn has time for its next commit.
KEPT_TURN_SECONDS: Final = 0.006
CLOSING_SECONDS: Final = 5.0
REVOKED_CHECK_SECONDS: Final = 2.0
BACKGROUND_THREADS: Final = 4
# After a failed accept the connection stays pending: without a pause the loop would spin.
ACCEPT_PAUSE_SECONDS: Final = 0.5
OUT_OF_RESOURCES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class Keeper(Protocol):
    """Answers the frames. The listener's thread calls all methods; none may block."""

    def receive(self, connection: ServerConnection, frame: bytes) -> None:
        """Handle a frame; answer it with `KeeperListener.answer`, now or later."""
        ...

    def step(self) -> float:
        """Act on all frames received so far; return when to be called again without new ones."""
        ...

    def keeps_turn(self, connection: ServerConnection) -> bool:
        """Return whether this connection may commit again in its turn, if it does so at once."""
        ...

    def forget_turn(self, connection: ServerConnection) -> None:
        """End the turn of a connection that kept it and asked nothing."""
        ...

    def find_revoked(self) -> list[ServerConnection]:
        """Return connections of machines that were removed after they authenticated."""
        ...

    def find_surplus(self, most: int) -> ServerConnection | None:
        """Return the connection to close when all `most` are used, or None."""
        ...

    def find_largest(self) -> ServerConnection | None:
        """Return the connection to close when the buffers are too large."""
        ...

    def forget(self, connection: ServerConnection) -> None:
        """Forget a connection that has ended."""
        ...


class KeeperListener:
    """Serves connections on one or more sockets until it is closed.

    If its thread fails, it closes all connections, sets `failure` and calls `on_failure`. It calls
    `warn` once if it could not accept connections.
    """

    def __init__(
        self,
        keeper: Keeper,
        on_failure: Callable[[], None] = lambda: None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._keeper = keeper
        self._on_failure = on_failure
        self._warn = warn
        self._has_warned = False
        self.failure: Exception | None = None
        self._selector = selectors.DefaultSelector()
        self._wake_sender, self._wake_receiver = socket.socketpair()
        self._wake_receiver.setblocking(False)
        self._wake_sender.setblocking(False)
        self._selector.register(self._wake_receiver, READ, None)
        self._queued_calls: deque[Callable[[], object]] = deque()  # of other threads
        self._workers = ThreadPoolExecutor(BACKGROUND_THREADS, "moot-aside")
        self._background_work: dict[
            ServerConnection, Callable[[], bytes]
        ] = {}  # that no thread does yet
        self._thread: threading.Thread | None = None
        self._sockets: dict[socket.socket, ssl.SSLContext | None] = {}
        self._socket_paths: list[Path] = []
        self._connections: dict[ServerConnection, int] = {}  # -> what its selector waits for
        self._with_input: list[ServerConnection] = []  # may have a whole frame
        self._broken: list[ServerConnection] = []
        self._turn_ends_at: dict[ServerConnection, float] = {}  # keeps its turn -> until when
        self._next_deadline = math.inf  # when the first connection may have to be ended
        self._next_revoked_check = math.inf  # when to look for machines that were taken off
        self._resume_accepting_at = math.inf  # when connections are taken again, while none are
        self._closing = False

    def listen_unix(self, place: Path) -> None:
        """Listen on a unix socket that only our user may use; OSError if the path is taken."""
        _remove_stale_socket(place)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listening.bind(str(place))
            os.chmod(place, 0o600)
        except BaseException:
            listening.close()
            raise
        self._socket_paths.append(place)
        self._begin(listening, None)

    def listen_tls(self, host: str, port: int, context: ssl.SSLContext) -> int:
        """Listen on a TLS port and return it; for port 0 the system chooses one."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
        self._begin(listening, context)
        return int(listening.getsockname()[1])

    def _begin(self, listening: socket.socket, context: ssl.SSLContext | None) -> None:
        listening.listen(BACKLOG)
        listening.setblocking(False)
        self._sockets[listening] = context
        self._call_soon(lambda: self._selector.register(listening, READ, listening))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="moot-keeper", daemon=True)
            self._thread.start()

    def answer(self, connection: ServerConnection, frame: bytes) -> None:
        """Send an answer: as much as possible now, the rest as the machine reads it."""
        if connection not in self._connections:
            return  # it ended meanwhile
        try:
            connection.begin_answer(frame, ANSWER_SECONDS)
        except ConnectionLost:
            self._broken.append(connection)
            return
        if self._keeper.keeps_turn(connection):
            self._turn_ends_at[connection] = time.monotonic() + KEPT_TURN_SECONDS
        self._update_interest(connection)
        self._bound_buffers(connection)

    def answer_in_background(self, connection: ServerConnection, work: Callable[[], bytes]) -> None:
        """Let a background thread make an answer that takes long."""
        self._background_work[connection] = work
        with suppress(RuntimeError):  # the pool is shut down
            self._workers.submit(self._make_answer, connection)

    def _make_answer(self, connection: ServerConnection) -> None:
        work = self._background_work.pop(connection, None)
        if work is not None:  # else the connection ended meanwhile
            frame = work()
            self._call_soon(lambda: self.answer(connection, frame))

    def close(self) -> None:
        """Stop serving. Requests that are being handled are still answered. A second call does
        nothing."""
        if self._closing:
            return
        self._closing = True
        self._call_soon(lambda: None)
        if self._thread is not None:
            self._thread.join(CLOSING_SECONDS)
        else:
            self._end_all()
        self._workers.shutdown(wait=False, cancel_futures=True)
        for place in self._socket_paths:
            place.unlink(missing_ok=True)

    def _call_soon(self, act: Callable[[], object]) -> None:
        """Let the listener's thread call this. May be called from any thread."""
        self._queued_calls.append(act)
        with suppress(BlockingIOError, OSError):  # it wakes up anyway, or has ended
            self._wake_sender.send(b".")

    def _run(self) -> None:
        next_step = math.inf
        try:
            while not self._closing:
                self._read_ready(self._seconds_until(next_step))
                for connection in self._take_with_input():
                    self._handle_frame(connection)
                self._end_expired()
                next_step = self._keeper.step()
        except Exception as error:  # noqa: BLE001 - `on_failure` ends the keeper
            self.failure = error
            self._on_failure()
        finally:
            self._end_all()

    def _seconds_until(self, next_step: float) -> float | None:
        if self._with_input or self._broken:
            return 0
        nearest = (
            next_step,
            self._next_deadline,
            self._next_revoked_check,
            self._resume_accepting_at,
        )
        moment = min(*nearest, *self._turn_ends_at.values())
        return None if moment == math.inf else max(0.0, moment - time.monotonic())

    def _read_ready(self, seconds: float | None) -> None:
        for key, ready in self._selector.select(seconds):
            if isinstance(key.data, ServerConnection):
                self._read_or_write(key.data, ready)
            elif key.data is not None:
                self._accept(key.data)
            else:
                self._run_calls()

    def _run_calls(self) -> None:
        with suppress(BlockingIOError):
            self._wake_receiver.recv(4096)
        for _ in range(len(self._queued_calls)):
            self._queued_calls.popleft()()

    def _accept(self, listening: socket.socket) -> None:
        try:
            raw, _ = listening.accept()
        except OSError as error:  # the client has left, or the system is out of resources
            if error.errno in OUT_OF_RESOURCES:
                self._pause_accepting(error)
            return
        if len(self._connections) >= MAX_CONNECTIONS and not self._make_room():
            raw.close()  # its machine tries again
            return
        try:
            connection = ServerConnection(raw, self._sockets[listening])
        except OSError:
            raw.close()
            return
        connection.max_frame = MAX_HELLO
        if not self._connections:
            self._next_revoked_check = time.monotonic() + REVOKED_CHECK_SECONDS
        self._connections[connection] = READ
        self._selector.register(connection, READ, connection)
        self._set_deadline(connection, time.monotonic() + HELLO_SECONDS)

    def _pause_accepting(self, why: OSError) -> None:
        """Accept no connections for a moment."""
        for listening in self._sockets:
            if listening in self._selector.get_map():
                self._selector.unregister(listening)
        self._resume_accepting_at = time.monotonic() + ACCEPT_PAUSE_SECONDS
        if not self._has_warned:
            self._has_warned = True
            with suppress(OSError):  # saying it may need a file as well
                self._warn(
                    f"the keeper accepts no new connections for now: {why.strerror}. Open ones"
                    " continue. Raise the limit of open files: `ulimit -n`, or LimitNOFILE= of a"
                    " service"
                )

    def _resume_accepting(self) -> None:
        for listening in self._sockets:
            if listening not in self._selector.get_map():
                self._selector.register(listening, READ, listening)
        self._resume_accepting_at = math.inf

    def _make_room(self) -> bool:
        """Close a surplus connection if there is one; True if one more may be open now."""
        self._end_revoked()
        if len(self._connections) >= MAX_CONNECTIONS:
            spare = self._keeper.find_surplus(MAX_CONNECTIONS)
            if spare is not None:
                self._end(spare)
        return len(self._connections) < MAX_CONNECTIONS

    def _end_revoked(self) -> None:
        for connection in self._keeper.find_revoked():
            if not connection.is_answering:  # else it first gets the answer that says why
                self._end(connection)
        self._next_revoked_check = (
            time.monotonic() + REVOKED_CHECK_SECONDS if self._connections else math.inf
        )

    def _read_or_write(self, connection: ServerConnection, ready: int) -> None:
        if connection not in self._connections:
            return  # it was closed to make room
        try:
            if ready & WRITE and connection.is_sending:
                connection.write()
            elif connection.has_room:
                connection.read()
        except ConnectionLost:
            self._broken.append(connection)
            return
        self._update_interest(connection)
        self._bound_buffers(connection)

    def _bound_buffers(self, grown: ServerConnection) -> None:
        """Close the largest connections while the buffers are too large, after this one grew."""
        if grown.buffered_bytes <= COUNTED_BYTES:
            return
        while sum(connection.buffered_bytes for connection in self._connections) > MAX_BUFFERED:
            longest = self._keeper.find_largest()
            if longest is None:
                return
            self._end(longest)

    def _update_interest(self, connection: ServerConnection) -> None:
        """Tell the selector what this connection waits for; queue it if it has a frame."""
        if not connection.is_answering:
            if connection.closes_after_answer:
                self._broken.append(connection)
                return
            if connection.has_frame:
                self._with_input.append(connection)
            if connection.deadline == math.inf:
                self._set_deadline(connection, time.monotonic() + IDLE_SECONDS)
        elif connection.deadline < self._next_deadline:
            self._next_deadline = connection.deadline
        wanted = (READ if connection.has_room else 0) | (WRITE if connection.wants_to_write else 0)
        before = self._connections[connection]
        if wanted == before:
            return
        self._connections[connection] = wanted
        if not wanted:
            self._selector.unregister(connection)
        elif not before:
            self._selector.register(connection, wanted, connection)
        else:
            self._selector.modify(connection, wanted, connection)

    def _take_with_input(self) -> list[ServerConnection]:
        asking, self._with_input = self._with_input, []
        return asking

    def _handle_frame(self, connection: ServerConnection) -> None:
        if connection not in self._connections:
            return
        try:
            frame = connection.take_frame()
        except ConnectionLost:
            self._broken.append(connection)
            return
        if frame is not None:
            self._turn_ends_at.pop(connection, None)
            self._keeper.receive(connection, frame)

    def _set_deadline(self, connection: ServerConnection, moment: float) -> None:
        connection.deadline = moment
        self._next_deadline = min(self._next_deadline, moment)

    def _end_expired(self) -> None:
        """Close broken and expired connections, and end expired turns. Frames that arrived in time
        were handled before."""
        now = time.monotonic()
        for connection, until in list(self._turn_ends_at.items()):
            if until <= now:
                del self._turn_ends_at[connection]
                self._keeper.forget_turn(connection)
        if self._next_deadline <= now:
            self._broken += [
                connection for connection in self._connections if connection.deadline <= now
            ]
            self._next_deadline = min(
                (connection.deadline for connection in self._connections), default=math.inf
            )
        if self._next_revoked_check <= now:
            self._end_revoked()
        if self._resume_accepting_at <= now:
            self._resume_accepting()
        broken, self._broken = self._broken, []
        for connection in broken:
            self._end(connection)

    def _end(self, connection: ServerConnection) -> None:
        waits_for = self._connections.pop(connection, None)
        if waits_for is None:
            return
        if waits_for:
            self._selector.unregister(connection)
        self._turn_ends_at.pop(connection, None)
        self._background_work.pop(connection, None)
        connection.close()
        self._keeper.forget(connection)

    def _end_all(self) -> None:
        for connection in list(self._connections):
            self._end(connection)
        for listening in self._sockets:
            listening.close()
        self._selector.close()
        self._wake_sender.close()
        self._wake_receiver.close()


def _remove_stale_socket(place: Path) -> None:
    """Remove the socket of a keeper that was killed; OSError if anything else has this path."""
    try:
        is_socket = stat.S_ISSOCK(os.lstat(place).st_mode)
    except FileNotFoundError:
        return
    if is_socket:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as look:
            try:
                look.connect(str(place))
            except ConnectionRefusedError:
                place.unlink(missing_ok=True)
                return
    number = errno.EADDRINUSE if is_socket else errno.EEXIST
    raise OSError(number, os.strerror(number))
