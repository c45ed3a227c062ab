"""A process that records one command after another: answered briefly, and never out of step."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import msgspec
import pytest

from moot.core.errors import MootError, Tampered
from moot.core.ledger import View
from moot.core.names import REGISTRY, SYSTEM
from moot.core.registry.model import EraseArtifact, RetireAgent
from moot.engine.job import JobOutcome
from moot.hosts import joined_engine
from moot.hosts import messages as wire
from moot.hosts.joined_engine import JoinedEngine
from moot.keys.folder import KeyFolder, Passphrase
from moot.protocols.example.model import Ask
from moot.workspace.workspace import Workspace
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.test_several_hosts import CRANE, OTTER, events_of
from tests.project import Project

STREAM = "example/today"
PASSPHRASE = "correct horse battery staple"


class BusyMachine:
    """A process of a machine, open for a whole test; `brief` counts the answers without news."""

    def __init__(self, engine: JoinedEngine, agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.engine = engine
        self._agent = agent
        self.brief = 0
        original = engine._copy.connection.ask_once

        def ask_once(question: wire.Question, *kinds: type) -> wire.Answer:
            answer: wire.Answer = original(question, *kinds)
            self.brief += isinstance(answer, wire.Committed) and answer.delta is None
            return answer

        monkeypatch.setattr(engine._copy.connection, "ask_once", ask_once)

    def ask_errand(
        self, title: str = "look", key: str | None = None, stream: str = STREAM
    ) -> JobOutcome:
        command = Ask(title=title, of=self._agent)
        return self.engine.execute(stream, command, self._agent, key=key)

    def seq_in_copy(self) -> int:
        """Where the stream ends in the file itself, without what is known to be ahead of it."""
        with self.engine._copy._store.read() as view:
            head = view.head(STREAM)
        return -1 if head is None else head.seq


@pytest.fixture(autouse=True)
def _never_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow this machine is, a process is busy here until it says otherwise."""
    monkeypatch.setattr("moot.hosts.replica.FRESH_SECONDS", 3_600.0)
    monkeypatch.setattr(joined_engine, "BUSY_SECONDS", 3_600.0)


@contextmanager
def busy(project: Project, agent: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[BusyMachine]:
    keys, passphrase = KeyFolder(project.keys), Passphrase(PASSPHRASE, attended=False)
    with Workspace(project.root / ".moot", keys, lambda _name: passphrase) as workspace:
        assert isinstance(workspace.engine, JoinedEngine)
        workspace.joined.sync()  # type: ignore[union-attr]
        # As after a moment without any command.
        workspace.engine._committed_at -= 3_600.0
        yield BusyMachine(workspace.engine, agent, monkeypatch)


def test_only_the_first_of_several_commands_is_told_what_others_did(
    laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with busy(laptop, OTTER, monkeypatch) as machine:
        for _ in range(4):
            machine.ask_errand()
        assert machine.brief == 3
        assert machine.seq_in_copy() == 0
        assert machine.engine.replay._cache[STREAM].seq == 3, "it goes on from what it knows"
        assert machine.engine.load(STREAM).seq == 3, "what a process has recorded it reads at once"
        assert machine.seq_in_copy() == 3
        assert not machine.engine._copy.ahead


def test_what_was_answered_briefly_is_the_same_everywhere(
    kept: KeptLedger, laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        busy(laptop, OTTER, monkeypatch) as here,
        busy(desktop, CRANE, monkeypatch) as there,
    ):
        for number in range(12):
            (here if number % 4 else there).ask_errand(str(number))
        assert here.brief
        states = [machine.engine.load(STREAM) for machine in (here, there)]
    with kept.project.workspace() as workspace:
        expected = workspace.engine.load(STREAM)
        assert [state.seq for state in states] == [11, 11]
        assert [state.hash for state in states] == [expected.hash] * 2
        assert [state.state for state in states] == [expected.state] * 2
    assert events_of(laptop) == events_of(desktop) == events_of(kept.project)
    for project in (laptop, desktop):
        assert project.ok("verify")["verdict"] == "valid"


def test_a_key_that_was_used_ahead_of_the_copy_is_known(
    kept: KeptLedger, laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with busy(laptop, OTTER, monkeypatch) as machine:
        machine.ask_errand()
        first = machine.ask_errand("once", key="k-1")
        with machine.engine._copy.read_without_sync() as view:
            assert [seq for _, seq in view.keys(STREAM, "")] == [1]
            assert [record.seq for record in view.records(STREAM)] == [0, 1]
        before = events_of(kept.project)
        again = machine.ask_errand("once", key="k-1")
    assert again.replayed
    assert [one.hash for one in again.recorded] == [one.hash for one in first.recorded]
    assert events_of(kept.project) == before


def test_what_a_process_recorded_can_be_read_while_the_keeper_is_away(
    kept: KeptLedger, laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with busy(laptop, OTTER, monkeypatch) as machine:
        for _ in range(3):
            machine.ask_errand()
        kept.close()
        assert machine.engine.load(STREAM).seq == 2
        assert machine.engine._copy.away is not None
        assert machine.seq_in_copy() == 0
        with pytest.raises(MootError) as away:
            machine.ask_errand()
        assert away.value.code == "keeper_away"
        assert machine.engine.load(STREAM).seq == 2


@contextmanager
def rolled_back(kept: KeptLedger, older: Path) -> Iterator[KeptLedger]:
    """The keeper with an older ledger, which its owner hides from itself."""
    ledger = kept.project.root / ".moot" / "ledger.db"
    kept.close()
    for rest in ledger.parent.glob("ledger.db*"):
        rest.unlink()
    shutil.copy(older, ledger)
    (kept.project.keys / "kept.db").unlink()
    lying = KeptLedger(kept.project, kept.port)
    try:
        yield lying
    finally:
        lying.close()


def test_a_keeper_that_lost_what_it_acknowledged_is_found_out(
    kept: KeptLedger, laptop: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the machine's copy has not seen it yet."""
    older = tmp_path / "older.db"
    with busy(laptop, OTTER, monkeypatch) as machine:
        machine.ask_errand()
        kept.keeping._engine.store.backup(older)
        machine.ask_errand()
        assert (machine.brief, machine.seq_in_copy()) == (1, 0)
        with rolled_back(kept, older) as lying:
            with pytest.raises(Tampered) as found:
                machine.engine._copy.sync()
            assert found.value.code == "another_history"
            with pytest.raises(MootError):
                machine.ask_errand()
            assert lying.keeping._engine.load(STREAM).seq == 0


def test_a_process_that_ends_says_so_if_what_it_was_told_is_lost(
    kept: KeptLedger, laptop: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It alone knows of it: the copy never had it, so nobody would miss it later."""
    older = tmp_path / "older.db"
    with ExitStack() as ending:
        machine = ending.enter_context(busy(laptop, OTTER, monkeypatch))
        machine.ask_errand()
        kept.keeping._engine.store.backup(older)
        machine.ask_errand()
        assert machine.brief == 1
        with rolled_back(kept, older), pytest.raises(Tampered) as found:
            ending.close()
    assert found.value.code == "another_history"


def test_nothing_is_recorded_briefly_at_a_keeper_that_lacks_what_the_copy_has(
    kept: KeptLedger, laptop: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although what it lacks is about something else."""
    older = tmp_path / "older.db"
    with busy(laptop, OTTER, monkeypatch) as machine:
        machine.ask_errand()
        kept.keeping._engine.store.backup(older)
        machine.ask_errand(stream="example/else")
        machine.engine._copy.sync()
        with rolled_back(kept, older) as lying:
            with pytest.raises(Tampered) as found:
                machine.ask_errand()
            assert found.value.code == "another_history"
            assert lying.keeping._engine.load(STREAM).seq == 0


def test_anyone_who_has_not_looked_for_long_is_told_what_others_did(
    laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with busy(laptop, OTTER, monkeypatch) as machine:
        machine.ask_errand()
        machine.ask_errand()
        monkeypatch.setattr("moot.hosts.replica.FRESH_SECONDS", 0.0)
        machine.ask_errand()
        assert machine.brief == 1
        assert machine.seq_in_copy() == 2


def test_anyone_who_records_something_now_and_then_is_told_what_others_did(
    laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with busy(laptop, OTTER, monkeypatch) as machine:
        machine.ask_errand()
        monkeypatch.setattr(joined_engine, "BUSY_SECONDS", 0.0)
        machine.ask_errand()
        assert machine.brief == 0
        assert machine.seq_in_copy() == 1


def test_a_process_that_died_ahead_of_its_copy_loses_nothing(
    kept: KeptLedger, laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with busy(laptop, OTTER, monkeypatch) as machine:
        for number in range(3):
            machine.ask_errand(str(number), key=f"k-{number}")
        assert machine.seq_in_copy() == 0
        # What a process that is killed leaves undone.
        monkeypatch.setattr(machine.engine, "_events_since_checkpoint", 0)
    with busy(laptop, OTTER, monkeypatch) as next_one:
        assert next_one.ask_errand("2", key="k-2").replayed
        assert next_one.engine.load(STREAM).seq == 2
    assert events_of(laptop) == events_of(kept.project)


def test_what_the_ledger_signs_is_never_answered_briefly(
    laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its signature comes with the news alone, and keys are what everything rests on."""
    laptop.ok("agent", "register", "plum-vole")
    with busy(laptop, OTTER, monkeypatch) as machine:
        machine.ask_errand()
        machine.ask_errand()
        machine.engine.execute(REGISTRY, RetireAgent(name="plum-vole", reason="done"), SYSTEM)
        assert machine.brief == 1
        assert machine.seq_in_copy() == 1, "the news had what was ahead, too"
        assert not machine.engine._copy.ahead
        machine.ask_errand()
        assert machine.brief == 2


def test_what_the_ledger_adds_to_a_command_is_never_answered_briefly(
    laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with busy(laptop, OTTER, monkeypatch) as machine:
        machine.ask_errand()
        soon = machine.engine.clock() + 1
        machine.engine.execute(STREAM, Ask(title="now", of=OTTER, due_at=soon), OTTER)
        while machine.engine.clock() <= soon:
            pass
        machine.ask_errand()
        assert machine.brief == 1
        assert machine.seq_in_copy() == 3, "the errand lapsed, and one was asked for"


def test_keys_are_never_answered_briefly(
    kept: KeptLedger, laptop: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even by a person, who signs alone."""
    file = tmp_path / "passphrase"
    file.write_text(PASSPHRASE)
    file.chmod(0o600)
    kept.let_in(laptop, "ada-l", MOOT_PASSPHRASE_FILE=str(file))
    with busy(laptop, OTTER, monkeypatch) as machine:
        machine.ask_errand()
        blob = machine.engine.artifacts
        assert blob is not None
        put = blob.put(b"hunter2", "text/plain")
        command = EraseArtifact(put.sha256, put.size, "a word")
        machine.engine.execute(REGISTRY, command, "ada-l")
        assert machine.brief == 0
        machine.ask_errand()
        assert machine.engine.load(STREAM).seq == 1


def test_what_a_process_recorded_is_there_when_it_is_shown_something(
    laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What somebody is shown is chosen under the write lock."""
    with busy(laptop, OTTER, monkeypatch) as machine:
        for _ in range(3):
            machine.ask_errand()

        def pick(view: View) -> tuple[int, dict[str, int]]:
            return len(list(view.records(STREAM))), {}

        assert machine.engine.deliver(OTTER, pick) == 3


def test_nothing_is_added_to_a_copy_whose_head_was_changed(
    laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with busy(desktop, CRANE, monkeypatch) as machine:
        machine.ask_errand()
    laptop.ok("ledger", "checkpoint")
    file = laptop.root / ".moot" / "ledger.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("UPDATE streams SET hash = zeroblob(32) WHERE name = ?", (STREAM,))
    with busy(desktop, CRANE, monkeypatch) as machine:
        machine.ask_errand()
    with laptop.workspace() as workspace:
        assert isinstance(workspace.engine, JoinedEngine)
        with pytest.raises(Tampered, match="does not match the records"):
            workspace.engine._copy.sync()


def test_a_changed_record_in_the_place_of_ones_own_is_not_taken(
    laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with busy(laptop, OTTER, monkeypatch) as machine:
        machine.ask_errand()
        machine.ask_errand()
        copy = machine.engine._copy
        before = copy.position()
        delta = copy.connection.ask(before, wire.SyncDelta)
        *earlier, (stream, seq, kid, raw, signature) = delta.records
        forged = (stream, seq, kid, raw.replace(b"look", b"hide"), signature)
        lie = msgspec.structs.replace(delta, records=(*earlier, forged))
        with pytest.raises(Tampered) as found:
            copy.apply_all(lie, copy.ahead.newest)
        assert found.value.code == "unproved_record"
        assert copy.position() == before


def test_a_line_that_keeps_its_turn_and_asks_nothing_holds_up_nobody(
    kept: KeptLedger, laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The turn itself would last far longer than anybody waits."""
    monkeypatch.setattr("moot.hosts.turns.TURN_SECONDS", 3_600.0)
    monkeypatch.setattr(joined_engine, "HURRIED_SECONDS", 3_600.0)
    monkeypatch.setattr(joined_engine, "FAR_SECONDS", 0.0)
    with (
        busy(laptop, OTTER, monkeypatch) as here,
        busy(desktop, CRANE, monkeypatch) as there,
    ):
        for machine in (here, there, here, there, here, there):
            machine.ask_errand()
        assert there.engine._turn_streams == {STREAM}, "the last one may go on"
        here.ask_errand()
        assert here.engine.load(STREAM).seq == 6
    assert events_of(laptop) == events_of(kept.project)


def test_a_turn_that_was_kept_is_used_without_lining_up(
    laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.hosts.listener.KEPT_TURN_SECONDS", 60.0)
    monkeypatch.setattr("moot.hosts.turns.TURN_SECONDS", 7_200.0)
    monkeypatch.setattr(joined_engine, "HURRIED_SECONDS", 3_600.0)
    with busy(laptop, OTTER, monkeypatch) as here:
        with busy(desktop, CRANE, monkeypatch) as there:
            there.ask_errand()
            here.ask_errand()
            there.ask_errand()
        here.ask_errand()  # lines up, and keeps its turn
        held: list[tuple[str, ...]] = []
        monkeypatch.setattr(here.engine._copy, "wait_for_turn", held.append)
        assert here.engine._turn_streams == {STREAM}
        here.ask_errand()
        here.ask_errand()
        assert held == []
        assert here.engine.load(STREAM).seq == 5


def test_anyone_who_came_too_late_to_go_on_in_its_turn_does_not_ask_for_that_for_a_while(
    kept: KeptLedger, laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the keeper would wait in vain for a machine that is far away, at each of its turns."""
    monkeypatch.setattr("moot.hosts.turns.TURN_SECONDS", 3_600.0)
    monkeypatch.setattr(joined_engine, "HURRIED_SECONDS", 3_600.0)
    monkeypatch.setattr(joined_engine, "FAR_SECONDS", 0.0)
    with (
        busy(laptop, OTTER, monkeypatch) as here,
        busy(desktop, CRANE, monkeypatch) as there,
    ):
        for machine in (here, there, here, there, here, there):
            machine.ask_errand()
        assert there.engine._turn_streams == {STREAM}
        here.ask_errand()  # the keeper has waited long enough for the other one
        monkeypatch.setattr(joined_engine, "FAR_SECONDS", 3_600.0)
        there.engine._lost_turn_at = -3_600.0
        assert there.engine._is_near
        there.ask_errand()
        assert there.engine._turn_streams == frozenset()
        assert not there.engine._is_near
    assert events_of(laptop) == events_of(kept.project)
