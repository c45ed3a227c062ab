"""While another process holds the ledger's lock, a keeper records nothing, and answers each client
for news."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest

from moot.core.errors import StoreFailed
from moot.hosts import messages as wire
from moot.hosts.connection import ConnectionLost
from moot.hosts.joined_engine import JoinedEngine
from moot.protocols.example.model import Ask
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.test_broken_connections import Intruder
from tests.hosts.test_hostile_hosts import engine_of
from tests.hosts.test_several_hosts import CRANE, OTTER, events_of
from tests.project import Project

STREAM = "example/today"
PAUSE = threading.Event()


@contextmanager
def held(kept: KeptLedger) -> Iterator[sqlite3.Connection]:
    """Another connection has the write lock until it is closed."""
    file = kept.project.root / ".moot" / "ledger.db"
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield db


def record(engine: JoinedEngine) -> None:
    engine.execute(STREAM, Ask("errand", OTTER), OTTER)


def beat(engine: JoinedEngine) -> None:
    engine.beat(OTTER)


def pin(engine: JoinedEngine) -> None:
    engine.checkpoint()


def wait_until_asked(kept: KeptLedger, lines: int) -> None:
    """Until so many lines wait for an answer."""
    until = time.monotonic() + 30
    while sum(line.is_answering for line in list(kept.keeping._peers)) < lines:
        assert time.monotonic() < until
        PAUSE.wait(0.01)


@pytest.mark.parametrize("act", [record, beat, pin])
def test_news_are_told_while_somebody_waits_for_the_lock(
    kept: KeptLedger, laptop: Project, desktop: Project, act: Callable[[JoinedEngine], None]
) -> None:
    with laptop.workspace() as workspace, desktop.workspace() as other:
        engine, elsewhere = engine_of(workspace), engine_of(other)
        record(engine)
        with held(kept):
            waiting = threading.Thread(target=act, args=(engine,))
            waiting.start()
            wait_until_asked(kept, 1)
            for _ in range(3):
                elsewhere._copy.sync()
            assert waiting.is_alive(), "the lock is still held"
        waiting.join(30)
        assert not waiting.is_alive()
        assert elsewhere.beat(CRANE)
    assert events_of(kept.project) == events_of(desktop)


def test_several_commands_that_waited_are_all_recorded(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    before = events_of(kept.project)
    with laptop.workspace() as one, desktop.workspace() as other:
        commands = [(engine_of(one), "example/a", OTTER), (engine_of(other), "example/b", CRANE)]
        with held(kept):
            waiting = [
                threading.Thread(target=engine.execute, args=(stream, Ask("errand", name), name))
                for engine, stream, name in commands
            ]
            for thread in waiting:
                thread.start()
            wait_until_asked(kept, 2)
        for thread in waiting:
            thread.join(30)
    assert events_of(kept.project) == before + 2


def test_a_command_of_a_line_that_has_ended_is_not_recorded_any_more(
    kept: KeptLedger, laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repeated question gets it recorded; otherwise no machine sees it."""
    asked: list[wire.Commit] = []

    def catch(_engine: JoinedEngine, question: wire.Commit, *_: object) -> None:
        asked.append(question)
        raise ConnectionLost("before it was sent")

    with laptop.workspace() as workspace, monkeypatch.context() as patched:
        patched.setattr(JoinedEngine, "_commit_until_known", catch)
        with pytest.raises(ConnectionLost):
            record(engine_of(workspace))
    before = events_of(kept.project)
    connection, line = Intruder(kept, laptop).greeted()
    with held(kept):
        line.send(wire.encode(asked[0]), 5)
        wait_until_asked(kept, 1)
        connection.close()
        until = time.monotonic() + 30
        while kept.keeping._peers:
            assert time.monotonic() < until
            PAUSE.wait(0.01)
    with laptop.workspace() as workspace:
        engine_of(workspace).beat(OTTER)  # the keeper has gone on
    assert events_of(kept.project) == before


@pytest.mark.parametrize("act", [record, beat])
def test_anyone_who_has_waited_too_long_is_told_and_nothing_is_recorded(
    kept: KeptLedger,
    laptop: Project,
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[[JoinedEngine], None],
) -> None:
    monkeypatch.setattr("moot.hosts.request_handler.LONGEST_WAIT_SECONDS", 0.3)
    with laptop.workspace() as workspace:
        engine = engine_of(workspace)
        before = events_of(kept.project)
        with held(kept), pytest.raises(StoreFailed) as refused:
            act(engine)
        assert refused.value.code == "store_busy"
        assert events_of(kept.project) == before
        act(engine)
    assert events_of(kept.project) == before + (act is record)
