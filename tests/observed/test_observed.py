"""Work that was only watched: what is kept, what is refused, and honest gaps."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.clock import MINUTE, parse_time
from moot.core.errors import MootError, Refused
from moot.core.machine import Context, KeyClass, Recorded, VerifiedActor
from moot.core.names import SYSTEM
from moot.core.paged_map import decode_state, encode_state
from moot.core.record import Actor
from moot.protocols.observed.machine import MACHINE, TRANSITIONS
from moot.protocols.observed.model import (
    MAX_GAPS,
    MAX_TOOLS,
    BeginObserving,
    EndObserving,
    NoteGap,
    NoteUnseenChanges,
    ObserveTool,
    Stage,
    State,
    StopWatching,
)
from moot.protocols.observed.rules import MAX_FILES
from moot.protocols.observed.views import count_work
from moot.protocols.trace.commands import AbortTrace
from moot.testing import World

STREAM = "observed/amber-otter-1"
OTTER, CRANE = "amber-otter", "teal-crane"
INPUT = hashlib.sha256(b'{"file_path":"a.py"}').hexdigest()


def tool(name: str = "Edit", **more: Any) -> ObserveTool:
    return ObserveTool(tool=name, input_hash=INPUT, **more)


@pytest.fixture
def world() -> World:
    world = World()
    world.agent(OTTER)
    world.agent(CRANE)
    return world


def refused(world: World, command: Any, actor: str) -> str:
    before = world.engine.state(MACHINE, STREAM)
    with world.store.read() as view:
        count = len(list(view.records(STREAM)))
    with pytest.raises(Refused) as caught:
        world.engine.execute(STREAM, command, actor)
    with world.store.read() as view:
        assert len(list(view.records(STREAM))) == count
    assert world.engine.state(MACHINE, STREAM) == before
    assert caught.value.hint
    return caught.value.code


def kinds(world: World) -> list[str]:
    with world.store.read() as view:
        return [record.body.type for record in view.records(STREAM)]


def test_the_first_use_of_a_tool_begins_the_record(world: World) -> None:
    ref = world.artifacts.put(b"diff", "text/plain")
    world.engine.execute(
        STREAM, tool(artifact=ref, files=("src/a.py",), redacted=("bearer",), ok=True), OTTER
    )
    assert kinds(world) == ["observed.observing_begun", "observed.tool_observed"]
    state = world.engine.state(MACHINE, STREAM)
    assert (state.agent, state.count, state.files) == (OTTER, 1, 1)
    with world.store.read() as view:
        rows = list(view.rows("observed.artifacts", limit=10))
    assert [row.key for row in rows] == [f"{STREAM} {ref.sha256}"]


def test_a_time_nobody_watched_is_a_gap_with_its_ends(world: World) -> None:
    world.clock.now = parse_time("2026-02-18T14:00:00Z")
    world.engine.execute(STREAM, tool(), OTTER)
    world.clock.forward(minutes=2)
    world.engine.execute(STREAM, StopWatching(why="hook off"), OTTER)
    world.engine.execute(STREAM, StopWatching(why="hook off"), OTTER)
    assert count_work(3, [world.engine.state(MACHINE, STREAM)]) == (
        "governed 3, observed 1, gaps 1 (hook off since 14:02)"
    )
    world.clock.forward(minutes=18)
    world.engine.execute(STREAM, tool("Bash"), OTTER)
    state = world.engine.state(MACHINE, STREAM)
    assert state.blind_since is None
    assert count_work(3, [state]) == "governed 3, observed 2, gaps 1 (hook off 14:02 to 14:20)"


def test_a_gap_may_be_found_afterwards_and_told_by_the_workspace(world: World) -> None:
    world.engine.execute(STREAM, BeginObserving(session="s1"), OTTER)
    since = world.clock.now - 20 * MINUTE
    gap = NoteGap(since=since, until=since + 5 * MINUTE, why="hook removed")
    world.engine.execute(STREAM, gap, SYSTEM)
    assert world.engine.state(MACHINE, STREAM).gap_count == 1


def test_an_end_while_blind_ends_the_gap_too(world: World) -> None:
    world.engine.execute(STREAM, tool(), OTTER)
    world.engine.execute(STREAM, StopWatching(why="hook off"), OTTER)
    world.clock.forward(minutes=1)
    world.engine.execute(STREAM, EndObserving(reason="session over"), OTTER)
    state = world.engine.state(MACHINE, STREAM)
    assert state.ended
    assert state.gap_count == 1
    assert refused(world, tool(), OTTER) == "trace_ended"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (ObserveTool(tool=" ", input_hash=INPUT), "tool_missing"),
        (ObserveTool(tool="Edit", input_hash=""), "input_hash_missing"),
        (ObserveTool(tool="Edit", input_hash='{"password":"x"}'), "input_hash_missing"),
        (tool(files=("x",) * (MAX_FILES + 1)), "too_many_items"),
        (tool("x" * 5_000), "bad_text"),
        (tool("\ud800"), "bad_text"),
        (NoteGap(since=5, until=5, why="x"), "bad_span"),
        (NoteGap(since=9, until=5, why="x"), "bad_span"),
        (NoteGap(since=0, until=10**15, why="x"), "bad_span"),
        (StopWatching(why="x", since=10**15), "bad_span"),
        (BeginObserving(), "already_begun"),
    ],
)
def test_what_is_no_observation_is_refused(world: World, command: Any, code: str) -> None:
    world.engine.execute(STREAM, BeginObserving(), OTTER)
    assert refused(world, command, OTTER) == code


def test_changes_that_nobody_saw_are_told_by_name_and_end_no_gap(world: World) -> None:
    world.engine.execute(STREAM, BeginObserving(session="run:claude"), OTTER)
    world.engine.execute(STREAM, StopWatching(why="unguarded"), OTTER)
    assert refused(world, NoteUnseenChanges(files=()), OTTER) == "no_files"
    assert refused(world, NoteUnseenChanges(files=("a",) * (MAX_FILES + 1)), OTTER)
    assert refused(world, NoteUnseenChanges(files=("a",)), CRANE) == "not_yours"
    world.engine.execute(STREAM, NoteUnseenChanges(files=("a.py",)), OTTER)
    assert world.engine.state(MACHINE, STREAM).stage is Stage.BLIND
    assert kinds(world)[-1] == "observed.unseen_changes_noted"


def test_one_record_is_one_agents(world: World) -> None:
    assert refused(world, EndObserving(), OTTER) == "not_begun"
    assert refused(world, tool(), SYSTEM) == "not_yours"
    world.engine.execute(STREAM, tool(), OTTER)
    assert refused(world, tool(), CRANE) == "not_yours"
    assert refused(world, tool(), SYSTEM) == "not_yours"


def test_a_governed_trace_takes_no_observation_and_the_other_way_round(world: World) -> None:
    assert refused_on(world, "trace/t1", tool()) == "unknown_command"
    assert refused_on(world, STREAM, AbortTrace(reason="x")) == "unknown_command"


def refused_on(world: World, stream: str, command: Any) -> str:
    with pytest.raises(MootError) as caught:
        world.engine.execute(stream, command, OTTER)
    with world.store.read() as view:
        assert view.head(stream) is None
    return caught.value.code


def test_the_state_stays_small() -> None:
    state = MACHINE.initial
    for number in range(1_000):
        state = act(state, tool(f"tool-{number}"), number)
        state = act(state, NoteGap(since=0, until=1, why="x"), number)
    assert len(state.tools) == MAX_TOOLS + 1
    assert len(state.gaps) == MAX_GAPS
    assert (state.count, state.gap_count) == (1_000, 1_000)
    assert sum(state.tools.values()) == 1_000


def act(state: State, command: Any, now: int) -> State:
    context = Context(10_000 + now, VerifiedActor(OTTER, 1, "k", KeyClass.AGENT), STREAM, "o")
    for seq, draft in enumerate(MACHINE.decide(state, command, context).drafts):
        recorded: Recorded[Any] = Recorded(
            draft.event, STREAM, seq, context.now, Actor(OTTER, 1, "k"), b""
        )
        list(MACHINE.index(recorded))
        before, state = state, MACHINE.evolve(state, recorded)
        leads_to = TRANSITIONS[before.stage][type(draft.event)]
        assert state.stage in (leads_to, before.stage)
    return state


def test_every_way_of_the_table_is_walked() -> None:
    assert set(TRANSITIONS) == set(Stage)
    assert TRANSITIONS[Stage.ENDED] == {}
    stages = [MACHINE.initial.stage]
    state = MACHINE.initial
    changes = NoteUnseenChanges(files=("a.py",))
    for command in (tool(), changes, StopWatching(why="hook off"), changes, tool(), EndObserving()):
        state = act(state, command, 0)
        stages.append(state.stage)
    watched, blind = Stage.WATCHED, Stage.BLIND
    assert stages == [Stage.NEW, watched, watched, blind, blind, watched, Stage.ENDED]


_commands = st.one_of(
    st.builds(tool, st.sampled_from(["Edit", "Bash", ""]), ok=st.none() | st.booleans()),
    st.builds(StopWatching, why=st.text(max_size=5), since=st.none() | st.integers()),
    st.builds(
        NoteGap, since=st.integers(0, 20_000), until=st.integers(0, 20_000), why=st.just("x")
    ),
    st.builds(NoteUnseenChanges, files=st.tuples(st.text(max_size=5))),
    st.builds(BeginObserving, session=st.text(max_size=5)),
    st.builds(EndObserving, reason=st.text(max_size=5)),
)


@given(st.lists(st.tuples(_commands, st.integers(-5_000, 5_000)), max_size=20))
def test_any_history_counts_what_it_saw_and_survives_a_snapshot(
    steps: list[tuple[Any, int]],
) -> None:
    """The clock may go backwards; a gap never ends before it began."""
    state = MACHINE.initial
    for command, now in steps:
        state = act(state, command, now)
        assert all(gap.since <= gap.until for gap in state.gaps)
        assert state.count == sum(state.tools.values())
    assert decode_state(State, encode_state(state)) == state
    assert count_work(0, [state]).startswith(f"governed 0, observed {state.count}, gaps ")
