"""The state stays small and readable by the next process, however long the history."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import moot.protocols.presence
from moot.core.errors import Refused
from moot.core.machine import Recorded
from moot.core.paged_map import encode_state
from moot.core.record import Actor
from moot.engine.replay import SNAPSHOT_EVERY
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.evolution import MAX_MEMBERS, MAX_NAMES, MAX_RECENT, NEWCOMERS
from moot.protocols.presence.machine import MACHINE
from moot.protocols.presence.model import STREAM, State
from moot.store.sqlite import SqliteStore
from moot.testing import World

from .scene import CRANE, OTTER, ROOT, crew, handoff, refusal, release, reserve, run

SOURCE = Path(moot.protocols.presence.__file__).parent


def test_what_has_ended_leaves_the_state() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("src"))
    small = len(encode_state(scenario.state))
    for number in range(60):
        run(scenario, reserve(f"f{number}"), OTTER)
        run(scenario, release(f"f{number}"), OTTER)
    assert len(encode_state(scenario.state)) < small + 32
    assert len(scenario.history()) > 120


def follow(state: State, events: list[tuple[str, object]]) -> State:
    for seq, (name, event) in enumerate(events):
        state = MACHINE.evolve(
            state,
            Recorded(event, STREAM, seq, seq, Actor(name, 1, "k"), b""),
        )
    return state


def test_of_messages_that_owe_nothing_only_the_latest_are_remembered() -> None:
    scenario = crew(OTTER, CRANE)
    for _ in range(MAX_RECENT + 5):
        run(scenario, handoff(requires_ack=False), OTTER)
    assert len(scenario.state.recent) == MAX_RECENT
    assert not scenario.state.pending
    scenario.as_(CRANE).refused("event_not_found", ask.Accept(id="proto_20260218_005"))
    scenario.when(ask.Accept(id="proto_20260218_006"))


def test_of_thousands_of_sessions_those_longest_away_are_forgotten() -> None:
    keeper = did.ScopeReserved(
        fencing=1,
        key="src",
        scope="src",
        work=None,
        worktree=ROOT,
        branch=None,
        expires_at=None,
        automatic=False,
    )
    joined = did.AgentJoined(
        project_root=ROOT, worktree=ROOT, branch=None, work=None, session_key=None
    )
    names = [f"agent-{number:05d}" for number in range(MAX_MEMBERS + 50)]
    state = follow(State(), [("old-keeper", keeper), *((name, joined) for name in names)])
    assert MAX_MEMBERS - NEWCOMERS < len(state.members) <= MAX_MEMBERS
    kept = {member.name for member in state.members}
    assert "old-keeper" in kept  # it holds something
    assert "agent-00000" not in kept
    assert names[-1] in kept


def test_the_agents_that_hit_a_reservation_are_remembered_up_to_a_limit() -> None:
    scenario = crew(OTTER).when(reserve("src"))
    for number in range(MAX_NAMES + 3):
        name = f"agent-{number:03d}"
        scenario.as_(name)
        refusal(scenario, reserve("src", once=True), name)
    assert len(scenario.state.live[0].hit_by) == MAX_NAMES


def test_another_process_continues_from_the_snapshot() -> None:
    scenario = crew(OTTER, CRANE)
    for number in range(SNAPSHOT_EVERY + 3):
        run(scenario, reserve(f"src/f{number}", ttl_minutes=60), OTTER)
    with scenario.world.store.read() as view:
        assert view.snapshot(STREAM) is not None
    other = scenario.world.another_engine()
    assert other.state(MACHINE, STREAM) == scenario.state
    outcome = other.execute(STREAM, reserve("docs"), CRANE)
    assert outcome.newest(did.ScopeReserved).event.fencing == SNAPSHOT_EVERY + 4


def test_two_processes_on_one_file_never_own_the_same_place(tmp_path: Path) -> None:
    world = World(SqliteStore(tmp_path / "ledger.db", create=True))
    first, second = world.engine, world.another_engine()
    world.agent(OTTER)
    world.agent(CRANE)
    for number in range(20):
        taker, engine, other = (OTTER, first, CRANE) if number % 2 else (CRANE, second, OTTER)
        engine.execute(STREAM, reserve(f"src/f{number}"), taker)
        loser = second if engine is first else first
        with pytest.raises(Refused):
            loser.execute(STREAM, reserve(f"src/f{number}/inner"), other)
    assert first.state(MACHINE, STREAM) == second.state(MACHINE, STREAM)
    assert sorted(held.fencing for held in first.state(MACHINE, STREAM).live) == list(range(1, 21))
    world.store.close()


IMPURE = {"os", "time", "random", "secrets", "pathlib", "subprocess", "socket", "sqlite3", "io"}
LOWER = ("moot.core", "moot.protocols.presence")


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*.py")), ids=lambda path: path.stem)
def test_presence_is_pure_and_only_looks_down(path: Path) -> None:
    imports = imports_of(path)
    assert not imports & IMPURE
    assert all(name.startswith(LOWER) for name in imports if name.startswith("moot"))


@pytest.mark.requirement("OPR-034")
@pytest.mark.requirement("OPR-099")
@pytest.mark.parametrize("path", sorted(SOURCE.glob("*.py")), ids=lambda path: path.stem)
def test_only_one_file_resolves_paths(path: Path) -> None:
    assert path.stem == "paths" or not imports_of(path) & {"ntpath", "posixpath"}


@pytest.mark.requirement("OPR-088")
def test_the_parts_the_protocol_names_are_parts_of_their_own() -> None:
    parts = (
        "moot.core.registry",
        "moot.protocols.presence.overlap",
        "moot.protocols.presence.labels",
    )
    files = {
        name: Path(import_module(name).__file__ or "")
        for name in (*parts, "moot.engine.signs_of_life")
    }
    assert len(set(files.values())) == 4
    for name, file in files.items():
        # Signs of life are proved by registered keys; nothing else leans on another part.
        leans_on = {"moot.core.registry"} if name == "moot.engine.signs_of_life" else set()
        others = files.keys() - {name} - leans_on
        package = file.parent.glob("*.py") if file.stem == "__init__" else [file]
        imported = {found for part in package for found in imports_of(part)}
        assert not {one for one in imported for other in others if one.startswith(other)}, name


@pytest.mark.requirement("OPR-101")
def test_the_readings_name_the_document_they_read() -> None:
    text = (SOURCE.parents[3] / "docs" / "readings.md").read_text()
    for fact in ("Operative Protocol v1", "2026-02-14", "bb-u6f.6.1", "bb-u6f.6.2", "bb-u6f.6.5"):
        assert fact in text
    readings = [f"B-{number:02d}" for number in range(1, 38)]
    assert [reading for reading in readings if f"| {reading} |" not in text] == []


@pytest.mark.requirement("OPR-024")
def test_a_heartbeat_may_be_repeated_and_changes_nothing_else() -> None:
    scenario = crew(OTTER)
    engine, before = scenario.world.engine, scenario.history()
    for _ in range(100):
        scenario.world.clock.forward(seconds=1)
        assert engine.beat(OTTER) == scenario.world.clock.now
    scenario.world.clock.forward(seconds=-50)
    assert engine.beat(OTTER) == scenario.world.clock.now + 50_000
    with scenario.world.store.read() as view:
        assert [beat.agent for beat in view.heartbeats()] == [OTTER]
    assert scenario.history() == before
