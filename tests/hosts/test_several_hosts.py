"""Machines that share a ledger: kept apart, known by their keys, and told the truth."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from moot.core.errors import MootError, Refused, Tampered
from moot.core.machine import Command
from moot.core.names import REGISTRY, SYSTEM
from moot.core.record import record_hash
from moot.core.registry.model import RetireAgent
from moot.core.signing import Signer
from moot.engine.job import Job
from moot.engine.registry_commands import registration_command
from moot.hosts import messages as wire
from moot.hosts.joined_engine import JoinedEngine
from moot.hosts.joining import join_workspace
from moot.keys.folder import KeyFolder
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import Leave
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.proxy import CutLine
from tests.project import Project

OTTER, CRANE = "amber-otter", "teal-crane"


def reserve(project: Project, name: str, path: str) -> str:
    """Empty if it was reserved, else why not."""
    done = project.json("reserve", path, MOOT_AGENT=name)
    return "" if done.code == 0 else str(done.error["code"])


def held_paths(project: Project) -> list[str]:
    return [str(row["scope"]) for row in project.ok("scope", "list")["reservations"]]


def events_of(project: Project) -> int:
    with project.workspace() as workspace, workspace.store.read() as view:
        return view.newest_position()


def through(project: Project, line: CutLine) -> None:
    """Let a machine reach its keeper by another line."""
    file = project.root / ".moot" / "joined.json"
    said = json.loads(file.read_text())
    file.write_text(json.dumps({**said, "address": f"127.0.0.1:{line.port}"}))


@pytest.mark.requirement("HST-001")
def test_an_agent_is_stopped_by_what_another_machines_agent_holds(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    assert reserve(laptop, OTTER, "src/a.py") == ""
    assert reserve(desktop, CRANE, "src/a.py") == "reservation_conflict"
    assert reserve(desktop, CRANE, "src/b.py") == ""
    kept.project.ok("agent", "register", "coral-finch")
    assert reserve(kept.project, "coral-finch", "src/b.py") == "reservation_conflict"
    assert reserve(laptop, OTTER, "src/b.py") == "reservation_conflict"


@pytest.mark.requirement("HST-002")
def test_every_machine_has_the_same_record_and_the_same_verdict(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    assert reserve(laptop, OTTER, "src/a.py") == ""
    assert reserve(desktop, CRANE, "src/b.py") == ""
    exports = []
    for machine in (kept.project, laptop, desktop):
        file = machine.root / "all.moot"
        machine.ok("ledger", "export", "-o", str(file))
        verdict = machine.ok("verify", str(file))
        assert verdict["verdict"] == "valid"
        exports.append(verdict["events"])
    assert len(set(exports)) == 1


def test_keys_of_two_machines_are_said_to_be_apart(laptop: Project, desktop: Project) -> None:
    del desktop
    listed = {row["agent"]: row for row in laptop.ok("agent", "list")["agents"]}
    assert listed[OTTER]["custodian"] != listed[CRANE]["custodian"]
    assert not list(laptop.keys.glob("*/system.*")), "the ledger's key is the keeper's"


@pytest.mark.requirement("HST-003")
def test_a_machine_reads_on_while_the_keeper_is_away_and_writes_nothing(
    kept: KeptLedger, laptop: Project
) -> None:
    assert reserve(laptop, OTTER, "src/a.py") == ""
    before = events_of(laptop)
    kept.keeping.close()
    assert reserve(laptop, OTTER, "src/b.py") == "keeper_away"
    assert held_paths(laptop) == ["src/a.py"]
    assert events_of(laptop) == before


def test_a_command_waits_for_the_line_four_times_if_it_is_new_and_twice_if_not(
    kept: KeptLedger, laptop: Project
) -> None:
    """To connect, to agree on secrets, to greet and look for news at once, to commit."""
    line = CutLine(kept.port)
    through(laptop, line)
    with laptop.workspace() as workspace:
        workspace.engine.execute("example/today", _ask_errand(), OTTER)
        assert (line.lines, line.round_trips) == (1, 4)
        workspace.engine.execute("example/today", _ask_errand(), OTTER)
        assert (line.lines, line.round_trips) <= (1, 6)
    line.close()


@pytest.mark.requirement("HST-004")
def test_an_answer_that_was_lost_is_asked_for_again_and_recorded_once(
    kept: KeptLedger, laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = CutLine(kept.port)
    through(laptop, line)
    with laptop.workspace() as workspace:
        assert isinstance(workspace.engine, JoinedEngine)
        workspace.joined.sync()  # type: ignore[union-attr]
        before = events_of(kept.project)
        keeper_line = workspace.engine._copy.connection
        original = keeper_line.ask_once

        def lose_the_answer(question: wire.Question, *kinds: type) -> object:
            line.swallow_answers = True
            monkeypatch.setattr(keeper_line, "ask_once", original)
            return original(question, *kinds)

        monkeypatch.setattr(keeper_line, "ask_once", lose_the_answer)
        workspace.engine.execute("example/today", _ask_errand(), OTTER)
    line.close()
    assert events_of(kept.project) == before + 1
    assert line.lines == 2, "the line was really lost"


def _ask_errand() -> Command:
    from moot.protocols.example.model import Ask

    return Ask(title="look", of=OTTER, due_at=None)


@pytest.mark.requirement("HST-005")
def test_a_keeper_that_was_rolled_back_is_found_out_by_every_machine(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    ledger = kept.project.root / ".moot" / "ledger.db"
    kept.close()
    older = ledger.with_name("older.db")
    shutil.copy(ledger, older)
    again = KeptLedger(kept.project, kept.port)
    assert reserve(laptop, OTTER, "src/a.py") == ""
    assert held_paths(desktop) == ["src/a.py"]
    again.close()
    for rest in ledger.parent.glob("ledger.db*"):
        rest.unlink()
    shutil.copy(older, ledger)
    (kept.project.keys / "kept.db").unlink()  # its owner hides it from itself
    lying = KeptLedger(kept.project, kept.port)
    try:
        for machine, name in ((laptop, OTTER), (desktop, CRANE)):
            assert reserve(machine, name, "src/c.py") == "another_history"
            assert held_paths(machine) == ["src/a.py"], "what was seen stays"
    finally:
        lying.close()


@pytest.mark.requirement("HST-006")
def test_an_invitation_is_good_once_for_one_repository_with_its_code(
    kept: KeptLedger, tmp_path: Path
) -> None:
    invitation = kept.invite()
    keys = KeyFolder(tmp_path / "third-keys")
    wrong = msgspec.structs.replace(invitation, code="00" * 16)
    with pytest.raises(Refused, match="the code is wrong"):
        join_workspace(tmp_path, keys, wrong, "third", "")
    assert not (tmp_path / ".moot").exists()
    other = msgspec.structs.replace(invitation, fingerprint="00" * 16)
    with pytest.raises(Tampered) as found:
        join_workspace(tmp_path, keys, other, "third", "")
    assert found.value.code == "another_keeper"
    assert join_workspace(tmp_path, keys, invitation, "third", "")
    (tmp_path / "again").mkdir()
    with pytest.raises(Refused) as again:
        join_workspace(tmp_path / "again", KeyFolder(tmp_path / "more"), invitation, "fourth", "")
    assert again.value.code == "not_invited"


@pytest.mark.requirement("HST-007")
def test_a_machine_that_was_taken_off_can_ask_nothing(kept: KeptLedger, laptop: Project) -> None:
    kept.project.ok("machine", "revoke", "laptop")
    before = events_of(kept.project)
    assert reserve(laptop, OTTER, "src/a.py") == "machine_revoked"
    assert events_of(kept.project) == before


@pytest.mark.parametrize("what", ["retire another's agent", "enter a key as another's"])
def test_the_ledger_signs_nothing_for_a_machine_that_is_not_its_own(
    kept: KeptLedger, laptop: Project, desktop: Project, what: str
) -> None:
    before = events_of(kept.project)
    with desktop.workspace() as workspace:
        command: Command = RetireAgent(name=OTTER, reason="mine now")
        if what != "retire another's agent":
            custodian = KeyFolder(laptop.keys).custodian
            signer = Signer(Signer.new_seed())
            command = registration_command(workspace.engine, "coral-finch", signer, custodian)
        with pytest.raises(Refused) as refused:
            workspace.engine.execute(REGISTRY, command, SYSTEM)
    assert refused.value.code == "ledgers_part"
    assert events_of(kept.project) == before


@pytest.mark.requirement("HST-008")
def test_nobody_signs_for_another_machines_agent(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    """Not with a key of its own, and not with a signature that it makes up."""
    assert reserve(laptop, OTTER, "src/a.py") == ""
    before = events_of(kept.project)
    with desktop.workspace() as workspace:
        engine = workspace.engine
        assert isinstance(engine, JoinedEngine)
        with pytest.raises(Refused) as missing:
            engine.execute(STREAM, Leave(reason="x"), OTTER)
        assert missing.value.code == "key_missing"
        engine._copy.sync()
        forged = wire.Commit(
            engine._copy.position(),
            engine.clock(),
            False,
            (wire.pack_job(Job(STREAM, Leave(reason="x"), OTTER)),),
            ((b"{}", bytes(64)),),
            ((STREAM, 99, bytes(32)),),
        )
        answer = engine._copy.connection.ask(forged, wire.DecideAgain)
        assert isinstance(answer, wire.DecideAgain)
    assert events_of(kept.project) == before
    assert reserve(desktop, CRANE, "src/a.py") == "reservation_conflict"


@pytest.mark.requirement("HST-008")
def test_the_keeper_takes_no_signature_that_the_agents_key_did_not_make(
    kept: KeptLedger, laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The very command that the agent's own machine would send, signed by nobody."""
    assert reserve(laptop, OTTER, "src/a.py") == ""
    sent: list[wire.Commit] = []
    with laptop.workspace() as workspace:
        engine = workspace.engine
        assert isinstance(engine, JoinedEngine)

        kid = engine.registry().agents[OTTER].kid

        def keep_back(question: wire.Commit, *_kinds: Any) -> Any:
            sent.append(question)
            raise Refused("kept_back", "it is sent later, and changed")

        monkeypatch.setattr(engine._copy.connection, "ask_once", keep_back)
        with pytest.raises(Refused, match="sent later"):
            engine.execute(STREAM, Leave(reason="x"), OTTER)
    (commit,) = sent
    unsigned = tuple((raw, bytes(64)) for raw, _signature in commit.signed)
    places = tuple(
        (stream, seq, record_hash(raw, kid, signature))
        for (stream, seq, _hash), (raw, signature) in zip(commit.places, unsigned, strict=True)
    )
    forged = msgspec.structs.replace(commit, signed=unsigned, places=places)
    before = events_of(kept.project)
    for machine in (laptop, desktop):
        with machine.workspace() as workspace:
            assert isinstance(workspace.engine, JoinedEngine)
            workspace.engine._copy.sync()
            answer = workspace.engine._copy.connection.ask(forged, wire.DecideAgain, wire.Committed)
            assert isinstance(answer, wire.DecideAgain)
    assert events_of(kept.project) == before
    with laptop.workspace() as workspace:
        assert isinstance(workspace.engine, JoinedEngine)
        workspace.engine._copy.connection.ask(commit, wire.Committed)
    assert events_of(kept.project) > before, "only the signature was in the way"


@pytest.mark.requirement("HST-009")
def test_a_command_dated_by_a_wrong_clock_is_refused(kept: KeptLedger, laptop: Project) -> None:
    before = events_of(kept.project)
    with laptop.workspace() as workspace:
        engine = workspace.engine
        assert isinstance(engine, JoinedEngine)
        true_clock = engine.clock
        engine.clock = lambda: true_clock() - 60_000
        with pytest.raises(MootError) as refused:
            engine.execute("example/today", _ask_errand(), OTTER)
    assert refused.value.code == "clock_differs"
    assert events_of(kept.project) == before


@pytest.mark.requirement("HST-010")
def test_a_lost_keeper_loses_nothing_that_a_machine_has_seen(
    kept: KeptLedger, laptop: Project
) -> None:
    assert reserve(laptop, OTTER, "src/a.py") == ""
    copy = laptop.root / "all.moot"
    kept.close()
    shutil.rmtree(kept.project.root / ".moot")
    laptop.ok("ledger", "export", "-o", str(copy))
    assert laptop.ok("verify", str(copy))["verdict"] == "valid"


def test_what_one_machine_erases_is_gone_on_all_of_them(
    kept: KeptLedger, laptop: Project, desktop: Project, tmp_path: Path
) -> None:
    """Bytes that only one copy lacked would come back from the next one that has them."""
    file = tmp_path / "passphrase"
    file.write_text("correct horse battery staple")
    file.chmod(0o600)
    person = {"MOOT_PASSPHRASE_FILE": str(file)}
    kept.let_in(laptop, "ada-l", **person)
    body = laptop.root / "long.md"
    body.write_text("# Information\n\n" + "more " * 5_000 + "hunter2\n")
    sent = laptop.ok("send", CRANE, "INFO: long", str(body), MOOT_AGENT=OTTER)
    assert "hunter2" in desktop.ok("mail", "show", sent["id"])["message"]["body"]
    places = [machine.root / ".moot" / "artifacts" for machine in (kept.project, laptop, desktop)]
    assert [_holds_text(place, b"hunter2") for place in places] == [True] * 3
    laptop.ok(
        "--as", "ada-l", "artifact", "erase", sent["artifact"], "--reason", "a word", **person
    )
    assert desktop.ok("mail", "show", sent["id"])["whole"] is False
    assert laptop.ok("mail", "show", sent["id"])["whole"] is False
    assert [_holds_text(place, b"hunter2") for place in places] == [False] * 3


def _holds_text(folder: Path, text: bytes) -> bool:
    return any(text in file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_keeper_and_machines_cite_the_same_event_as_somebodys_last_sign_of_life(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    """A takeover names it: if they differed, no machine could ever take over from the dead. Of two
    acts in one second only the first is noted."""
    kept.project.ok("agent", "register", "coral-finch")
    for project, name in ((laptop, OTTER), (kept.project, "coral-finch")):
        with project.workspace() as workspace:
            for _ in range(3):
                workspace.engine.execute("example/today", _ask_errand(), name)
    with desktop.workspace() as there, kept.project.workspace() as here:
        names = [OTTER, CRANE, "coral-finch"]
        assert there.engine.signs(names) == here.engine.signs(names)
        assert set(here.engine.signs(names)) == {OTTER, "coral-finch"}
