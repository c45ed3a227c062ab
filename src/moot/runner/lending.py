"""The key folder and the socket that a program of `moot run` gets."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.core.errors import StoreFailed
from moot.keys.runner_connection import ACK, InvalidFrame, read_frame, write_frame
from moot.runner.requests import AnswerHook, RunRequests

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.keys.agent_folder import LentFolder


SOCKET_VARIABLE: Final = "MOOT_SOCKET"
KEYS_VARIABLE: Final = "MOOT_KEYS"


def can_listen() -> bool:
    """True if the system has Unix sockets; elsewhere programs share the user's key folder."""
    return hasattr(socket, "AF_UNIX")


@contextmanager
def lent_settings(session: Session, answer_hook: AnswerHook | None) -> Iterator[dict[str, str]]:
    """Yield the variables for the agent's program: its key folder, and our socket.

    In a run that another run's program started, they are those that the first run has lent.
    """
    loan = session.keys.loan
    if loan is not None:
        yield {KEYS_VARIABLE: str(session.keys.path), SOCKET_VARIABLE: loan.socket}
        return
    if not can_listen():
        yield {}
        return
    with ExitStack() as stack:
        lent = _lend(session, stack, answer_hook)
        yield {KEYS_VARIABLE: str(lent.path), SOCKET_VARIABLE: str(lent.socket)}


def _lend(session: Session, stack: ExitStack, answer_hook: AnswerHook | None) -> LentFolder:
    from moot.keys.agent_folder import lend_folder

    name = session.actor()
    kid = session.require_agent(name).kid
    origin = session.workspace.trust.origin
    lent = stack.enter_context(lend_folder(session.keys, origin, name, kid))
    requests = RunRequests(
        session, lent, lambda other, ends: _lend(other, ends, answer_hook), answer_hook
    )
    try:
        listening = SocketServer(lent.socket, requests.answer)
    except OSError as error:
        raise StoreFailed(
            "socket_failed",
            f"`moot run` cannot listen at {lent.socket}: {error.strerror or error}",
            hint="check space and permissions there",
        ) from error
    stack.callback(requests.close)
    stack.callback(listening.close)
    return lent


# The socket of a `moot run` or a tool's server: who may connect, how much it may say, how long.
#
# Only the same system user gets in: the folder is 0700, the socket 0600, and the system is asked
# who calls where it can tell. Each call has a thread of its own; at most so many at once, others
# wait.

MOST_CALLS: Final = 64
BACKLOG: Final = 128
READ_SECONDS: Final = 10.0
WRITE_SECONDS: Final = 10.0
# How long the end of a run waits for answers that are under way.
CLOSE_SECONDS: Final = 5.0

Answer = Callable[[list[bytes]], Sequence[bytes]]
# Whether the process of this number may ask.
Admit = Callable[[int], bool]


class SocketServer:
    """Answers requests on a socket until it is closed; with `admit`, only those of admitted
    processes."""

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
            os.chmod(place, 0o600)  # the folder is private already
            self._socket.listen(BACKLOG)
        except OSError:
            self._socket.close()
            raise
        self._thread = threading.Thread(target=self._accept, name="moot-listening", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Accept no more requests; those in progress get a little time."""
        self._closing = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes `accept` where it waits
        self._socket.close()
        self._place.unlink(missing_ok=True)
        for _ in range(MOST_CALLS):
            if not self._calls.acquire(timeout=CLOSE_SECONDS):
                return

    def _accept(self) -> None:
        while not self._closing:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                if self._closing:
                    return
                continue  # the client has disconnected
            self._calls.acquire()
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, suppress(OSError, InvalidFrame):
                if not self._is_allowed(connection):
                    return
                question = read_frame(connection, READ_SECONDS)
                connection.settimeout(WRITE_SECONDS)
                connection.sendall(ACK)  # fails if the client no longer waits
                answer = self._answer(question)
                connection.settimeout(WRITE_SECONDS)
                write_frame(connection, *answer)
        finally:
            self._calls.release()

    def _is_allowed(self, connection: socket.socket) -> bool:
        """Check the peer. If the system does not tell who it is, the file modes must be enough."""
        peer = getattr(socket, "SO_PEERCRED", None)
        if peer is None:
            return self._admit is None
        size = struct.calcsize("3i")
        process, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, peer, size))
        return bool(user == os.getuid()) and (self._admit is None or self._admit(process))
