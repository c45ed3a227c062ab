"""Who may connect to the keeper, how many at once, and how long that may take.

A unix socket for the same machine, TLS for others. One thread serves all lines: it takes whatever
has come on any of them, has it answered, and never waits for one of them. So the commands that have
come meanwhile are recorded together. What takes long is done aside, by a few other threads. When
there are as many lines as there may be, a machine that has most of them makes room for others. When
the system has no room for one more, nobody is let in for a moment.
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

from moot.keeper.connection import Connection
from moot.keeper.line import LineBroken

MOST_LINES: Final = 200
BACKLOG: Final = 256
GREETING_SECONDS: Final = 5.0
MOST_GREETING: Final = 16 * 1024  # of somebody who has not said yet who they are
# Questions that have come or begun to, and answers that nobody has read yet, are kept in memory.
# With more than this of all lines together one begins again; looked at only if one is long.
MOST_HELD: Final = 256 * 1024 * 1024
LONG: Final = 1024 * 1024
ANSWER_SECONDS: Final = 10.0
IDLE_SECONDS: Final = 900.0
# How long a line that may go on in its turn is waited for: a machine that is near, and has more.
NEXT_SECONDS: Final = 0.006
CLOSING_SECONDS: Final = 5.0
UNWELCOME_SECONDS: Final = 2.0  # how often lines of machines that were taken off are looked for
ASIDE: Final = 4  # threads for what takes long
# Whoever waits to be let in still does after a failed try, so the next try would be at once.
NO_ROOM_SECONDS: Final = 0.5
NO_ROOM: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class Keeper(Protocol):
    """Whoever answers. All of it is called by the one thread, and none of it waits."""

    def receive(self, line: Connection, frame: bytes) -> None:
        """A frame has come. It is answered with `KeeperListening.answer`, now or later."""
        ...

    def step(self) -> float:
        """Everything that had come was received: act on it. Returns when there is something to do
        even if nothing comes."""
        ...

    def keeps_turn(self, line: Connection) -> bool:
        """May this line go on in its turn, if it does so at once?"""
        ...

    def forget_turn(self, line: Connection) -> None:
        """It kept its turn and asked nothing."""
        ...

    def find_unwelcome(self) -> list[Connection]:
        """Lines of machines that have been taken off since they greeted."""
        ...

    def find_spare(self, most: int) -> Connection | None:
        """The line that is ended if there are `most` already and somebody needs one."""
        ...

    def find_longest(self) -> Connection | None:
        """The line that is ended if more is kept in memory than there is room for."""
        ...

    def forget(self, line: Connection) -> None:
        """The line has ended."""
        ...


class KeeperListening:
    """Takes lines on one or more sockets until it is closed. If its thread ever fails, it ends all
    lines, `failure` says why, and `on_failure` is called: nobody would be answered any more. `warn`
    is told, once, if lines could not be taken."""

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
        self._orders: deque[Callable[[], object]] = deque()  # of other threads
        self._aside = ThreadPoolExecutor(ASIDE, "moot-aside")
        self._works: dict[Connection, Callable[[], bytes]] = {}  # that no thread does yet
        self._thread: threading.Thread | None = None
        self._sockets: dict[socket.socket, ssl.SSLContext | None] = {}
        self._places: list[Path] = []
        self._lines: dict[Connection, int] = {}  # -> what its selector waits for
        self._asking: list[Connection] = []  # may have a whole frame
        self._broken: list[Connection] = []
        self._kept: dict[Connection, float] = {}  # keeps its turn -> until when
        self._look_at = math.inf  # when the first line may have to be ended
        self._unwelcome_at = math.inf  # when to look for machines that were taken off
        self._let_in_at = math.inf  # when lines are taken again, while none are
        self._closing = False

    def listen_unix(self, place: Path) -> None:
        """Listen on a socket of this machine, which only its user may use; OSError if something
        else stands there."""
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
        self._order(lambda: self._selector.register(listening, READ, listening))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="moot-keeper", daemon=True)
            self._thread.start()

    def answer(self, line: Connection, frame: bytes) -> None:
        """Send an answer: as much as can be sent now, the rest as the other side reads it."""
        if line not in self._lines:
            return  # it has ended meanwhile
        try:
            line.begin_answer(frame, ANSWER_SECONDS)
        except LineBroken:
            self._broken.append(line)
            return
        if self._keeper.keeps_turn(line):
            self._kept[line] = time.monotonic() + NEXT_SECONDS
        self._note_written(line)
        self._bound_what_is_held(line)

    def answer_aside(self, line: Connection, work: Callable[[], bytes]) -> None:
        """Have another thread make the answer, for it takes long."""
        self._works[line] = work
        with suppress(RuntimeError):  # it is closing
            self._aside.submit(self._make_answer, line)

    def _make_answer(self, line: Connection) -> None:
        work = self._works.pop(line, None)
        if work is not None:  # else the line has ended meanwhile
            frame = work()
            self._order(lambda: self.answer(line, frame))

    def close(self) -> None:
        """What has come is still answered if it is being acted on; a second call changes
        nothing."""
        if self._closing:
            return
        self._closing = True
        self._order(lambda: None)
        if self._thread is not None:
            self._thread.join(CLOSING_SECONDS)
        else:
            self._end_all()
        self._aside.shutdown(wait=False, cancel_futures=True)
        for place in self._places:
            place.unlink(missing_ok=True)

    def _order(self, act: Callable[[], object]) -> None:
        """From any thread: have the one thread do this."""
        self._orders.append(act)
        with suppress(BlockingIOError, OSError):  # it is woken anyway, or has ended
            self._wakes.send(b".")

    def _run(self) -> None:
        next_step = math.inf
        try:
            while not self._closing:
                self._take_what_came(self._seconds_until(next_step))
                for line in self._take_asking():
                    self._ask(line)
                self._end_what_is_over()
                next_step = self._keeper.step()
        except Exception as error:  # noqa: BLE001 - whoever started it is told, and ends it
            self.failure = error
            self._on_failure()
        finally:
            self._end_all()

    def _seconds_until(self, next_step: float) -> float | None:
        if self._asking or self._broken:
            return 0
        nearest = (next_step, self._look_at, self._unwelcome_at, self._let_in_at)
        moment = min(*nearest, *self._kept.values())
        return None if moment == math.inf else max(0.0, moment - time.monotonic())

    def _take_what_came(self, seconds: float | None) -> None:
        for key, ready in self._selector.select(seconds):
            if isinstance(key.data, Connection):
                self._serve(key.data, ready)
            elif key.data is not None:
                self._accept(key.data)
            else:
                self._obey()

    def _obey(self) -> None:
        with suppress(BlockingIOError):
            self._is_woken.recv(4096)
        for _ in range(len(self._orders)):
            self._orders.popleft()()

    def _accept(self, listening: socket.socket) -> None:
        try:
            connection, _ = listening.accept()
        except OSError as error:  # it went away again, or there is no room for more
            if error.errno in NO_ROOM:
                self._let_nobody_in(error)
            return
        if len(self._lines) >= MOST_LINES and not self._make_room():
            connection.close()  # whoever comes too late asks again
            return
        try:
            line = Connection(connection, self._sockets[listening])
        except OSError:
            connection.close()
            return
        line.most = MOST_GREETING
        if not self._lines:
            self._unwelcome_at = time.monotonic() + UNWELCOME_SECONDS
        self._lines[line] = READ
        self._selector.register(line, READ, line)
        self._end_at(line, time.monotonic() + GREETING_SECONDS)

    def _let_nobody_in(self, why: OSError) -> None:
        """Leave whoever comes waiting outside, for a moment."""
        for listening in self._sockets:
            if listening in self._selector.get_map():
                self._selector.unregister(listening)
        self._let_in_at = time.monotonic() + NO_ROOM_SECONDS
        if not self._has_warned:
            self._has_warned = True
            with suppress(OSError):  # saying it may need a file as well
                self._warn(
                    f"nobody else is let in for now: {why.strerror}; the lines that there are go "
                    "on. `ulimit -n` shows how many files it may open, LimitNOFILE= a service"
                )

    def _let_in_again(self) -> None:
        for listening in self._sockets:
            if listening not in self._selector.get_map():
                self._selector.register(listening, READ, listening)
        self._let_in_at = math.inf

    def _make_room(self) -> bool:
        """End a line that others need more; True if one more may be open now."""
        self._end_unwelcome()
        if len(self._lines) >= MOST_LINES:
            spare = self._keeper.find_spare(MOST_LINES)
            if spare is not None:
                self._end(spare)
        return len(self._lines) < MOST_LINES

    def _end_unwelcome(self) -> None:
        for line in self._keeper.find_unwelcome():
            if not line.is_answering:  # it is told first why
                self._end(line)
        self._unwelcome_at = time.monotonic() + UNWELCOME_SECONDS if self._lines else math.inf

    def _serve(self, line: Connection, ready: int) -> None:
        if line not in self._lines:
            return  # it was ended to make room
        try:
            if ready & WRITE and line.is_sending:
                line.write()
            elif line.has_room:
                line.read()
        except LineBroken:
            self._broken.append(line)
            return
        self._note_written(line)
        self._bound_what_is_held(line)

    def _bound_what_is_held(self, grown: Connection) -> None:
        """Something has come on this line, or is to be sent."""
        if grown.held <= LONG:
            return
        while sum(line.held for line in self._lines) > MOST_HELD:
            longest = self._keeper.find_longest()
            if longest is None:
                return
            self._end(longest)

    def _note_written(self, line: Connection) -> None:
        """Wait for what this line can do next; a question that has come is taken."""
        if not line.is_answering:
            if line.is_last:
                self._broken.append(line)
                return
            if line.has_frame:
                self._asking.append(line)
            if line.ends_at == math.inf:
                self._end_at(line, time.monotonic() + IDLE_SECONDS)
        elif line.ends_at < self._look_at:
            self._look_at = line.ends_at
        wanted = (READ if line.has_room else 0) | (WRITE if line.wants_to_write else 0)
        before = self._lines[line]
        if wanted == before:
            return
        self._lines[line] = wanted
        if not wanted:
            self._selector.unregister(line)
        elif not before:
            self._selector.register(line, wanted, line)
        else:
            self._selector.modify(line, wanted, line)

    def _take_asking(self) -> list[Connection]:
        asking, self._asking = self._asking, []
        return asking

    def _ask(self, line: Connection) -> None:
        if line not in self._lines:
            return
        try:
            frame = line.take_frame()
        except LineBroken:
            self._broken.append(line)
            return
        if frame is not None:
            self._kept.pop(line, None)
            self._keeper.receive(line, frame)

    def _end_at(self, line: Connection, moment: float) -> None:
        line.ends_at = moment
        self._look_at = min(self._look_at, moment)

    def _end_what_is_over(self) -> None:
        """Whoever took too long, or broke off. What had come in time was taken before."""
        now = time.monotonic()
        for line, until in list(self._kept.items()):
            if until <= now:
                del self._kept[line]
                self._keeper.forget_turn(line)
        if self._look_at <= now:
            self._broken += [line for line in self._lines if line.ends_at <= now]
            self._look_at = min((line.ends_at for line in self._lines), default=math.inf)
        if self._unwelcome_at <= now:
            self._end_unwelcome()
        if self._let_in_at <= now:
            self._let_in_again()
        broken, self._broken = self._broken, []
        for line in broken:
            self._end(line)

    def _end(self, line: Connection) -> None:
        waits_for = self._lines.pop(line, None)
        if waits_for is None:
            return
        if waits_for:
            self._selector.unregister(line)
        self._kept.pop(line, None)
        self._works.pop(line, None)
        line.close()
        self._keeper.forget(line)

    def _end_all(self) -> None:
        for line in list(self._lines):
            self._end(line)
        for listening in self._sockets:
            listening.close()
        self._selector.close()
        self._wakes.close()
        self._is_woken.close()


def _remove_left_socket(place: Path) -> None:
    """A keeper that was killed leaves its socket; whatever else stands there stays."""
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
