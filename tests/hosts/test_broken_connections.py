"""Lines that break at every possible moment, lead to somebody else, or carry nonsense."""

from __future__ import annotations

import json
import random
import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from moot.core import clock as clocks
from moot.core.errors import MootError, Refused, StoreFailed
from moot.hosts import messages as wire
from moot.hosts import replica
from moot.hosts.connection import ClientConnection, ConnectionLost, connect
from moot.hosts.joined_engine import JoinedEngine
from moot.hosts.opening import read_membership
from moot.hosts.postgres import PostgresStore
from moot.keys.folder import KeyFolder
from moot.protocols.example.model import Ask
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.proxy import CutLine
from tests.hosts.test_several_hosts import events_of, reserve, through
from tests.project import Project
from tests.store.contract import entry
from tests.store.postgres_server import PostgresServer

OTTER = "amber-otter"
STREAM = "example/today"


@contextmanager
def line_to(port: int | Path) -> Iterator[CutLine]:
    line = CutLine(port)
    try:
        yield line
    finally:
        line.close()


def test_a_line_that_is_cut_at_any_moment_leaves_one_record_or_none(
    kept: KeptLedger, laptop: Project
) -> None:
    """Every piece that passes, in either direction, is once the last one before the cut."""
    with line_to(kept.port) as line:
        through(laptop, line)
        pieces, was_cut = 0, True
        while was_cut:
            before = events_of(kept.project)
            line.pieces_left = pieces
            was_told = _ask_once(laptop, pieces)
            was_cut = line.pieces_left is None
            line.pieces_left = None
            recorded = events_of(kept.project) - before
            assert recorded == 1 or (recorded == 0 and was_told == "keeper_away"), pieces
            assert _ask_once(laptop, pieces) == "", "a repeat under the same key is harmless"
            assert events_of(kept.project) == before + 1
            pieces += 1
    assert pieces > 6, "the line was cut at greetings, looks for news and commits"


def _ask_once(laptop: Project, number: int) -> str:
    with laptop.workspace() as workspace:
        try:
            command = Ask(title=f"errand {number}", of=OTTER, due_at=None)
            workspace.engine.execute(STREAM, command, OTTER, key=f"errand-{number}")
        except MootError as error:
            return error.code
    return ""


def test_a_keeper_with_another_certificate_is_told_nothing(
    kept: KeptLedger, laptop: Project
) -> None:
    before = events_of(kept.project)
    kept.close()
    (kept.project.root / ".moot" / "keeper" / "keeper.pem").unlink()
    other = KeptLedger(kept.project, kept.port)
    try:
        assert reserve(laptop, OTTER, "src") == "another_keeper"
        assert events_of(kept.project) == before
    finally:
        other.close()


@pytest.mark.parametrize("version", [wire.VERSION - 1, wire.VERSION + 1])
def test_versions_that_do_not_understand_each_other_say_so(
    kept: KeptLedger, laptop: Project, version: int
) -> None:
    """An older and a newer machine; whichever side is older is to be updated."""
    membership = read_membership(laptop.root / ".moot", KeyFolder(laptop.keys), _origin_of(laptop))
    line = connect(membership.address, membership.fingerprint)
    try:
        line.send(wire.encode(wire.Hello(version, membership.machine, membership.secret)), 5)
        answer = wire.decode_answer(line.receive(5))
    finally:
        line.close()
    assert isinstance(answer, wire.Failed)
    error = wire.unpack_error(answer)
    assert (type(error), error.code) == (Refused, "another_version")
    assert "update" in error.hint
    assert events_of(kept.project) == events_of(laptop)


def _origin_of(project: Project) -> str:
    return str(json.loads((project.root / ".moot" / "trust.json").read_bytes())["origin"])


def test_a_clock_that_was_set_while_a_line_was_open_is_compared_again(
    kept: KeptLedger, laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a machine that slept for hours and whose clock is then set."""
    with laptop.workspace() as workspace:
        engine = workspace.engine
        assert isinstance(engine, JoinedEngine)
        engine.execute(STREAM, Ask(title="one", of=OTTER, due_at=None), OTTER)
        assert engine._copy.connection.offset == 0
        true_clock, jump = clocks.system_clock, 7 * 3_600_000
        monkeypatch.setattr(replica, "system_clock", lambda: true_clock() + jump)
        inner = engine.clock
        monkeypatch.setattr(engine, "clock", lambda: inner() + jump)
        engine.execute(STREAM, Ask(title="two", of=OTTER, due_at=None), OTTER)
        assert abs(engine._copy.connection.offset + jump) < 1_000
        after = engine.load(STREAM)
    assert after.seq == 1
    assert events_of(kept.project) == events_of(laptop)


# A door that is shown nonsense --------------------------------------------------------------------


class Intruder:
    """Somebody on the network; `greeted` has one machine's secret."""

    def __init__(self, kept: KeptLedger, laptop: Project) -> None:
        self._kept = kept
        self.membership = read_membership(
            laptop.root / ".moot", KeyFolder(laptop.keys), _origin_of(laptop)
        )

    def raw(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self._kept.port), 5)

    def stranger(self) -> ssl.SSLSocket:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context.wrap_socket(self.raw())

    def greeted(self) -> tuple[ssl.SSLSocket, ClientConnection]:
        connection = self.stranger()
        line = ClientConnection(connection)
        self.greet(line)
        return connection, line

    def greet(self, line: ClientConnection) -> None:
        greeting = wire.Hello(wire.VERSION, self.membership.machine, self.membership.secret)
        line.send(wire.encode(greeting), 5)
        assert isinstance(wire.decode_answer(line.receive(5)), wire.Welcome)


QUESTIONS: tuple[wire.Question, ...] = (
    wire.CopyPosition(0, b"", 0, 0),
    wire.CopyPosition(-1, b"x", -1, -1),
    wire.CopyPosition(2**63 - 1, b"x" * 32, 2**63, 0),
    wire.TakeTurn(("presence", "\0", "a" * 10_000), wire.CopyPosition(0, b"", 0, 0)),
    wire.ApplyTimeouts("../../etc/passwd"),
    wire.ApplyTimeouts("presence"),
    wire.SendHeartbeat((OTTER, 2**62, "0" * 32, b"{}", bytes(64))),
    wire.UploadPiece("../../../x", 4, 0, b"data"),
    wire.UploadPiece("0" * 64, 2**40, 0, b"data"),
    wire.UploadPiece("0" * 64, 4, 0, b"data"),
    wire.DownloadPiece("../trust.json", 0),
    wire.DownloadPiece("0" * 64, -5),
    wire.Commit(wire.CopyPosition(0, b"", 0, 0), 0, False, (), (), ()),
    wire.Hello(wire.VERSION, "laptop", b""),
    wire.ListMembers(),
    wire.MoveSession(("debate/none", "\0"), "../x"),
)


def test_nonsense_at_the_door_changes_nothing_and_the_keeper_goes_on(
    kept: KeptLedger, laptop: Project
) -> None:
    intruder, chance = Intruder(kept, laptop), random.Random(20_260_301)
    before = events_of(kept.project)
    files = _names(kept.project.root)
    for number in range(150):
        frame = wire.encode(chance.choice(QUESTIONS))
        if number % 3:
            frame = _spoil(frame, chance)
        connection, line = intruder.greeted()
        with suppress(ConnectionLost, OSError):
            line.send(frame, 5)
            answer = wire.decode_answer(line.receive(5))
            assert not isinstance(answer, wire.Committed)
        connection.close()
    assert _names(kept.project.root) == files
    assert events_of(kept.project) == before
    assert reserve(laptop, OTTER, "src") == ""


def _names(root: Path) -> set[str]:
    kept = (path for path in root.parent.parent.rglob("*") if "laptop" not in path.parts)
    return {str(path) for path in kept if "ledger.db" not in path.name and path.is_file()}


def _spoil(frame: bytes, chance: random.Random) -> bytes:
    data = bytearray(frame)
    match chance.randrange(4):
        case 0:
            return bytes(data[: chance.randrange(len(data))])
        case 1:
            return bytes(data) + chance.randbytes(8)
        case 2:
            return chance.randbytes(chance.randrange(1, 200))
        case _:
            for _ in range(3):
                data[chance.randrange(len(data))] = chance.randrange(256)
            return bytes(data)


def test_strangers_get_no_answer_and_hold_nobody_up(kept: KeptLedger, laptop: Project) -> None:
    """No TLS, half a frame, a frame that says it is huge, a greeting that is none."""
    intruder = Intruder(kept, laptop)
    left_open: list[Any] = [intruder.raw() for _ in range(20)]
    left_open[0].sendall(b"GET / HTTP/1.1\r\n\r\n")
    for said in (
        struct.pack(">I", 2**32 - 1),
        struct.pack(">I", 1_000_000) + b"x" * 1000,
        struct.pack(">I", 40) + b"half",
        struct.pack(">I", 3) + b"\xc1\xc1\xc1",
        struct.pack(">I", 0),
    ):
        left_open.append(intruder.stranger())
        left_open[-1].sendall(said)
    assert reserve(laptop, OTTER, "src") == ""
    unknown = intruder.stranger()
    line = ClientConnection(unknown)
    line.send(wire.encode(wire.Hello(wire.VERSION, "laptop", b"guess")), 5)
    answer = wire.decode_answer(line.receive(5))
    assert isinstance(answer, wire.Failed)
    assert answer.code == "machine_unknown"
    for one in (*left_open, unknown):
        one.close()


# A line to the database that breaks at the commit -------------------------------------------------


@pytest.fixture
def database() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.end()


@pytest.mark.parametrize("lost", ["question", "answer"])
def test_a_commit_whose_answer_was_lost_is_looked_up(
    database: PostgresServer, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    with line_to(database.sockets / ".s.PGSQL.5432") as line:
        url = f"postgresql://moot@127.0.0.1:{line.port}/postgres"
        store = PostgresStore(url, "ledger", create=True)
        with store.write() as change:
            change.append([entry("example/a", 0)])
        commit = store._commit

        def lose(newest: Any) -> None:
            line.swallow_answers, line.swallow_questions = lost == "answer", lost == "question"
            commit(newest)

        monkeypatch.setattr(store, "_commit", lose)
        if lost == "answer":
            with store.write() as change:
                change.append([entry("example/a", 1)])
        else:
            with pytest.raises(StoreFailed), store.write() as change:
                change.append([entry("example/a", 1)])
        monkeypatch.setattr(store, "_commit", commit)
        with store.read() as view:
            assert view.newest_position() == (2 if lost == "answer" else 1)
        assert line.lines == 2, "the line was really lost"
        store.close()
    with psycopg.connect(database.url) as db:
        db.execute("SET search_path = ledger")
        row = db.execute("SELECT count(*) FROM events").fetchone()
    assert row == (2 if lost == "answer" else 1,)
