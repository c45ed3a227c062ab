"""A coding tool's hook on a machine that joined: stopped by another machine's holder, and refused
where the keeper cannot be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.project import Project
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
