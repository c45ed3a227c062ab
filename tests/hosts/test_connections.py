"""One thread serves all connections: a slow, silent, greedy or broken one does not block others."""

from __future__ import annotations

import math
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from moot.hosts import listener, server_connection
from moot.hosts.connection import MAX_FRAME, ClientConnection
from moot.hosts.keeper import ensure_certificate, server_context
from moot.hosts.listener import KeeperListener
from moot.hosts.server_connection import ServerConnection

SECONDS = 60.0
LONG = 24 * 1024 * 1024  # more than the system takes while nobody reads


class Parrot:
    """A keeper that says everything back. `long` gets much back, `later` an answer when something
    else is said on another line, `slow` one from another thread."""

    def __init__(self) -> None:
        self.listening = KeeperListener(self)
        self.heard: list[bytes] = []
        self.later: list[ServerConnection] = []
        self.ended = threading.Semaphore(0)
        self.slow_may_end = threading.Event()
        self.slow_has_begun = threading.Semaphore(0)
        self.begun = 0

    def receive(self, line: ServerConnection, frame: bytes) -> None:
        self.heard.append(frame)
        line.max_frame = MAX_FRAME
        if frame == b"later":
            self.later.append(line)
        elif frame == b"slow":
            self.listening.answer_in_background(line, self._say_slowly)
        elif frame == b"long":
            self.listening.answer(line, bytes(LONG))
        else:
            self.listening.answer(line, frame)

    def find_revoked(self) -> list[ServerConnection]:
        return []

    def find_surplus(self, most: int) -> ServerConnection | None:  # noqa: ARG002
        return None

    def find_largest(self) -> ServerConnection | None:
        return None

    def _say_slowly(self) -> bytes:
        self.begun += 1
        self.slow_has_begun.release()
        assert self.slow_may_end.wait(SECONDS)
        return b"slowly"

    def step(self) -> float:
        if b"now" in self.heard:
            while self.later:
                self.listening.answer(self.later.pop(), b"at last")
        return math.inf

    def keeps_turn(self, line: ServerConnection) -> bool:
        del line
        return False

    def forget_turn(self, line: ServerConnection) -> None:
        raise AssertionError(line)

    def forget(self, line: ServerConnection) -> None:
        if line in self.later:
            self.later.remove(line)
        self.ended.release()


class Place:
    """Where a parrot listens, over TLS."""

    def __init__(self, folder: Path) -> None:
        self.parrot = Parrot()
        context = server_context(ensure_certificate(folder))
        self.port = self.parrot.listening.listen_tls("127.0.0.1", 0, context)

    def raw(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), SECONDS)

    def secured(self) -> ssl.SSLSocket:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context.wrap_socket(self.raw())

    def says(self, frame: bytes) -> bytes:
        """What somebody is told who comes, asks and goes."""
        with closing(self.secured()) as line:
            return ask(line, frame)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.parrot.slow_may_end.set()
    made.parrot.listening.close()


def frame_of(said: bytes) -> bytes:
    return struct.pack(">I", len(said)) + said


def ask(line: socket.socket, said: bytes) -> bytes:
    line.sendall(frame_of(said))
    return ClientConnection(line).receive(SECONDS)


def has_ended(line: socket.socket) -> bool:
    """Waits until the other side has closed it, or said something."""
    try:
        return not line.recv(1)
    except (ConnectionError, ssl.SSLError):
        return True


def test_half_a_frame_holds_up_nobody_and_is_answered_once_it_is_whole(place: Place) -> None:
    with closing(place.secured()) as slow:
        whole = frame_of(b"a question in pieces")
        for end in (2, 4, 9):
            slow.sendall(whole[:end])
            assert place.says(b"quick") == b"quick"
            whole = whole[end:]
        slow.sendall(whole)
        assert ClientConnection(slow).receive(SECONDS) == b"a question in pieces"


def test_several_questions_at_once_are_answered_one_after_another(place: Place) -> None:
    with closing(place.secured()) as line:
        said = [f"{number}".encode() * 400 for number in range(40)]
        line.sendall(b"".join(map(frame_of, said)))
        answers = ClientConnection(line)
        assert [answers.receive(SECONDS) for _ in said] == said


def test_one_that_never_reads_holds_up_nobody_and_is_ended(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "ANSWER_SECONDS", 0.5)
    with closing(place.secured()) as deaf:
        deaf.sendall(frame_of(b"long"))
        assert place.says(b"quick") == b"quick"
        assert place.parrot.ended.acquire(timeout=SECONDS), "the quick one has gone"
        assert place.parrot.ended.acquire(timeout=SECONDS), "and the deaf one was ended"
        assert place.says(b"quick") == b"quick"


def test_one_that_reads_slowly_gets_all_of_it(place: Place) -> None:
    with closing(place.secured()) as line:
        line.sendall(frame_of(b"long"))
        assert place.says(b"quick") == b"quick"
        assert ClientConnection(line).receive(SECONDS) == bytes(LONG)
        assert ask(line, b"and now this") == b"and now this"


def test_one_that_sends_and_sends_is_read_only_a_little_ahead(place: Place) -> None:
    """While its question waits for an answer the rest stays with its sender."""
    with closing(place.secured()) as greedy:
        greedy.sendall(frame_of(b"later"))
        greedy.settimeout(0.5)
        with pytest.raises(TimeoutError):
            greedy.sendall(frame_of(b"x" * LONG))
        (line,) = place.parrot.later
        assert len(line._received) <= server_connection.MAX_READ_AHEAD + server_connection.CHUNK
        assert place.says(b"quick") == b"quick"


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\n\r\n"])
def test_one_that_connects_and_says_nothing_is_ended(
    place: Place, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(listener, "HELLO_SECONDS", 0.2)
    with closing(place.raw()) as silent:
        silent.sendall(said)
        assert has_ended(silent)


@pytest.mark.parametrize("said", [b"", b"\0\0", b"\0\0\0\x08half"])
def test_one_that_greets_slowly_is_ended(
    place: Place, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(listener, "HELLO_SECONDS", 2.0)
    with closing(place.secured()) as slow:
        slow.sendall(said)
        assert has_ended(slow)
    assert place.parrot.heard == []


def test_a_greeting_is_short(place: Place) -> None:
    with closing(place.secured()) as line:
        line.sendall(struct.pack(">I", listener.MAX_HELLO + 1))
        assert has_ended(line)


def test_one_that_is_silent_for_too_long_is_ended(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "IDLE_SECONDS", 0.2)
    with closing(place.secured()) as idle:
        assert ask(idle, b"hello") == b"hello"
        assert has_ended(idle)


def test_anyone_who_comes_beyond_the_limit_is_sent_away_and_the_others_go_on(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "MAX_CONNECTIONS", 3)
    lines = [place.secured() for _ in range(3)]
    assert [ask(line, b"hello") for line in lines] == [b"hello"] * 3
    with closing(place.raw()) as late:
        assert has_ended(late)
    assert ask(lines[0], b"still here") == b"still here"
    lines.pop().close()
    assert place.parrot.ended.acquire(timeout=SECONDS)
    assert place.says(b"now there is room") == b"now there is room"
    for line in lines:
        line.close()


def test_an_answer_that_has_to_wait_holds_up_nobody(place: Place) -> None:
    with closing(place.secured()) as waiting, closing(place.secured()) as slow:
        waiting.sendall(frame_of(b"later"))
        slow.sendall(frame_of(b"slow"))
        assert place.parrot.slow_has_begun.acquire(timeout=SECONDS)
        assert place.says(b"quick") == b"quick"
        assert place.says(b"now") == b"now"
        assert ClientConnection(waiting).receive(SECONDS) == b"at last"
        place.parrot.slow_may_end.set()
        assert ClientConnection(slow).receive(SECONDS) == b"slowly"


def test_a_line_that_ends_while_it_waits_is_forgotten_at_once(place: Place) -> None:
    waiting = place.secured()
    waiting.sendall(frame_of(b"later"))
    assert place.says(b"hello") == b"hello"
    assert place.parrot.ended.acquire(timeout=SECONDS)
    waiting.close()
    assert place.parrot.ended.acquire(timeout=SECONDS)
    assert place.parrot.later == []


def test_an_answer_for_a_line_that_has_ended_goes_nowhere(place: Place) -> None:
    gone = place.secured()
    gone.sendall(frame_of(b"slow"))
    assert place.parrot.slow_has_begun.acquire(timeout=SECONDS)
    gone.close()
    assert place.parrot.ended.acquire(timeout=SECONDS)
    place.parrot.slow_may_end.set()
    assert place.says(b"quick") == b"quick"


def test_nothing_is_done_aside_for_a_line_that_has_ended(place: Place) -> None:
    """Nor are waiting questions kept: a client that reconnects again and again could fill the
    memory with them."""
    busy = [place.secured() for _ in range(listener.BACKGROUND_THREADS)]
    for line in busy:
        line.sendall(frame_of(b"slow"))
    while place.parrot.begun < listener.BACKGROUND_THREADS:
        assert place.parrot.slow_has_begun.acquire(timeout=SECONDS)
    gone = place.secured()
    gone.sendall(frame_of(b"slow"))
    assert place.says(b"quick") == b"quick"
    assert place.parrot.ended.acquire(timeout=SECONDS)
    gone.close()
    assert place.parrot.ended.acquire(timeout=SECONDS)
    place.parrot.slow_may_end.set()
    assert [ClientConnection(line).receive(SECONDS) for line in busy] == [
        b"slowly"
    ] * listener.BACKGROUND_THREADS
    assert place.says(b"slow") == b"slowly"
    assert place.parrot.begun == listener.BACKGROUND_THREADS + 1
    for line in busy:
        line.close()


def test_after_closing_nobody_is_answered_and_a_second_time_changes_nothing(place: Place) -> None:
    with closing(place.secured()) as line:
        assert ask(line, b"hello") == b"hello"
        place.parrot.listening.close()
        assert has_ended(line)
        place.parrot.listening.close()
    with pytest.raises(ConnectionError):
        place.raw()


def test_the_same_over_a_socket_of_this_machine(tmp_path: Path) -> None:
    parrot, file = Parrot(), tmp_path / "door"
    parrot.listening.listen_unix(file)
    assert file.stat().st_mode & 0o777 == 0o600
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as line:
        line.settimeout(SECONDS)
        line.connect(str(file))
        assert ask(line, b"hello") == b"hello"
        assert len(ask(line, b"long")) == LONG
    parrot.listening.close()
    assert not file.exists()
