"""A trace in the ledger: one order for all writers, and nothing unsigned or changed behind it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moot.core.clock import system_clock
from moot.core.errors import Conflict, Tampered
from moot.core.ledger import RecordToAppend
from moot.core.machine import KeyClass
from moot.core.names import SYSTEM
from moot.core.record import Record
from moot.engine.registry_commands import register
from moot.keys.folder import KeyFolder
from moot.protocols.trace import commands as ask
from moot.protocols.trace.events import EVENTS, EXTENSIONS, MUST_BE_SIGNED, NATIVE
from moot.protocols.trace.machine import MACHINE
from moot.protocols.trace.model import RoleBinding, Stage
from moot.protocols.trace.views import EVENT_TYPES
from moot.workspace.create import create_workspace
from moot.workspace.workspace import Workspace
from tests.engine import tampering

from .scene import CRITIC, EXECUTOR, PARTS, PLANNER, TRACE, Ledgered, intent, proposal

CROWD = Path(__file__).with_name("crowd_process.py")


@pytest.mark.requirement("TRC-049")
@pytest.mark.requirement("TRC-019")
def test_twenty_processes_write_one_chain(tmp_path: Path) -> None:
    root, keys = tmp_path / "project", KeyFolder(tmp_path / "keys")
    root.mkdir()
    create_workspace(root, keys, system_clock)
    with Workspace(root / ".moot", keys) as space:
        roles = []
        for role, name in PARTS.items():
            signer = keys.add_key(space.trust.origin, name, KeyClass.AGENT)
            register(space.engine, name, signer, custodian=keys.custodian)
            roles.append(RoleBinding(role, name, 1, signer.kid))
        space.engine.execute(TRACE, ask.OpenTrace(task="t", roles=tuple(roles)), SYSTEM)
    place = [str(root / ".moot"), str(tmp_path / "keys")]
    command = [sys.executable, str(CROWD), *place, TRACE, PLANNER, "20"]
    crowd = [subprocess.Popen(command) for _ in range(20)]
    assert [process.wait(120) for process in crowd] == [0] * 20
    with Workspace(root / ".moot", keys) as space:
        loaded = space.engine.load(TRACE, proved=True)
        assert loaded.seq == 400
        proposals = MACHINE.require_state(loaded.state).proposals
        assert sorted(int(name[1:]) for name in proposals) == [*range(1, 401)]


@pytest.mark.requirement("TRC-051")
def test_a_writer_with_an_old_head_is_refused_by_the_store_and_helped_by_the_engine() -> None:
    trace = Ledgered().to("planning")
    one, other = trace.world.engine, trace.world.another_engine()
    one.state(MACHINE, TRACE)
    other.state(MACHINE, TRACE)
    for engine in (one, other, other, one):
        engine.execute(TRACE, proposal(), PLANNER)
    assert [recorded.seq for recorded in trace.history()] == [0, 1, 2, 3, 4]
    stale = tampering.chain(trace.world, TRACE)[2]
    with pytest.raises(Conflict), trace.world.store.write() as change:
        change.append([RecordToAppend(stale, None)])
    assert len(trace.history()) == 5


@pytest.mark.requirement("TRC-024")
@pytest.mark.requirement("TRC-025")
def test_every_event_of_a_trace_is_signed_by_anyone_who_did_it() -> None:
    trace = Ledgered().to("auditing")
    trace.challenge("c1")
    trace.run(trace.claiming(trace.history()[5].artifacts[0].sha256, supersedes="c1"), EXECUTOR)
    trace.finish()
    trace.verify()
    records = tampering.chain(trace.world, TRACE)
    kinds = {MACHINE.event_of[record.body.type] for record in records}
    assert set(MUST_BE_SIGNED) <= kinds
    signers = {signer.kid: signer for many in trace.world.keys.signers.values() for signer in many}
    assert all(record.signed_by(signers[record.kid].public) for record in records)


def spoiled(trace: Ledgered, seq: int) -> None:
    """A false signature, and every later record joined to it: the chain itself is whole."""
    records = tampering.chain(trace.world, trace.stream)
    old = records[seq]
    records[seq] = Record(old.stream, old.seq, old.kid, old.raw, bytes(64))
    if seq + 1 < len(records):
        tampering.rewrite(trace.world, trace.stream, seq + 1, prev=records[seq].hash.hex())


@pytest.mark.requirement("TRC-024")
@pytest.mark.requirement("TRC-053")
@pytest.mark.requirement("TRC-069")
@pytest.mark.parametrize("seq", range(8))
def test_nothing_runs_and_nothing_is_finished_behind_an_unsigned_event(seq: int) -> None:
    """Whichever kind it is: the approval counts as much as the claim."""
    trace = Ledgered().to("auditing")
    name = trace.intend("p1")
    asked: list[tuple[Any, str]] = [
        (trace.starting(name), EXECUTOR),
        (ask.SignFinalStatement(statement="done"), EXECUTOR),
    ]
    spoiled(trace, seq)
    before = tampering.everything(trace.world)
    trace.world.engine = trace.world.another_engine()
    for command, actor in asked:
        with pytest.raises(Tampered) as caught:
            trace.world.engine.execute(TRACE, command, actor)
        assert caught.value.seq == seq
    assert tampering.everything(trace.world) == before


@pytest.mark.requirement("TRC-020")
@pytest.mark.requirement("TRC-060")
def test_a_wrong_predecessor_is_no_head_to_go_on_from() -> None:
    trace = Ledgered().to("auditing")
    records = tampering.chain(trace.world, TRACE)
    records[4], records[5] = records[5], records[4]
    with pytest.raises(Tampered):
        trace.world.another_engine().execute(TRACE, intent("p1"), EXECUTOR)


def test_the_documents_types_are_there_under_their_names() -> None:
    assert [name for name, kind in EVENT_TYPES.items() if kind in NATIVE] == [
        "session_initialized",
        "proposal_created",
        "proposal_reviewed",
        "tool_intent_signed",
        "tool_execution_started",
        "tool_execution_completed",
        "tool_execution_failed",
        "claim_issued",
        "claim_challenged",
        "final_statement_signed",
        "verification_run_started",
        "verification_run_completed",
    ]
    assert set(EVENTS) == set(NATIVE) | set(EXTENSIONS)
    assert len(EXTENSIONS) == 5


def test_the_same_command_twice_under_one_key_is_one_event() -> None:
    trace = Ledgered().to("reviewing")
    command = ask.ReviewProposal(proposal_id="p1", status="approved", rationale="good")
    for _ in range(2):
        trace.world.engine.execute(TRACE, command, CRITIC, key="once")
    assert len(trace.history()) == 3
    assert trace.state.stage is Stage.EXECUTING


def test_traces_are_found_by_their_task_and_ended_ones_are_not_open() -> None:
    trace = Ledgered().to("auditing")
    engine = trace.world.engine
    assert TRACE in engine.open_streams()
    trace.finish()
    trace.verify()
    assert TRACE not in engine.open_streams()
    with trace.world.store.read() as view:
        assert [row.key for row in view.rows("trace.traces", limit=9)] == [TRACE]
        artifacts = {row.key.split()[1] for row in view.rows("trace.artifacts", limit=9)}
    ended = trace.history()[5].event
    assert artifacts == {ended.input_artifact, ended.outputs[0].sha256}


def test_a_snapshot_gives_the_same_state_as_the_whole_history() -> None:
    trace = Ledgered().to("executing")
    for count in range(40):
        trace.ran("p1", "pytest", str(count))
    whole = trace.state
    fresh = trace.world.another_engine()
    assert fresh.state(MACHINE, TRACE) == whole
    assert fresh.load(TRACE, proved=True).state == whole
