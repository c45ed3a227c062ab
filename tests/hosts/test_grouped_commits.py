"""Commands of many machines that are recorded together: one that fails, or waits, is alone."""

from __future__ import annotations

import gc
import select
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from moot.core.errors import MootError, Refused
from moot.engine.batch import Batch
from moot.engine.engine import Engine
from moot.engine.signed_commits import split_into_groups
from moot.hosts import messages as wire
from moot.hosts.joined_engine import JoinedEngine
from moot.hosts.replica import KeeperConnection
from moot.hosts.request_handler import RequestHandler
from moot.hosts.sync_delta import ArtifactPieces
from moot.protocols.example.model import Ask
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.test_broken_connections import Intruder
from tests.hosts.test_several_hosts import CRANE, OTTER, events_of, reserve
from tests.project import Project

SECONDS = 60.0
NOTHING = wire.CopyPosition(0, b"", 0, 0)


class Held:
    """The keeper's next commit waits until `let_go`; what comes meanwhile is one group."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.groups: list[int] = []
        self.has_begun = threading.Event()
        self.let_go = threading.Event()
        original = Engine.commit_signed

        def commit_signed(engine: Engine, commits: Any) -> None:
            self.groups.append(len(commits))
            self.has_begun.set()
            assert self.let_go.wait(SECONDS)
            original(engine, commits)

        monkeypatch.setattr(Engine, "commit_signed", commit_signed)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    made = Held(monkeypatch)
    yield made
    made.let_go.set()


class Machines:
    """Processes of two machines, each with a stream of its own, that write at the same time."""

    def __init__(self, stack: ExitStack, *projects: tuple[Project, str]) -> None:
        self._pool = stack.enter_context(ThreadPoolExecutor(8))
        self._writers: list[tuple[JoinedEngine, str]] = []
        for project, agent in projects:
            workspace = stack.enter_context(project.workspace())
            assert isinstance(workspace.engine, JoinedEngine)
            workspace.joined.sync()  # type: ignore[union-attr]
            self._writers.append((workspace.engine, agent))

    def write(self, number: int, stream: str) -> Any:
        engine, agent = self._writers[number]
        command = Ask(title="look", of=agent, due_at=None)
        return self._pool.submit(engine.execute, f"example/{stream}", command, agent)


def test_what_came_while_the_keeper_wrote_is_recorded_together(
    kept: KeptLedger, laptop: Project, desktop: Project, held: Held
) -> None:
    before = events_of(kept.project)
    with ExitStack() as stack:
        machines = Machines(stack, *[(laptop, OTTER)] * 2, *[(desktop, CRANE)] * 2)
        first = machines.write(0, "first")
        assert held.has_begun.wait(SECONDS)
        others = [machines.write(number, f"other-{number}") for number in (1, 2, 3)]
        _wait_until_asked(kept, 4)
        held.let_go.set()
        for one in (first, *others):
            assert one.result(SECONDS).recorded
    assert held.groups[0] == 1
    assert max(held.groups) > 1, "the others went together"
    assert events_of(kept.project) == before + 4


def _wait_until_asked(kept: KeptLedger, lines: int) -> None:
    """Until so many lines have something for the keeper to read, or are being answered: its one
    thread is held, and reads nothing itself."""
    pause = threading.Event()
    for _ in range(6_000):
        open_connections = list(kept.keeping._listener._connections)
        looking = select.poll()
        for line in open_connections:
            looking.register(line, select.POLLIN)
        asking = {number for number, _ in looking.poll(0)}
        answering = {line.fileno() for line in open_connections if line.is_answering}
        if len(asking | answering) >= lines:
            return
        pause.wait(0.01)
    raise AssertionError("they have asked nothing")


def test_a_command_that_fails_in_a_group_disturbs_no_other(
    kept: KeptLedger,
    laptop: Project,
    desktop: Project,
    held: Held,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever it is that goes wrong: a refusal, or something that nobody thought of."""
    decide = RequestHandler._decide

    def decide_or_fail(handler: RequestHandler, batch: Any, command: Any, *rest: Any) -> Any:
        done = decide(handler, batch, command, *rest)
        if command.streams == ["example/other-1"]:
            raise RuntimeError("nobody thought of this")
        if command.streams == ["example/other-2"]:
            raise Refused("not_this", "not this one")
        return done

    monkeypatch.setattr(RequestHandler, "_decide", decide_or_fail)
    before = events_of(kept.project)
    with ExitStack() as stack:
        machines = Machines(stack, *[(laptop, OTTER)] * 2, *[(desktop, CRANE)] * 2)
        first = machines.write(0, "first")
        assert held.has_begun.wait(SECONDS)
        others = [machines.write(number, f"other-{number}") for number in (1, 2, 3)]
        _wait_until_asked(kept, 4)
        held.let_go.set()
        assert first.result(SECONDS).recorded
        codes = []
        for one in others:
            error = one.exception(SECONDS)
            codes.append(error.code if isinstance(error, MootError) else error)
    assert codes == ["internal_error", "not_this", None]
    assert max(held.groups) > 1, "they were in a group"
    assert events_of(kept.project) == before + 2


def test_a_keeper_that_is_closed_in_the_middle_of_a_group_answers_it_first(
    kept: KeptLedger, laptop: Project, held: Held
) -> None:
    before = events_of(kept.project)
    with ExitStack() as stack:
        machines = Machines(stack, (laptop, OTTER))
        written = machines.write(0, "today")
        assert held.has_begun.wait(SECONDS)
        closing = stack.enter_context(ThreadPoolExecutor(1)).submit(kept.keeping.close)
        assert not written.done()
        held.let_go.set()
        assert written.result(SECONDS).recorded
        closing.result(SECONDS)
    assert events_of(kept.project) == before + 1


def test_a_slow_question_holds_up_no_command(
    kept: KeptLedger, laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_begun, may_end = threading.Event(), threading.Event()
    read_piece = ArtifactPieces.read_piece

    def read_slowly(*arguments: Any) -> wire.ArtifactPiece:
        has_begun.set()
        assert may_end.wait(SECONDS)
        return read_piece(*arguments)

    monkeypatch.setattr(ArtifactPieces, "read_piece", read_slowly)
    line = KeeperConnection(Intruder(kept, laptop).membership, seconds=SECONDS)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(line.ask, wire.DownloadPiece("0" * 64, 0), wire.ArtifactPiece)
        try:
            assert has_begun.wait(SECONDS)
            assert reserve(desktop, CRANE, "src/a.py") == ""
            assert not slow.done()
        finally:
            may_end.set()
        with pytest.raises(MootError):
            slow.result(SECONDS)
    line.close()


def test_a_machine_that_is_far_behind_is_told_everything(
    kept: KeptLedger, laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.hosts.sync_delta.MAX_FOREGROUND_RECORDS", 3)
    with laptop.workspace() as workspace:
        for number in range(8):
            command = Ask(title=f"errand {number}", of=OTTER, due_at=None)
            workspace.engine.execute("example/today", command, OTTER)
    with desktop.workspace() as there:
        assert there.engine.load("example/today").seq == 7
    assert events_of(desktop) == events_of(kept.project)


def test_a_line_that_ends_while_it_waits_for_its_turn_gives_up_its_place(
    kept: KeptLedger, laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.hosts.turns.TURN_SECONDS", 3_600.0)
    monkeypatch.setattr("moot.hosts.turns.WAIT_SECONDS", 3_600.0)
    membership = Intruder(kept, laptop).membership
    holder, waiting, last = (KeeperConnection(membership, seconds=SECONDS) for _ in range(3))
    turn = wire.TakeTurn(("example/today",), NOTHING)
    assert holder.ask(turn, wire.SyncDelta).has_turn
    waiting.open()
    assert waiting._connection is not None
    waiting._connection.send(wire.encode(turn), SECONDS)
    last.open()
    waiting.close()
    holder.close()
    assert last.ask(turn, wire.SyncDelta).has_turn
    last.close()


def test_anyone_who_is_next_is_told_so_early_and_fetches_what_is_new_itself(
    kept: KeptLedger, laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.hosts.turns.TURN_SECONDS", 3_600.0)
    membership = Intruder(kept, laptop).membership
    holder, following = (KeeperConnection(membership, seconds=SECONDS) for _ in range(2))
    streams = ("example/today",)
    assert holder.ask(
        wire.TakeTurn(streams, NOTHING, early=True, brief=True), wire.SyncDelta
    ).records
    for brief in (True, False):  # an older machine asks to be told at once
        early = following.ask(
            wire.TakeTurn(streams, NOTHING, early=True, brief=brief), wire.SyncDelta
        )
        assert (early.has_turn, early.more, not early.records) == (False, brief, brief)
    holder.close()
    assert following.ask(wire.TakeTurn(streams, NOTHING), wire.SyncDelta).has_turn
    following.close()


def test_a_machine_that_was_taken_off_is_refused_on_the_line_it_has(
    kept: KeptLedger, laptop: Project
) -> None:
    line = KeeperConnection(Intruder(kept, laptop).membership, seconds=SECONDS)
    assert line.ask(NOTHING, wire.SyncDelta).records
    kept.project.ok("machine", "revoke", "laptop")
    with pytest.raises(Refused) as refused:
        line.ask(NOTHING, wire.SyncDelta)
    assert refused.value.code == "machine_revoked"
    line.close()


class _Commit:
    def __init__(self, *streams: str) -> None:
        self.streams = frozenset(streams)


@pytest.mark.parametrize(
    ("streams", "groups"),
    [
        ([], []),
        (["a", "b", "c"], [["a", "b", "c"]]),
        (["a", "a", "b"], [["a", "b"], ["a"]]),
        (["registry", "a", "b"], [["registry"], ["a", "b"]]),
        (["a", "registry", "b"], [["a"], ["registry"], ["b"]]),
        (["a", "b", "a", "a"], [["a", "b"], ["a"], ["a"]]),
    ],
)
def test_no_two_of_a_group_share_a_stream_and_the_registry_goes_alone(
    streams: list[str], groups: list[list[str]]
) -> None:
    commits: Any = [_Commit(stream) for stream in streams]
    split = [[next(iter(one.streams)) for one in group] for group in split_into_groups(commits)]
    assert split == groups


def test_a_command_leaves_nothing_that_python_would_have_to_look_for(
    laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it looks for garbage nobody is answered, and until then all of it stays in memory."""
    batches: list[weakref.ref[Batch]] = []
    decide = RequestHandler._decide

    def decide_and_note(handler: RequestHandler, batch: Batch, *rest: Any) -> Any:
        batches.append(weakref.ref(batch))
        return decide(handler, batch, *rest)

    monkeypatch.setattr(RequestHandler, "_decide", decide_and_note)
    gc.disable()
    try:
        for number in range(3):
            assert not reserve(laptop, OTTER, f"src/{number}.py")
        left = [batch() is not None for batch in batches[:-1]]
    finally:
        gc.enable()
    assert left
    assert not any(left)
