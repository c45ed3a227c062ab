"""Every list of every protocol fits the terminal; none is cut on its way into a pipe."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from moot.surfaces.terminal.listing import columns_of
from tests.cli.terminal import on_a_terminal
from tests.cli.test_presence import as_
from tests.project import MOOT, Project

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
WIDE = "我们要把会话存到哪里 🦦🔥 "
LONG = f"{WIDE}and what becomes of every session that is open on the day of the move, {WIDE}END"
OTTER, CRANE = "amber-otter-of-the-northern-shore", "teal-crane-of-the-southern-shore"
FINCH, HERON = "coral-finch", "slate-heron"


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """One workspace with something long in every list."""
    place = tmp_path_factory.mktemp("town")
    (place / "project").mkdir()
    made = Project(place / "project", place / "keys", MOOT_CLOCK="2026-02-18T12:00:00.123Z")
    made.ok("init")
    for name in (OTTER, CRANE, FINCH, HERON):
        made.ok("join", "--register", name)
    for fill in (_debate, _trace, _watched, _parliament, _decision, _path):
        fill(made)
    return made


def _debate(town: Project) -> None:
    town.ok("debate", "new", "d.md", "--title", LONG, "--agents", f"{OTTER},{CRANE}")
    for name in (OTTER, CRANE):
        words = ("debate", "add", "d.md", "--author", name, "--stance", "approve")
        town.ok(*words, "--confidence", "0.8", "--summary", LONG, "--body", "x")


def _trace(town: Project) -> None:
    parts = ("--planner", OTTER, "--executor", CRANE, "--critic", FINCH, "--auditor", HERON)
    town.ok("trace", "new", "--task", LONG, *parts)
    town.ok("trace", "propose", "t1", "--objective", LONG, "--tool", "sh", "--assume", "none")


def _watched(town: Project) -> None:
    town.ok("hook", "install", "claude")
    for event in ("PreToolUse", "PostToolUse"):
        for tool in ("Write", "Read", "Glob", "WebSearch", "TodoWrite"):
            _hooked(town, event, tool)


def _hooked(town: Project, event: str, tool: str) -> None:
    said = {
        "hook_event_name": event,
        "session_id": "5d6c8e82-19ce-493e-9bd6-edc9da9059b8",
        "cwd": str(town.root),
        "tool_name": tool,
        "tool_input": {"file_path": "notes.md", "content": "x"},
    }
    subprocess.run(
        [*MOOT, "hook", "claude"],
        cwd=town.root,
        env={**town.env, "MOOT_AGENT": OTTER},
        input=json.dumps(said).encode(),
        capture_output=True,
        check=True,
    )


def _parliament(town: Project) -> None:
    motives = ("speed of every upload", "cost per month", "safety of what is kept")
    reps = [f"Rep. {WIDE} {motive}:{motive},我们要" for motive in motives]
    words = [word for motive in motives for word in ("--issue", motive)]
    words += [word for rep in reps for word in ("--rep", rep)]
    town.ok("parliament", "new", "hall", "--problem", LONG, *words)


def _decision(town: Project) -> None:
    options = ("--option", LONG, "--option", "Postgres")
    town.ok("ask", LONG, *options, "--with", "fern-hare=rules:approve,moss-lynx=rules:reject")


def _path(town: Project) -> None:
    words = ("blocked", CRANE, "--work", "w-1", "--subject", LONG, "--blocker", LONG)
    sent = town.ok(*as_(OTTER, *words), "--requested-action", "decide")
    town.ok(*as_(OTTER, "flow", "blocked-to-debate", sent["message"]))


# Each list, the column it must show, and the lines around it that are no part of it.
LISTS = {
    ("debate", "status", "d.md"): ("TURN", "^(我们|ended|reached)"),
    ("ledger", "log"): ("ID", "^$"),
    ("ledger", "log", "registry"): ("#", "^$"),
    ("trace", "list"): ("TRACE", "^$"),
    ("trace", "status", "t1"): ("ID", "^(t1|planner|governed|next:)"),
    ("trace", "observed"): ("AGENT", "^observed"),
    ("parliament", "status", "hall"): ("SEAT", "^(parl-|bill)"),
    ("parliament", "next", "hall"): ("WHO", "^(parl-|try:|below)"),
    ("agent", "list"): ("NAME", "^$"),
    ("flow", "list"): ("FLOW", "^$"),
    ("flow", "list", "--paths"): ("PATH", "^$"),
    ("story", "t1"): ("WHEN", "^t1$"),
    ("ask", "--resume", "q-1"): ("WHO", "^(q-1|motion|note|not-carried|dissent|cost|waiting)"),
}


# What one copies is never cut, and stands alone where it is wider than the terminal.
STREAMS = (f"observed/{OTTER}~27e0a8c615c873cb",)


def rows(seen: str, around: str) -> list[str]:
    return [line for line in COLOURS.sub("", seen).splitlines() if not re.match(around, line)]


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
@pytest.mark.parametrize("columns", [80, 50])
def test_no_row_is_wider_than_the_terminal(
    town: Project, words: tuple[str, ...], columns: int
) -> None:
    first, around = LISTS[words]
    seen = rows(on_a_terminal(town, *words, COLUMNS=str(columns)), around)
    assert seen[0].split()[0] == first
    assert len(seen) > 1
    too_wide = [line for line in seen if columns_of(line) > columns]
    assert all(line in STREAMS for line in too_wide), too_wide


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_nothing_is_cut_into_a_pipe(town: Project, words: tuple[str, ...]) -> None:
    _, around = LISTS[words]
    wide, narrow = town.spawn(*words), town.spawn(*words, COLUMNS="40")
    assert narrow == wide
    if words[0] != "story":  # which tells in short what each record says
        assert "…" not in "".join(rows(wide.out, around))
