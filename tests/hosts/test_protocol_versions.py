"""A keeper and a machine of different versions: they say so, or understand each other."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from moot.core.canonical import canonical
from moot.core.errors import StoreFailed
from moot.core.ledger import Heartbeat
from moot.core.signing import HEARTBEAT
from moot.engine.signers import find_signatory
from moot.hosts import keeper as keeping
from moot.hosts import messages as wire
from moot.hosts.request_handler import Request, RequestHandler
from moot.protocols.example.model import Ask
from tests.hosts import keeper_process
from tests.hosts.keeper_process import KeeperProcess
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.test_several_hosts import CRANE, OTTER, events_of, held_paths, reserve
from tests.project import Project, make_project

# A keeper that says another version than this one, as a process of its own.
OTHER = (
    "import sys; import moot.hosts.messages as ask; ask.VERSION += {};"
    "from moot.surfaces.cli.entry import main; main()"
)


@pytest.fixture
def founded(tmp_path: Path) -> Project:
    return make_project(tmp_path / "kept")


@pytest.mark.requirement("HST-014")
@pytest.mark.parametrize("difference", [-1, 1])
def test_a_keeper_of_another_version_is_read_no_more_and_written_to_never(
    founded: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, difference: int
) -> None:
    keeper = KeeperProcess(founded)
    place = tmp_path / "laptop"
    laptop = keeper.join(Project(place / "project", place / "keys"), "laptop")
    laptop.ok("agent", "register", OTTER)
    assert reserve(laptop, OTTER, "src/a.py") == ""
    keeper.end()
    before = events_of(founded)
    words = (sys.executable, "-P", "-c", OTHER.format(difference))
    monkeypatch.setattr(keeper_process, "MOOT", words)
    other = keeper.again()
    try:
        done = laptop.json("reserve", "src/b.py", MOOT_AGENT=OTTER)
        assert (done.error["code"], done.code) == ("another_version", 1)
        older = "the keeper" if difference < 0 else "this machine"
        assert done.error["hint"] == f"update moot on {older}, which is older"
        assert held_paths(laptop) == ["src/a.py"], "what is here can be read"
        invitation = founded.ok("invite")["invitation"]
        second = Project(tmp_path / "second" / "project", tmp_path / "second" / "keys")
        second.root.mkdir(parents=True)
        assert second.refused("init", "--join", invitation, "--name", "second")[0] == (
            "another_version"
        )
        assert not (second.root / ".moot").exists()
    finally:
        other.end()
    assert events_of(founded) == before
    monkeypatch.undo()
    keeper = keeper.again()
    try:
        assert reserve(laptop, OTTER, "src/b.py") == ""
    finally:
        keeper.end()


def test_a_keeper_that_welcomes_in_another_version_is_not_spoken_to(
    kept: KeptLedger, laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it understands itself: its answers could be misunderstood."""
    newer = SimpleNamespace(**vars(wire))
    newer.VERSION = wire.VERSION + 1
    newer.require_same_version = lambda *_: None
    monkeypatch.setattr(keeping, "wire", newer)
    before = events_of(kept.project)
    assert reserve(laptop, OTTER, "src/a.py") == "another_version"
    assert held_paths(laptop) == []
    assert events_of(kept.project) == before


def test_a_keeper_that_knows_less_of_the_same_version_is_understood(
    kept: KeptLedger, laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One from before turns came with an answer, checkpoints with news, and signs with events."""
    receive = RequestHandler.receive
    answered: list[type] = []
    questions: list[wire.AnyQuestion] = []

    def answer_as_before(handler: RequestHandler, given: Request) -> None:
        question = given.question
        asked = wire.MakeCheckpoint() if isinstance(question, wire.MakeCheckpoint) else question
        if isinstance(asked, wire.Commit):
            asked = msgspec.structs.replace(asked, brief=False, keeps_turn=False)
        if isinstance(asked, wire.TakeTurn):
            assert not any(isinstance(one, wire.TakeTurn) for one in questions[-1:]), (
                "it has its turn"
            )
            asked = msgspec.structs.replace(asked, early=False)
        questions.append(question)
        given.question = asked
        reply, answer_in_background = given.reply, given.answer_in_background

        def say(said: wire.AnyAnswer) -> wire.AnyAnswer:
            answered.append(type(said))
            return _without_what_is_new(said)

        given.reply = lambda said: reply(say(said))
        given.answer_in_background = lambda find: answer_in_background(lambda: say(find()))
        receive(handler, given)

    monkeypatch.setattr(RequestHandler, "receive", answer_as_before)
    monkeypatch.setattr("moot.hosts.replica.FRESH_SECONDS", 60.0)  # so that it is overtaken
    with laptop.workspace() as here, desktop.workspace() as there:
        for _ in range(2):
            here.engine.execute("example/today", Ask(title="x", of=OTTER), OTTER)
            there.engine.execute("example/today", Ask(title="x", of=CRANE), CRANE)
    assert {wire.SyncDelta, wire.Committed, wire.DecideAgain, wire.Done} <= set(answered)
    with kept.project.workspace() as workspace:
        assert workspace.engine.load("example/today").seq == 3
    assert events_of(kept.project) == events_of(laptop) == events_of(desktop)


def _without_what_is_new(said: wire.AnyAnswer) -> wire.AnyAnswer:
    match said:
        case wire.SyncDelta():
            return msgspec.structs.replace(said, seen=None, has_turn=None)
        case wire.Committed(delta=wire.SyncDelta() as delta):
            return wire.Committed(msgspec.structs.replace(delta, seen=None))
        case wire.DecideAgain():
            delta = msgspec.structs.replace(said.delta, seen=None)
            return msgspec.structs.replace(said, delta=delta, has_turn=False)
    return said


def test_anyone_who_beats_in_a_newer_form_is_never_taken_for_dead(
    kept: KeptLedger, laptop: Project
) -> None:
    with kept.project.workspace() as here, laptop.workspace() as workspace:
        engine = workspace.engine
        signatory = find_signatory(engine.registry(), engine.keys, OTTER)
        raw = canonical({"agent": OTTER, "mood": "well"})
        signature = signatory.signer.sign(HEARTBEAT, raw)
        beat = Heartbeat(OTTER, here.engine.clock(), signatory.acting.kid, raw, signature)
        with pytest.raises(StoreFailed, match="cannot be read") as refused:
            engine._copy.connection.ask(wire.SendHeartbeat(wire.pack_heartbeat(beat)), wire.Done)  # type: ignore[attr-defined]
        assert refused.value.code == "newer_record"
        with here.store.write() as change:  # as a keeper of a newer version has it
            assert change.heartbeat(OTTER) is None
            change.put_heartbeat(beat)
        workspace.joined.sync()  # type: ignore[union-attr]
        for either in (here.engine, engine):
            with pytest.raises(StoreFailed, match="cannot be read"):
                either.signs([OTTER])
