"""Who may connect to the keeper, how many at once, and how long that may take.

A unix socket for the same machine, TLS for others. One thread serves all connections: it takes
whatever has come on any of them, has it answered, and never waits for one of them. So the commands
that have come meanwhile are recorded together. What takes long is done aside, by a few other
threads. When there are as many connections as there may be, a machine that has most of them makes
room for others. When the system has no room for one more, it accepts nobody for a moment.
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
MAX_HELLO: Final = 16 * 1024  # of somebody who has not said yet who they are
# Questions that have come or begun to, and answers that nobody has read yet, are kept in memory.
# Above this, over all connections, the largest one ends; only a long one is counted.
MAX_BUFFERED: Final = 256 * 1024 * 1024
LONG: Final = 1024 * 1024
ANSWER_SECONDS: Final = 10.0
IDLE_SECONDS: Final = 900.0
# How long to wait for the next command of a connection that may go on in its turn.
NEXT_SECONDS: Final = 0.006
CLOSING_SECONDS: Final = 5.0
REVOKED_CHECK_SECONDS: Final = 2.0  # between two searches for revoked machines
ASIDE: Final = 4  # threads for what takes long
# A pending connection stays pending after a failed accept: without a pause we would spin.
NO_ROOM_SECONDS: Final = 0.5
NO_ROOM: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class Keeper(Protocol):
    """What answers the frames. One thread calls all of it, and none of it waits."""

    def receive(self, connection: ServerConnection, frame: bytes) -> None:
        """A frame has come. It is answered with `KeeperListener.answer`, now or later."""
        ...

    def step(self) -> float:
        """Everything that had come was received: act on it. Returns when there is something to do
        even if nothing comes."""
        ...

    def keeps_turn(self, connection: ServerConnection) -> bool:
        """May this connection go on in its turn, if it does so at once?"""
        ...

    def forget_turn(self, connection: ServerConnection) -> None:
        """It kept its turn and asked nothing."""
        ...

    def find_revoked(self) -> list[ServerConnection]:
        """Connections of machines that have been taken off since they authenticated."""
        ...

    def find_surplus(self, most: int) -> ServerConnection | None:
        """The connection that is ended if there are `most` already and somebody needs one."""
        ...

    def find_largest(self) -> ServerConnection | None:
        """The connection that is ended if more is kept in memory than there is room for."""
        ...

    def forget(self, connection: ServerConnection) -> None:
        """The connection has ended."""
        ...


class KeeperListener:
    """Takes connections on one or more sockets until it is closed. If its thread ever fails, it
    ends all connections, `failure` says why, and `on_failure` is called: nobody would be answered
    any more. `warn` is told, once, if connections could not be taken."""

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
        self._wakes, self._is_woken = socket.socketpair()
        self._is_woken.setblocking(False)
        self._wakes.setblocking(False)
        self._selector.register(self._is_woken, READ, None)
        self._calls: deque[Callable[[], object]] = deque()  # of other threads
        self._aside = ThreadPoolExecutor(ASIDE, "moot-aside")
        self._works: dict[ServerConnection, Callable[[], bytes]] = {}  # that no thread does yet
        self._thread: threading.Thread | None = None
        self._sockets: dict[socket.socket, ssl.SSLContext | None] = {}
        self._places: list[Path] = []
        self._connections: dict[ServerConnection, int] = {}  # -> what its selector waits for
        self._asking: list[ServerConnection] = []  # may have a whole frame
        self._broken: list[ServerConnection] = []
        self._kept: dict[ServerConnection, float] = {}  # keeps its turn -> until when
        self._look_at = math.inf  # when the first connection may have to be ended
        self._revoked_check_at = math.inf  # when to look for machines that were taken off
        self._accept_again_at = math.inf  # when connections are taken again, while none are
        self._closing = False

    def listen_unix(self, place: Path) -> None:
        """Listen on a socket of this machine, which only its user may use; OSError if something
        else is there."""
        _remove_left_socket(place)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listening.bind(str(place))
            os.chmod(place, 0o600)
        except BaseException:
            listening.close()
            raise
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
        listening.setblocking(False)
        self._sockets[listening] = context
        self._call_soon(lambda: self._selector.register(listening, READ, listening))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="moot-keeper", daemon=True)
            self._thread.start()

    def answer(self, connection: ServerConnection, frame: bytes) -> None:
        """Send an answer: as much as can be sent now, the rest as the other side reads it."""
        if connection not in self._connections:
            return  # it has ended meanwhile
        try:
            connection.begin_answer(frame, ANSWER_SECONDS)
        except ConnectionLost:
            self._broken.append(connection)
            return
        if self._keeper.keeps_turn(connection):
            self._kept[connection] = time.monotonic() + NEXT_SECONDS
        self._note_written(connection)
        self._bound_buffers(connection)

    def answer_aside(self, connection: ServerConnection, work: Callable[[], bytes]) -> None:
        """Have another thread make the answer, for it takes long."""
        self._works[connection] = work
        with suppress(RuntimeError):  # it is closing
            self._aside.submit(self._make_answer, connection)

    def _make_answer(self, connection: ServerConnection) -> None:
        work = self._works.pop(connection, None)
        if work is not None:  # else the connection has ended meanwhile
            frame = work()
            self._call_soon(lambda: self.answer(connection, frame))

    def close(self) -> None:
        """What has come is still answered if it is being acted on; a second call changes
        nothing."""
        if self._closing:
            return
        self._closing = True
        self._call_soon(lambda: None)
        if self._thread is not None:
            self._thread.join(CLOSING_SECONDS)
        else:
            self._end_all()
        self._aside.shutdown(wait=False, cancel_futures=True)
        for place in self._places:
            place.unlink(missing_ok=True)

    def _call_soon(self, act: Callable[[], object]) -> None:
        """From any thread: have the one thread do this."""
        self._calls.append(act)
        with suppress(BlockingIOError, OSError):  # it is woken anyway, or has ended
            self._wakes.send(b".")

    def _run(self) -> None:
        next_step = math.inf
        try:
            while not self._closing:
                self._read_ready(self._seconds_until(next_step))
                for connection in self._take_asking():
                    self._ask(connection)
                self._end_expired()
                next_step = self._keeper.step()
        except Exception as error:  # noqa: BLE001 - `on_failure` ends the keeper
            self.failure = error
            self._on_failure()
        finally:
            self._end_all()

    def _seconds_until(self, next_step: float) -> float | None:
        if self._asking or self._broken:
            return 0
        nearest = (next_step, self._look_at, self._revoked_check_at, self._accept_again_at)
        moment = min(*nearest, *self._kept.values())
        return None if moment == math.inf else max(0.0, moment - time.monotonic())

    def _read_ready(self, seconds: float | None) -> None:
        for key, ready in self._selector.select(seconds):
            if isinstance(key.data, ServerConnection):
                self._serve(key.data, ready)
            elif key.data is not None:
                self._accept(key.data)
            else:
                self._run_calls()

    def _run_calls(self) -> None:
        with suppress(BlockingIOError):
            self._is_woken.recv(4096)
        for _ in range(len(self._calls)):
            self._calls.popleft()()

    def _accept(self, listening: socket.socket) -> None:
        try:
            raw, _ = listening.accept()
        except OSError as error:  # it went away again, or there is no room for more
            if error.errno in NO_ROOM:
                self._pause_accepting(error)
            return
        if len(self._connections) >= MAX_CONNECTIONS and not self._make_room():
            raw.close()  # its machine asks again
            return
        try:
            connection = ServerConnection(raw, self._sockets[listening])
        except OSError:
            raw.close()
            return
        connection.most = MAX_HELLO
        if not self._connections:
            self._revoked_check_at = time.monotonic() + REVOKED_CHECK_SECONDS
        self._connections[connection] = READ
        self._selector.register(connection, READ, connection)
        self._end_at(connection, time.monotonic() + HELLO_SECONDS)

    def _pause_accepting(self, why: OSError) -> None:
        """Accept no connections for a moment."""
        for listening in self._sockets:
            if listening in self._selector.get_map():
                self._selector.unregister(listening)
        self._accept_again_at = time.monotonic() + NO_ROOM_SECONDS
        if not self._has_warned:
            self._has_warned = True
            with suppress(OSError):  # saying it may need a file as well
                self._warn(
                    f"nobody else is let in for now: {why.strerror}; the lines that there are go "
                    "on. `ulimit -n` shows how many files it may open, LimitNOFILE= a service"
                )

    def _resume_accepting(self) -> None:
        for listening in self._sockets:
            if listening not in self._selector.get_map():
                self._selector.register(listening, READ, listening)
        self._accept_again_at = math.inf

    def _make_room(self) -> bool:
        """End a connection that others need more; True if one more may be open now."""
        self._end_revoked()
        if len(self._connections) >= MAX_CONNECTIONS:
            spare = self._keeper.find_surplus(MAX_CONNECTIONS)
            if spare is not None:
                self._end(spare)
        return len(self._connections) < MAX_CONNECTIONS

    def _end_revoked(self) -> None:
        for connection in self._keeper.find_revoked():
            if not connection.is_answering:  # it is told first why
                self._end(connection)
        self._revoked_check_at = (
            time.monotonic() + REVOKED_CHECK_SECONDS if self._connections else math.inf
        )

    def _serve(self, connection: ServerConnection, ready: int) -> None:
        if connection not in self._connections:
            return  # it was ended to make room
        try:
            if ready & WRITE and connection.is_sending:
                connection.write()
            elif connection.has_room:
                connection.read()
        except ConnectionLost:
            self._broken.append(connection)
            return
        self._note_written(connection)
        self._bound_buffers(connection)

    def _bound_buffers(self, grown: ServerConnection) -> None:
        """Something has come on this connection, or is to be sent."""
        if grown.held <= LONG:
            return
        while sum(connection.held for connection in self._connections) > MAX_BUFFERED:
            longest = self._keeper.find_largest()
            if longest is None:
                return
            self._end(longest)

    def _note_written(self, connection: ServerConnection) -> None:
        """Wait for what this connection can do next; a question that has come is taken."""
        if not connection.is_answering:
            if connection.is_last:
                self._broken.append(connection)
                return
            if connection.has_frame:
                self._asking.append(connection)
            if connection.ends_at == math.inf:
                self._end_at(connection, time.monotonic() + IDLE_SECONDS)
        elif connection.ends_at < self._look_at:
            self._look_at = connection.ends_at
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

    def _take_asking(self) -> list[ServerConnection]:
        asking, self._asking = self._asking, []
        return asking

    def _ask(self, connection: ServerConnection) -> None:
        if connection not in self._connections:
            return
        try:
            frame = connection.take_frame()
        except ConnectionLost:
            self._broken.append(connection)
            return
        if frame is not None:
            self._kept.pop(connection, None)
            self._keeper.receive(connection, frame)

    def _end_at(self, connection: ServerConnection, moment: float) -> None:
        connection.ends_at = moment
        self._look_at = min(self._look_at, moment)

    def _end_expired(self) -> None:
        """End what took too long or broke off. What had come in time was taken before."""
        now = time.monotonic()
        for connection, until in list(self._kept.items()):
            if until <= now:
                del self._kept[connection]
                self._keeper.forget_turn(connection)
        if self._look_at <= now:
            self._broken += [
                connection for connection in self._connections if connection.ends_at <= now
            ]
            self._look_at = min(
                (connection.ends_at for connection in self._connections), default=math.inf
            )
        if self._revoked_check_at <= now:
            self._end_revoked()
        if self._accept_again_at <= now:
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
        self._kept.pop(connection, None)
        self._works.pop(connection, None)
        connection.close()
        self._keeper.forget(connection)

    def _end_all(self) -> None:
        for connection in list(self._connections):
            self._end(connection)
        for listening in self._sockets:
            listening.close()
        self._selector.close()
        self._wakes.close()
        self._is_woken.close()


def _remove_left_socket(place: Path) -> None:
    """A keeper that was killed leaves its socket; whatever else is there stays."""
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
