"""Observed work at its edges: exactly the limit, the first number, what a page shows of many."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from moot.core.clock import MINUTE, parse_time
from moot.core.machine import Command
from moot.protocols.observed.machine import MACHINE
from moot.protocols.observed.model import (
    BeginObserving,
    Gap,
    NoteGap,
    NoteUnseenChanges,
    State,
    StopWatching,
)
from moot.protocols.observed.views import count_work, view_session
from moot.testing import World

from .test_observed import OTTER, STREAM, act, refused, tool

NOON = parse_time("2026-02-18T12:00:00Z")


@pytest.fixture
def world() -> World:
    world = World()
    world.agent(OTTER)
    world.engine.execute(STREAM, BeginObserving(session="s1"), OTTER)
    return world


@pytest.mark.parametrize(
    ("make", "most", "code"),
    [
        (lambda count: tool(files=("x",) * count), 200, "too_many_items"),
        (lambda count: NoteUnseenChanges(files=("x",) * count), 200, "too_many_items"),
        (lambda count: tool("x" * count), 1_000, "bad_text"),
        (lambda count: StopWatching(why="x" * count), 1_000, "bad_text"),
    ],
)
def test_as_much_as_this_is_taken_and_no_more(
    world: World, make: Any, most: int, code: str
) -> None:
    assert refused(world, make(most + 1), OTTER) == code
    world.engine.execute(STREAM, make(most), OTTER)


def test_only_so_many_tools_and_gaps_are_kept() -> None:
    state = MACHINE.initial
    for number in range(250):
        state = act(state, tool(f"tool-{number}"), number)
        state = act(state, NoteGap(since=0, until=1, why="x"), number)
    assert (len(state.tools), len(state.gaps)) == (200 + 1, 64)


def test_a_session_and_its_uses_are_found_by_their_numbers(world: World) -> None:
    ref = world.artifacts.put(b"diff", "text/plain")
    world.engine.execute(STREAM, tool(artifact=ref), OTTER)
    with world.store.read() as view:
        session = view.row("observed.sessions", STREAM)
        artifact = view.row("observed.artifacts", f"{STREAM} {ref.sha256}")
    assert session is not None
    row = json.loads(session.value)
    assert (row["agent"], row["session"]) == (OTTER, "s1")
    assert artifact is not None
    assert json.loads(artifact.value) == {"number": 1}


def test_a_command_of_another_protocol_is_refused_by_the_machine_itself() -> None:
    class Strange(Command, frozen=True):
        pass

    context: Any = None
    decision = MACHINE.decide(MACHINE.initial, Strange(), context)
    assert (decision.refused, decision.findings[0].code) == (True, "unknown_command")


def test_a_page_says_since_when_nobody_watches() -> None:
    assert view_session(STREAM, State(agent=OTTER)).blind_since is None
    blind = view_session(STREAM, State(agent=OTTER, blind_since=NOON, blind_why="hook off"))
    assert blind.blind_since == "2026-02-18T12:00:00.000Z"


def test_of_many_gaps_the_newest_three_are_told_and_of_blind_sessions_three() -> None:
    gaps = tuple(Gap(NOON + n * MINUTE, NOON + (n + 1) * MINUTE, "off") for n in range(4))
    state = State(agent=OTTER, gaps=gaps, gap_count=4)
    told = "off 12:01 to 12:02; off 12:02 to 12:03; off 12:03 to 12:04"
    assert count_work(0, [state]) == f"governed 0, observed 0, gaps 4 ({told})"
    blind = [State(agent=OTTER, blind_since=NOON, blind_why=f"w{n}") for n in range(4)]
    told = "w0 since 12:00; w1 since 12:00; w2 since 12:00"
    assert count_work(0, blind) == f"governed 0, observed 0, gaps 4 ({told})"


def test_a_new_session_begins_with_nothing() -> None:
    """A snapshot leaves these out, so they can never be others."""
    assert not any(msgspec.structs.astuple(MACHINE.initial))
    assert MACHINE.version == 2, "snapshots of another version are not read"
