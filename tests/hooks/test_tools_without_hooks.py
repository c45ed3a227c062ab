"""A tool among the processes of a run whose hook says nothing is found, once, and no other."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.coding_tools.started_tools import tool_of_process
from moot.runner.guard_proof import SilentTools
from moot.system.process_tree import Process, processes_of_run

TEN = 10.0


def silent(*looks: tuple[float, list[Process], int]) -> list[list[str]]:
    """What each look finds: at this time, these processes, this many hooks that have spoken."""
    tools = SilentTools(TEN)
    return [
        tools.look(alive, lambda _tool, count=count: count, now)  # type: ignore[misc]
        for now, alive, count in looks
    ]


def claude(pid: int = 5, parent: int = 1) -> Process:
    return Process(pid, parent, ("claude", "-p", "x"))


def test_a_silent_tool_is_told_after_ten_seconds_and_once() -> None:
    alive = [claude()]
    looks = [(0.0, alive, 0), (9.9, alive, 0), (10.0, alive, 0), (60.0, alive, 0)]
    assert silent(*looks) == [[], [], ["claude"], []]


def test_a_tool_that_spoke_in_time_is_not_told() -> None:
    alive = [claude()]
    assert silent((0.0, alive, 0), (5.0, alive, 1), (60.0, alive, 1)) == [[], [], []]


def test_of_two_tools_one_that_is_silent_is_told() -> None:
    alive = [claude(5), claude(6)]
    assert silent((0.0, alive, 0), (20.0, alive, 1)) == [[], ["claude"]]


def test_a_tool_that_ended_is_not_waited_for() -> None:
    assert silent((0.0, [claude()], 0), (20.0, [], 0), (21.0, [claude(9)], 0)) == [[], [], []]


def test_a_tool_below_one_of_its_kind_is_that_ones_own() -> None:
    alive = [claude(5), Process(6, 5, ("node", "x.js")), claude(7, 6)]
    assert silent((0.0, alive, 0), (20.0, alive, 1)) == [[], []]


@pytest.mark.parametrize(
    ("words", "tool"),
    [
        (("claude",), "claude"),
        (("/opt/bin/codex", "exec"), "codex"),
        (("node", "/usr/lib/node_modules/@google/gemini-cli/dist/index.js"), "gemini"),
        (("node", "--no-warnings", "/usr/bin/opencode"), "opencode"),
        (("python3.11", "/home/me/bin/claude", "-p"), "claude"),
        (("bash", "/home/me/bin/claude"), "claude"),
        (("codex-x86_64-unknown-linux-musl",), "codex"),
        (("bash", "-c", "exec claude -p x"), None),
        (("timeout", "10", "claude"), None),
        (("vim", "claude"), None),
        (("node", "server.js", "claude"), None),
        ((), None),
    ],
)
def test_a_process_is_known_by_what_it_is(words: tuple[str, ...], tool: str | None) -> None:
    assert tool_of_process(words) == tool


_processes = st.lists(
    st.builds(
        Process,
        st.integers(1, 9),
        st.integers(0, 9),
        st.sampled_from([("claude",), ("codex",), ("sh",), ()]),
    ),
    max_size=8,
)


@given(st.lists(st.tuples(st.floats(0, 100), _processes, st.integers(0, 3)), max_size=6))
def test_any_tree_is_looked_at_without_a_crash(
    looks: list[tuple[float, list[Process], int]],
) -> None:
    """Numbers are given again, parents may be missing or go round in a circle."""
    for found in silent(*looks):
        assert set(found) <= {"claude", "codex"}


def test_the_processes_of_a_run_are_those_below_and_those_that_carry_its_name() -> None:
    """A process that left the tree is found by its name; one of another run is not this one's."""
    wait = "import sys; sys.stdin.read()"
    script = (
        "import subprocess, sys, os\n"
        f"go = [sys.executable, '-c', {wait!r}]\n"
        "env = {**os.environ, 'MOOT_AGENT': 'slate-wren'}\n"
        "own = subprocess.Popen(go); others = subprocess.Popen(go, env=env)\n"
        "print(own.pid, others.pid, flush=True)\n"
        "own.wait(); others.wait()\n"
    )
    words = [sys.executable, "-c", script]
    env = {**os.environ, "MOOT_AGENT": "amber-otter"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, env=env, **pipes) as run:  # type: ignore[call-overload]
        assert run.stdin is not None
        assert run.stdout is not None
        own, others = map(int, run.stdout.readline().split())
        found = {process.pid for process in processes_of_run(run.pid, "MOOT_AGENT", "amber-otter")}
        elsewhere = processes_of_run(1 << 30, "MOOT_AGENT", "amber-otter")
        run.stdin.close()
        run.wait(60)
    assert {run.pid, own} <= found
    if os.path.exists("/proc/self/environ"):
        assert others not in found
        assert own in {process.pid for process in elsewhere}
