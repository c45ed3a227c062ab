"""A coding tool's hook on a machine that joined: stopped by another machine's holder, and refused
where the keeper cannot be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hooks.test_before_edit import modules_after
from tests.hooks.test_thin_client import OttersProcess, thinly
from tests.hooks.tool_calls import call, reason
from tests.hosts.kept_ledger import KeptLedger
from tests.project import CRANE, OTTER, Project


@pytest.fixture
def laptop_repository(kept: KeptLedger, tmp_path: Path) -> Project:
    root = tmp_path / "laptop" / "project"
    root.mkdir(parents=True)
    project = Project(root, tmp_path / "laptop" / "keys")
    (root / "a.txt").write_text("one\n")
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "a.txt"),
        ("commit", "--quiet", "--message=first"),
    ):
        assert project.git(*words).code == 0
    kept.join(root, project.keys, "laptop")
    project.ok("agent", "register", OTTER)
    return project


def test_an_edit_is_refused_that_another_machines_agent_holds(
    laptop_repository: Project, desktop: Project
) -> None:
    desktop.ok("reserve", "a.txt", MOOT_AGENT=CRANE)
    said = call("claude-edit", laptop_repository.root)
    assert CRANE in reason(laptop_repository.hook("claude", said))
    (incursion,) = laptop_repository.events("INCURSION")
    assert incursion["from_agent"] == OTTER


def test_a_free_file_is_reserved_at_the_keeper(
    kept: KeptLedger, laptop_repository: Project
) -> None:
    reply = laptop_repository.hook("claude", call("claude-edit", laptop_repository.root))
    assert "deny" not in reply.out
    held = kept.project.ok("scope", "list")["reservations"]
    assert [(row["scope"], row["owner"]) for row in held] == [("a.txt", OTTER)]


def test_an_edit_is_held_back_where_the_keeper_cannot_be_asked(
    kept: KeptLedger, laptop_repository: Project
) -> None:
    kept.keeping.close()
    why = reason(laptop_repository.hook("claude", call("claude-edit", laptop_repository.root)))
    assert "keeper" in why


def test_an_edit_is_held_back_on_a_machine_that_has_left(laptop_repository: Project) -> None:
    """Nobody can tell any more who holds what."""
    laptop_repository.ok("machine", "leave")
    why = reason(laptop_repository.hook("claude", call("claude-edit", laptop_repository.root)))
    assert "has left" in why
    assert "`moot init --join INVITATION`" in why


# What only joining a ledger needs, or keeping one.
FOR_JOINING = {"filelock", "shutil", "secrets", "moot.hosts.members", "moot.hosts.request_handler"}


def test_a_hook_loads_nothing_that_only_joining_or_keeping_a_ledger_needs(
    kept: KeptLedger, laptop_repository: Project
) -> None:
    loaded = modules_after(laptop_repository, "claude-write")
    assert "moot.hosts.joined_engine" in loaded
    assert not loaded & FOR_JOINING
    assert kept.project.ok("scope", "list")["reservations"]


def test_a_hook_beside_a_run_asks_over_the_line_that_the_run_has(
    kept: KeptLedger, laptop_repository: Project, desktop: Project
) -> None:
    run = OttersProcess(laptop_repository)
    try:
        free = thinly(
            laptop_repository, "claude", call("claude-edit", laptop_repository.root), **run.env
        )
        assert free == (b"", b"", 0)
        desktop.ok("reserve", "b.txt", MOOT_AGENT=CRANE)
        said = call("claude-edit", laptop_repository.root, "b.txt")
        assert CRANE.encode() in thinly(laptop_repository, "claude", said, **run.env)[0]
        kept.keeping.close()
        said = call("claude-edit", laptop_repository.root, "c.txt")
        out, _, code = thinly(laptop_repository, "claude", said, **run.env)
        assert (b"deny" in out, b"keeper" in out, code) == (True, True, 0)
    finally:
        run.end()
    held = kept.project.ok("scope", "list")["reservations"]
    assert {(row["scope"], row["owner"]) for row in held} == {("a.txt", OTTER), ("b.txt", CRANE)}
