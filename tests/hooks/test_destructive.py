"""Before a shell command: others' uncommitted work is not destroyed, and nothing else is stopped.

Each case really runs the hook; what was allowed is then really done, by a real shell.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from moot.surfaces.hooks.entry import Reply
from tests.hooks.yard import CRANE, IDENTITY, OTTER, Yard, call, reason

WORK = "the holder's work\n"


@pytest.fixture
def shared(yard: Yard) -> Yard:
    """One worktree, a.txt held and changed by the crane, b.txt by the otter; both are tracked."""
    for name in ("b.txt", "c.txt"):
        (yard.root / name).write_text("one\n", encoding="utf-8")
    (yard.root / "sub").mkdir()
    (yard.root / "sub" / "d.txt").write_text("one\n", encoding="utf-8")
    assert yard.git("add", "b.txt", "c.txt", "sub").code == 0
    assert yard.git("commit", "--quiet", "--message=more").code == 0
    for agent, name in ((CRANE, "a.txt"), (OTTER, "b.txt")):
        assert yard.hook("claude", call("claude-write", yard.root, name), agent) == Reply()
        (yard.root / name).write_text(WORK, encoding="utf-8")
    return yard


def asks(yard: Yard, command: str, cwd: Path | None = None, agent: str | None = OTTER) -> Reply:
    """The hook's answer to a shell call."""
    said = call("claude-bash", cwd or yard.root, tool_input={"command": command})
    return yard.hook("claude", said, agent)


def does(yard: Yard, command: str, cwd: Path | None = None) -> int:
    """Really do it."""
    env = {**yard.env, **IDENTITY}
    folder = cwd or yard.root
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, check=False, capture_output=True, timeout=60
    ).returncode


THE_FIVE = (
    "git checkout -- .",
    "git checkout -- a.txt",
    "git restore .",
    "git reset --hard",
    "git stash",
)


@pytest.mark.parametrize("command", THE_FIVE)
def test_the_commonest_accidents_are_held_back(shared: Yard, command: str) -> None:
    said = reason(asks(shared, command))
    assert "a.txt: held by teal-crane (active, last seen" in said
    assert "not committed" in said
    assert "moot event blocked --from amber-otter --to teal-crane --subject a.txt" in said
    assert (shared.root / "a.txt").read_text("utf-8") == WORK
    (noted,) = shared.events("INCURSION")
    assert (noted["from_agent"], noted["to_agent"]) == (OTTER, CRANE)
    assert reason(asks(shared, command))
    assert len(shared.events("INCURSION")) == 1


@pytest.mark.parametrize("command", THE_FIVE)
def test_the_holder_itself_may(shared: Yard, command: str) -> None:
    shared.reserve(CRANE, "c.txt")
    assert does(shared, "git checkout -- b.txt") == 0
    assert asks(shared, command, agent=CRANE) == Reply()
    assert does(shared, command) == 0
    assert shared.events("INCURSION") == []
