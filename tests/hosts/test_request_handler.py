"""What the keeper answers to single questions of a machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from moot.core.errors import MootError
from moot.engine.job import Job
from moot.engine.signers import find_signatory
from moot.engine.signs_of_life import make_heartbeat
from moot.hosts import messages as wire
from moot.hosts.joined_engine import JoinedEngine
from moot.hosts.request_handler import MAX_CLOCK_DIFFERENCE
from moot.protocols.example.model import Ask
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.test_several_hosts import CRANE, OTTER, events_of
from tests.project import Project

STREAM = "example/today"


@pytest.fixture
def engine(laptop: Project) -> Iterator[JoinedEngine]:
    with laptop.workspace() as workspace:
        assert isinstance(workspace.engine, JoinedEngine)
        workspace.engine._copy.sync()
        yield workspace.engine


def make_beat(engine: JoinedEngine, ahead: int = 0) -> wire.SentHeartbeat:
    signatory = find_signatory(engine.registry(), engine.keys, OTTER)
    at = engine.clock() + ahead
    return wire.pack_heartbeat(make_heartbeat(signatory, engine.trust.origin, at))


def refused(engine: JoinedEngine, question: wire.Question) -> str:
    with pytest.raises(MootError) as error:
        engine._copy.connection.ask(question, wire.Done, wire.SyncDelta, wire.Committed)
    return error.value.code


def test_a_sign_of_life_is_kept_if_its_agent_signed_it(
    kept: KeptLedger, engine: JoinedEngine, desktop: Project
) -> None:
    desktop.ok("agent", "list")  # where teal-crane is
    beat = make_beat(engine)
    engine._copy.connection.ask(wire.SendHeartbeat(beat), wire.Done)
    with kept.project.workspace() as workspace, workspace.store.read() as view:
        found = view.heartbeat(OTTER)
    assert found is not None
    assert found.at == beat[1]
    later = make_beat(engine, 1_000)
    _, at, kid, raw, signature = later
    assert refused(engine, wire.SendHeartbeat((CRANE, at, kid, raw, signature))) == "bad_heartbeat"
    assert refused(engine, wire.SendHeartbeat((OTTER, at, kid, raw, bytes(64)))) == "bad_heartbeat"
    assert (
        refused(engine, wire.SendHeartbeat(make_beat(engine, 2 * MAX_CLOCK_DIFFERENCE)))
        == "clock_differs"
    )
    with kept.project.workspace() as workspace, workspace.store.read() as view:
        assert view.heartbeat(OTTER) == found
        assert view.heartbeat(CRANE) is None


def test_what_is_overdue_takes_effect_when_a_machine_asks(
    kept: KeptLedger, engine: JoinedEngine
) -> None:
    engine.execute(STREAM, Ask(title="now", of=OTTER, due_at=engine.clock() + 1), OTTER)
    before = events_of(kept.project)
    while not engine.load(STREAM).machine.timeouts(engine.load(STREAM).state, engine.clock()):
        pass
    engine._copy.connection.ask(wire.ApplyTimeouts(STREAM), wire.Done)
    assert events_of(kept.project) == before + 1


def test_a_checkpoint_comes_with_what_is_new(engine: JoinedEngine, desktop: Project) -> None:
    desktop.ok("agent", "register", "coral-finch")
    delta = engine._copy.connection.ask(
        wire.MakeCheckpoint(engine._copy.position()), wire.SyncDelta
    )
    assert delta.records
    assert delta.note is not None
    assert engine._copy.connection.ask(wire.MakeCheckpoint(), wire.Done).at == 0, "nothing is new"


def test_what_is_refused_is_not_called_recorded_because_it_names_no_place(
    kept: KeptLedger, engine: JoinedEngine
) -> None:
    """A question with recorded positions was asked before; one without positions was not."""
    job = wire.pack_job(Job(STREAM, Ask(title="x", of=OTTER), OTTER))
    follow, before = engine._copy.position(), events_of(kept.project)
    late = wire.Commit(follow, engine.clock() - 2 * MAX_CLOCK_DIFFERENCE, False, (job,), (), ())
    assert refused(engine, late) == "clock_differs"
    none = msgspec.structs.replace(late, now=engine.clock(), jobs=())
    assert refused(engine, none) == "bad_request"
    assert events_of(kept.project) == before


def test_a_refused_command_gives_its_turn_back(engine: JoinedEngine, kept: KeptLedger) -> None:
    line, follow = engine._copy.connection, engine._copy.position()
    assert line.ask(wire.TakeTurn((STREAM,), follow), wire.SyncDelta).has_turn
    job = wire.pack_job(Job(STREAM, Ask(title="x", of=OTTER), OTTER))
    assert refused(engine, wire.Commit(follow, 0, False, (job,), (), ())) == "clock_differs"
    assert kept.keeping._handler._turns._held == {}


def test_what_a_person_erases_on_another_machine_is_erased_at_the_keeper(
    kept: KeptLedger, laptop: Project, tmp_path: Path
) -> None:
    file = tmp_path / "passphrase"
    file.write_text("correct horse battery staple")
    file.chmod(0o600)
    typed = {"MOOT_PASSPHRASE_FILE": str(file)}
    kept.let_in(laptop, "ada-l", **typed)
    body = tmp_path / "secret.md"
    body.write_text("# Information\n\n" + "hunter2 " * 4_000)
    laptop.ok("--as", OTTER, "send", "ada-l", "INFO: long", str(body))
    artifacts = kept.keeping._handler._pieces._artifacts
    (sha256,) = artifacts.all_hashes()
    laptop.ok("--as", "ada-l", "artifact", "erase", sha256, "--reason", "a password", **typed)
    assert not artifacts.has(sha256)
    assert kept.project.ok("verify")["verdict"] == "valid"
