"""A machine that joined and means harm to the others: by what it sends, claims and takes up."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from moot.core.canonical import canonical
from moot.core.clock import to_text
from moot.core.errors import Malformed, MootError
from moot.core.names import SYSTEM
from moot.core.signing import HEARTBEAT
from moot.engine.job import Job
from moot.engine.signers import find_signatory
from moot.hosts import messages as wire
from moot.hosts.connection import FRAME_LENGTH, ClientConnection, ConnectionLost, connect
from moot.hosts.joined_engine import JoinedEngine
from moot.protocols.decision.commands import EndRun, SetMotion
from moot.protocols.example.model import Ask as AskFor
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.test_broken_connections import Intruder
from tests.hosts.test_several_hosts import CRANE, OTTER, events_of, reserve
from tests.project import Project

QUESTION = "decision/q-1"
ASKED = ("ask", "Ship it?", "--with", "rules:approve,rules:sceptic,rules:majority")


def engine_of(workspace: Any) -> JoinedEngine:
    engine = workspace.engine
    assert isinstance(engine, JoinedEngine)
    engine._copy.sync()
    return engine


def test_a_sign_of_life_is_as_short_as_it_can_be(kept: KeptLedger, desktop: Project) -> None:
    """It goes to every machine with the news: a few megabytes of spaces would shut all of them
    out, and nobody but its agent could replace it."""
    with desktop.workspace() as workspace:
        engine = engine_of(workspace)
        who = find_signatory(engine.registry(), engine.keys, CRANE)
        at = engine.clock()
        said = {
            "agent": CRANE,
            "at": to_text(at),
            "epoch": who.acting.epoch,
            "kid": who.acting.kid,
            "origin": engine.trust.origin,
        }
        raw = canonical(said) + b" " * 100_000
        beat = (CRANE, at, who.acting.kid, raw, who.signer.sign(HEARTBEAT, raw))
        with pytest.raises(MootError) as refused:
            engine._copy.connection.ask(wire.SendHeartbeat(beat), wire.Done)
    assert refused.value.code == "bad_heartbeat"
    with kept.project.workspace() as workspace, workspace.store.read() as view:
        assert max((len(one.raw) for one in view.heartbeats(0)), default=0) < 1_000


# Whose session it is ------------------------------------------------------------------------------


def _claim(desktop: Project) -> None:
    """Ask for something in a session that another machine is about to begin."""
    with desktop.workspace() as workspace:
        engine = engine_of(workspace)
        job = Job(QUESTION, SetMotion("mine", (CRANE,)), CRANE)
        claim = wire.Commit(
            engine._copy.position(),
            engine.clock(),
            False,
            (wire.pack_job(job),),
            ((b"{}", bytes(64)),),
            ((QUESTION, 0, bytes(32)),),
        )
        with suppress(MootError):
            engine._copy.connection.ask(claim, wire.DecideAgain)


def test_a_session_belongs_to_the_machine_that_began_it_anyone_who_asked_in_between(
    kept: KeptLedger, laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other machine asks again and again for a session of that name, until it has begun."""
    original, claims = JoinedEngine._commit_until_known, 0

    def ask_after_a_claim(self: JoinedEngine, question: wire.Commit, *more: Any) -> Any:
        nonlocal claims
        if claims < 3 and any(stream == QUESTION for stream, *_ in question.places):
            claims += 1
            _claim(desktop)
        return original(self, question, *more)

    monkeypatch.setattr(JoinedEngine, "_commit_until_known", ask_after_a_claim)
    laptop.ok(*ASKED)
    assert claims == 3
    before = events_of(kept.project)
    with desktop.workspace() as workspace, pytest.raises(MootError) as refused:
        workspace.engine.execute(QUESTION, EndRun(stop="done"), SYSTEM)
    assert refused.value.code == "ledgers_part"
    assert events_of(kept.project) == before


def test_asking_for_sessions_that_never_begin_leaves_nothing_behind(
    kept: KeptLedger, desktop: Project
) -> None:
    _claim(desktop)
    with kept.project.workspace() as workspace, workspace.store.read() as view:
        assert list(view.all_cursors()) == []


# Lines --------------------------------------------------------------------------------------------

MOST = 8


@pytest.fixture
def few_lines(
    kept: KeptLedger, laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> Iterator[KeptLedger]:
    """The same ledger, kept again, with room for a few lines only."""
    assert laptop.root != desktop.root, "both have joined before"
    kept.close()
    monkeypatch.setattr("moot.hosts.listener.MAX_CONNECTIONS", MOST)
    ledger = KeptLedger(kept.project, kept.port)
    yield ledger
    ledger.close()


def _take_lines(intruder: Intruder, number: int) -> list[tuple[ssl.SSLSocket, ClientConnection]]:
    taken = []
    for _ in range(number):
        with suppress(OSError, ConnectionLost):
            taken.append(intruder.greeted())
    return taken


def test_a_machine_that_takes_up_all_lines_keeps_nobody_out(
    few_lines: KeptLedger, laptop: Project, desktop: Project
) -> None:
    taken = _take_lines(Intruder(few_lines, desktop), MOST + 2)
    for number in range(3):
        assert reserve(laptop, OTTER, f"src/{number}.py") == ""
    for connection, _ in taken:
        connection.close()


def test_a_machine_whose_lines_all_wait_for_an_answer_keeps_nobody_out(
    few_lines: KeptLedger, laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of them is silent: whichever has waited longest makes room."""
    monkeypatch.setattr("moot.hosts.turns.TURN_SECONDS", 10.0)
    hold = wire.TakeTurn(("example/x",), wire.CopyPosition(0, b"", 0, 0))
    with laptop.workspace() as holder, laptop.workspace() as other:
        engine_of(holder)._copy.connection.ask(hold, wire.SyncDelta)
        taken = _take_lines(Intruder(few_lines, desktop), MOST)
        for _, line in taken:
            line.send(wire.encode(hold), 5)
        until = time.monotonic() + 10
        while sum(line.is_answering for line in list(few_lines.keeping._peers)) < MOST - 1:
            assert time.monotonic() < until
        engine_of(other)
    for connection, _ in taken:
        connection.close()


def test_a_machine_whose_line_was_ended_to_make_room_goes_on_over_another(
    few_lines: KeptLedger, laptop: Project, desktop: Project
) -> None:
    with desktop.workspace() as workspace:
        engine = engine_of(workspace)
        taken = _take_lines(Intruder(few_lines, desktop), MOST)
        assert reserve(laptop, OTTER, "src/a.py") == ""
        assert reserve(desktop, CRANE, "src/b.py") == ""
        engine._copy.sync()
        for connection, _ in taken:
            connection.close()
    assert events_of(desktop) == events_of(few_lines.project)


def test_a_machine_that_was_taken_off_has_no_line_any_more(
    few_lines: KeptLedger, laptop: Project, desktop: Project
) -> None:
    (_, silent), (_, asking) = taken = _take_lines(Intruder(few_lines, desktop), 2)
    few_lines.project.ok("machine", "revoke", "desktop")
    asking.send(wire.encode(wire.CopyPosition(0, b"", 0, 0)), 5)
    answer = wire.decode_answer(asking.receive(5))
    assert isinstance(answer, wire.Failed)
    assert answer.code == "machine_revoked"
    with pytest.raises(ConnectionLost):
        asking.receive(5)
    with pytest.raises(ConnectionLost, match="connection broke"):
        silent.receive(30)
    for connection, _ in taken:
        connection.close()
    assert reserve(laptop, OTTER, "src/a.py") == ""


# Memory -------------------------------------------------------------------------------------------

MEBIBYTE = 1024 * 1024


def test_a_machine_that_begins_long_questions_on_many_lines_is_ended_and_nobody_else(
    kept: KeptLedger, laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is kept until it is whole: a machine could fill the keeper's memory with beginnings."""
    monkeypatch.setattr("moot.hosts.listener.MAX_BUFFERED", 5 * MEBIBYTE + 4096)
    began = FRAME_LENGTH.pack(60 * MEBIBYTE)
    (honest,) = _take_lines(Intruder(kept, laptop), 1)
    honest[0].sendall(began + bytes(2 * MEBIBYTE))
    greedy = _take_lines(Intruder(kept, desktop), 4)
    for connection, _ in greedy:
        with suppress(OSError):
            connection.sendall(began + bytes(MEBIBYTE + MEBIBYTE // 2))
    ended = 0
    for connection, _ in greedy:
        connection.settimeout(1)
        try:
            connection.recv(1)
        except TimeoutError:
            continue
        except OSError:
            pass
        ended += 1
    assert ended == 2
    honest[0].settimeout(0.2)
    with pytest.raises(TimeoutError):
        honest[0].recv(1)
    assert reserve(laptop, OTTER, "src/a.py") == reserve(desktop, CRANE, "src/b.py") == ""
    for connection, _ in (honest, *greedy):
        connection.close()


def _take_plain_lines(
    kept: KeptLedger, project: Project, place: Path, number: int
) -> list[ClientConnection]:
    """Over a socket of this machine, for which the system keeps little that is not read."""
    if not place.exists():
        kept.keeping.listen_unix(place)
    intruder = Intruder(kept, project)
    lines = [connect(f"unix:{place}", "") for _ in range(number)]
    for line in lines:
        intruder.greet(line)
    return lines


def _count_ended(lines: list[ClientConnection]) -> int:
    """How many got no answer but an end."""
    ended = 0
    for line in lines:
        try:
            line.receive(10)
        except ConnectionLost as error:
            ended += str(error) != "no answer in time"
    return ended


def test_a_machine_that_does_not_read_long_answers_is_ended_and_nobody_else(
    kept: KeptLedger,
    laptop: Project,
    desktop: Project,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Each is kept until it was read: a machine could fill the keeper's memory with them."""
    with laptop.workspace() as workspace:
        for _ in range(40):
            workspace.engine.execute("example/x", AskFor("a" * 60_000, OTTER), OTTER)
    follow = wire.encode(wire.CopyPosition(0, b"", 0, 0))
    (reads, *others) = _take_plain_lines(kept, laptop, tmp_path / "door", 2)
    reads.send(follow, 5)
    length = len(reads.receive(5))
    assert length > 2 * MEBIBYTE
    monkeypatch.setattr("moot.hosts.listener.MAX_BUFFERED", 3 * length + length // 2)
    greedy = _take_plain_lines(kept, desktop, tmp_path / "door", 4)
    for line in (*others, *greedy):
        line.send(follow, 5)
    reads.send(wire.encode(wire.ListMembers()), 5)
    assert isinstance(wire.decode_answer(reads.receive(5)), wire.MemberList)
    assert len(kept.keeping._peers) == 4, "two of the greedy ones have gone"
    assert _count_ended(greedy) == 2
    assert [len(line.receive(5)) for line in others] == [length]
    for line in (reads, *others, *greedy):
        line.close()


def test_a_machine_whose_long_questions_wait_for_their_turn_is_ended_and_nobody_else(
    kept: KeptLedger,
    laptop: Project,
    desktop: Project,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """They are whole, and kept until they are answered."""
    monkeypatch.setattr("moot.hosts.turns.TURN_SECONDS", 10.0)
    monkeypatch.setattr("moot.hosts.turns.WAIT_SECONDS", 1.0)
    monkeypatch.setattr("moot.hosts.listener.MAX_BUFFERED", 5 * MEBIBYTE)
    follow = wire.CopyPosition(0, b"", 0, 0)
    long_names = tuple(f"example/{number}-".ljust(1_500, "x") for number in range(999))
    (holder, *others) = _take_plain_lines(kept, laptop, tmp_path / "door", 2)
    holder.send(wire.encode(wire.TakeTurn(("example/x",), follow)), 5)
    assert isinstance(wire.decode_answer(holder.receive(5)), wire.SyncDelta)
    greedy = _take_plain_lines(kept, desktop, tmp_path / "door", 4)
    for line in (*others, *greedy):
        line.send(wire.encode(wire.TakeTurn(("example/x", *long_names), follow)), 5)
    assert _count_ended(greedy) == 2
    assert _count_ended(others) == 0
    for line in (holder, *others, *greedy):
        line.close()


@pytest.mark.parametrize(
    "question",
    [
        wire.TakeTurn(("",) * 1_001, wire.CopyPosition(0, b"", 0, 0)),
        wire.MoveSession(("",) * 1_001),
        wire.Commit(wire.CopyPosition(0, b"", 0, 0), 0, False, (), ((b"", b""),) * 50_001, ()),
        wire.Commit(wire.CopyPosition(0, b"", 0, 0), 0, False, (), (), (("", 0, b""),) * 50_001),
        wire.Commit(wire.CopyPosition(0, b"", 0, 0), 0, False, (), (), (), ("",) * 1_001),
    ],
    ids=lambda question: type(question).__name__,
)
def test_a_long_list_of_nothing_is_not_even_read(question: wire.Question) -> None:
    """One of 64 MiB kept the keeper busy for seconds before anybody counted it."""
    with pytest.raises(Malformed) as refused:
        wire.decode_question(wire.encode(question))
    assert refused.value.code == "bad_request"


# Artifacts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../trust.json", "../../keys", "0" * 63, "A" * 64, "\0", ""])
def test_no_file_but_an_artifact_is_read_or_written_by_its_name(
    laptop: Project, name: str, tmp_path: Path
) -> None:
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    with laptop.workspace() as workspace:
        line = engine_of(workspace)._copy.connection
        for question in (wire.DownloadPiece(name, 0), wire.UploadPiece(name, 4, 0, b"data")):
            with pytest.raises(MootError) as refused:
                line.ask(question, wire.ArtifactPiece, wire.Done)
            assert refused.value.code == "bad_hash"
    after = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert {path.name for path in after - before} <= {"ledger.db-wal", "ledger.db-shm"}
