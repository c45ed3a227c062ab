"""A coding tool's hook on a machine that joined: stopped by another machine's holder, and refused
where the keeper cannot be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.project import Project
from tests.hooks.test_before import modules_after
from tests.hooks.test_thin import OttersLender, thinly
from tests.hooks.yard import CRANE, OTTER, Yard, call, reason
from tests.keeper.kept import KeptLedger


@pytest.fixture
def laptop_yard(kept: KeptLedger, tmp_path: Path) -> Yard:
    root = tmp_path / "laptop" / "project"
    root.mkdir(parents=True)
    yard = Yard(root, tmp_path / "laptop" / "keys")
    (root / "a.txt").write_text("one\n")
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "a.txt"),
        ("commit", "--quiet", "--message=first"),
    ):
        assert yard.git(*words).code == 0
    kept.join(root, yard.keys, "laptop")
    yard.ok("agent", "register", OTTER)
    return yard


def test_an_edit_is_refused_that_another_machines_agent_holds(
    laptop_yard: Yard, desktop: Project
) -> None:
    desktop.ok("reserve", "a.txt", MOOT_AGENT=CRANE)
    said = call("claude-edit", laptop_yard.root)
    assert CRANE in reason(laptop_yard.hook("claude", said))
    (incursion,) = laptop_yard.events("INCURSION")
    assert incursion["from_agent"] == OTTER


def test_a_free_file_is_reserved_at_the_keeper(kept: KeptLedger, laptop_yard: Yard) -> None:
    reply = laptop_yard.hook("claude", call("claude-edit", laptop_yard.root))
    assert "deny" not in reply.out
    held = kept.project.ok("scope", "list")["reservations"]
    assert [(row["scope"], row["owner"]) for row in held] == [("a.txt", OTTER)]


def test_an_edit_is_held_back_where_the_keeper_cannot_be_asked(
    kept: KeptLedger, laptop_yard: Yard
) -> None:
    kept.keeping.close()
    why = reason(laptop_yard.hook("claude", call("claude-edit", laptop_yard.root)))
    assert "keeper" in why


def test_an_edit_is_held_back_on_a_machine_that_has_left(laptop_yard: Yard) -> None:
    """Nobody can tell any more who holds what."""
    laptop_yard.ok("machine", "leave")
    why = reason(laptop_yard.hook("claude", call("claude-edit", laptop_yard.root)))
    assert "has left" in why
    assert "`moot init --join INVITATION`" in why


# What only joining a ledger needs, or keeping one.
FOR_JOINING = {"filelock", "shutil", "secrets", "moot.keeper.members", "moot.keeper.door"}


def test_a_hook_loads_nothing_that_only_joining_or_keeping_a_ledger_needs(
    kept: KeptLedger, laptop_yard: Yard
) -> None:
    loaded = modules_after(laptop_yard, "claude-write")
    assert "moot.keeper.joined_engine" in loaded
    assert not loaded & FOR_JOINING
    assert kept.project.ok("scope", "list")["reservations"]


def test_a_hook_beside_a_run_asks_over_the_line_that_the_run_has(
    kept: KeptLedger, laptop_yard: Yard, desktop: Project
) -> None:
    run = OttersLender(laptop_yard)
    try:
        free = thinly(laptop_yard, "claude", call("claude-edit", laptop_yard.root), **run.env)
        assert free == (b"", b"", 0)
        desktop.ok("reserve", "b.txt", MOOT_AGENT=CRANE)
        said = call("claude-edit", laptop_yard.root, "b.txt")
        assert CRANE.encode() in thinly(laptop_yard, "claude", said, **run.env)[0]
        kept.keeping.close()
        said = call("claude-edit", laptop_yard.root, "c.txt")
        out, _, code = thinly(laptop_yard, "claude", said, **run.env)
        assert (b"deny" in out, b"keeper" in out, code) == (True, True, 0)
    finally:
        run.end()
    held = kept.project.ok("scope", "list")["reservations"]
    assert {(row["scope"], row["owner"]) for row in held} == {("a.txt", OTTER), ("b.txt", CRANE)}
