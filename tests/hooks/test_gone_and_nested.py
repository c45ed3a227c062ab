"""A workspace that vanished, or another one below it, does not switch the guard off in silence."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from moot.surfaces.hooks.entry import Reply, check_commit
from moot.workspace.known_places import FILE, MOST_BYTES, find_known_place, remember_place
from tests.hooks.yard import CRANE, OTTER, Yard, call, reason


def write(path: Path, cwd: Path) -> dict[str, Any]:
    said = call("claude-write", cwd)
    return {**said, "tool_input": {**said["tool_input"], "file_path": str(path)}}


@pytest.mark.parametrize("place", ["root", "other"])
def test_after_git_clean_every_edit_is_held_back_with_the_reason(yard: Yard, place: str) -> None:
    """In the worktree that held it, and in one that only shares it."""
    yard.reserve(CRANE, "a.txt")
    assert yard.git("clean", "-xfd", "--quiet").code == 0
    assert not (yard.root / ".moot").exists(), "git removes what is ignored"
    folder = getattr(yard, place)
    for agent in (OTTER, None):
        said = reason(yard.hook("claude", write(folder / "src" / "x.txt", folder), agent))
        assert "[workspace_gone]" in said
        assert str(yard.root / ".moot") in said
        assert "put .moot back from a backup" in said
        assert f"moot ledger forget {yard.root}" in said


def test_an_edit_from_elsewhere_is_held_back_too(yard: Yard, tmp_path: Path) -> None:
    shutil.rmtree(yard.root / ".moot")
    said = write(yard.root / "a.txt", tmp_path)
    assert "[workspace_gone]" in reason(yard.hook("claude", said))
    outside = write(tmp_path / "notes.txt", tmp_path)
    assert yard.hook("claude", outside) == Reply()


def test_a_commit_of_an_agent_is_refused_and_a_persons_passes_with_a_warning(yard: Yard) -> None:
    shutil.rmtree(yard.root / ".moot")
    agent = check_commit({**yard.env, "MOOT_AGENT": OTTER}, str(yard.root))
    assert (agent.code, "[workspace_gone]" in agent.err) == (1, True)
    person = check_commit(yard.env, str(yard.root))
    assert (person.code, "[workspace_gone]" in person.err) == (0, True)


def test_other_moments_stop_nothing_and_the_start_says_it(yard: Yard) -> None:
    shutil.rmtree(yard.root / ".moot")
    started = yard.hook("claude", call("claude-start", yard.root))
    assert (started.out, started.code, "[workspace_gone]" in started.err) == ("", 0, True)
    for name in ("bash-done", "write-done", "stop", "end"):
        reply = yard.hook("claude", call(f"claude-{name}", yard.root))
        assert (reply.out, reply.code) == ("", 0)


def run(yard: Yard, command: str) -> Reply:
    said = call("claude-bash", yard.root, tool_input={"command": command})
    return yard.hook("claude", said)


@pytest.mark.parametrize(
    "command",
    [
        "rm a.txt",
        "echo x > a.txt",
        "git checkout -- .",
        "sed -i s/a/b/ a.txt",
        "cd src; rm ../a.txt",
    ],
)
def test_a_shell_command_that_writes_is_held_back_as_an_edit_is(yard: Yard, command: str) -> None:
    yard.reserve(CRANE, "a.txt")
    before = (yard.root / "a.txt").read_bytes()
    shutil.rmtree(yard.root / ".moot")
    assert "[workspace_gone]" in reason(run(yard, command))
    assert (yard.root / "a.txt").read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "pytest -q a.txt",
        "git status; git log > /dev/null",
        "moot init",
        "cp -r ../kept .moot",
        "cp -r ../backup/.moot .",
        "mv ../kept ./.moot",
        "tar xf ../kept.tar .moot",
        "echo x > /tmp/nothing-of-this-project.txt",
    ],
)
def test_what_writes_nothing_there_or_puts_it_back_passes(yard: Yard, command: str) -> None:
    shutil.rmtree(yard.root / ".moot")
    assert run(yard, command) == Reply()


def test_what_is_put_back_or_made_anew_or_forgotten_is_no_longer_gone(yard: Yard) -> None:
    kept = yard.root.with_name("kept")
    (yard.root / ".moot").rename(kept)
    assert "[workspace_gone]" in reason(yard.hook("claude", write(yard.root / "a.txt", yard.root)))
    kept.rename(yard.root / ".moot")
    assert yard.hook("claude", write(yard.root / "a.txt", yard.root)).out == ""
    shutil.rmtree(yard.root / ".moot")
    yard.ok("ledger", "forget", str(yard.root))
    assert yard.hook("claude", write(yard.root / "a.txt", yard.root)) == Reply()
    yard.ok("init")
    assert "agent_not_found" in reason(yard.hook("claude", write(yard.root / "a.txt", yard.root)))


def test_a_key_folder_remembers_where_its_agent_joined(yard: Yard) -> None:
    (yard.keys / FILE).unlink()
    assert yard.hook("claude", call("claude-start", yard.root), None).code == 0
    shutil.rmtree(yard.root / ".moot")
    assert "[workspace_gone]" in reason(yard.hook("claude", write(yard.root / "a", yard.root)))


def test_the_list_of_places_stays_short_and_never_stops_anything(tmp_path: Path) -> None:
    keys, gone, here = tmp_path / "keys", tmp_path / "gone", tmp_path / "here"
    keys.mkdir()
    here.mkdir()
    for number in range(MOST_BYTES // 20):
        remember_place(keys, gone, f"ledger/{number}")
    remember_place(keys, here, "ledger/x")
    remember_place(keys, here, "ledger/x")
    assert (keys / FILE).stat().st_size < 2 * MOST_BYTES
    assert find_known_place(keys, [tmp_path, here]) == here
    remember_place(tmp_path / "no such folder", here, "ledger/x")
    assert find_known_place(tmp_path / "no such folder", [here]) is None


@pytest.mark.parametrize("content", ["", "opencode-plugin.js"])
def test_an_empty_moot_folder_below_leads_nobody_away(yard: Yard, content: str) -> None:
    yard.reserve(CRANE, "src")
    (yard.root / "src" / ".moot").mkdir(parents=True)
    if content:
        (yard.root / "src" / ".moot" / content).write_text("x", encoding="utf-8")
    said = reason(yard.hook("claude", write(yard.root / "src" / "x.txt", yard.root / "src")))
    assert "src/x.txt is held by teal-crane as part of src" in said
    assert yard.ok("status", cwd=yard.root / "src")["workspace"] == str(yard.root / ".moot")


@pytest.mark.parametrize("part", ["trust.json", "ledger.db"])
def test_half_a_workspace_below_is_refused_and_not_passed_over(yard: Yard, part: str) -> None:
    (yard.root / "src" / ".moot").mkdir(parents=True)
    (yard.root / "src" / ".moot" / part).write_bytes(b"")
    said = reason(yard.hook("claude", write(yard.root / "src" / "x.txt", yard.root)))
    assert said.startswith("moot: held back, because it cannot be checked: [")


@pytest.fixture
def inner(yard: Yard) -> Path:
    """Another repository with a workspace of its own, inside of the project."""
    folder = yard.root / "lib" / "inner"
    folder.mkdir(parents=True)
    assert yard.git("init", "--quiet", cwd=folder).code == 0
    yard.ok("init", cwd=folder)
    yard.ok("agent", "register", OTTER, cwd=folder)
    return folder


def test_a_workspace_inside_of_another_asks_both(yard: Yard, inner: Path) -> None:
    yard.reserve(CRANE, "lib")
    said = reason(yard.hook("claude", write(inner / "x.txt", inner)))
    assert "lib/inner/x.txt is held by teal-crane as part of lib" in said
    assert yard.owners() == {"lib": CRANE}


def test_an_agent_of_both_reserves_in_both(yard: Yard, inner: Path) -> None:
    assert yard.hook("claude", write(inner / "x.txt", inner)).out == ""
    assert yard.owners() == {"lib/inner/x.txt": OTTER}
    held = yard.ok("scope", "list", cwd=inner)["reservations"]
    assert [(row["scope"], row["owner"]) for row in held] == [("x.txt", OTTER)]


def test_an_agent_of_the_inner_one_alone_leaves_alone_what_is_held_outside(
    yard: Yard, inner: Path
) -> None:
    yard.ok("agent", "register", "slate-heron", cwd=inner)
    assert yard.hook("claude", write(inner / "x.txt", inner), "slate-heron").out == ""
    assert yard.owners() == {}
    yard.reserve(CRANE, "lib/inner/y.txt")
    said = reason(yard.hook("claude", write(inner / "y.txt", inner), "slate-heron"))
    assert "lib/inner/y.txt is held by teal-crane" in said


def test_an_agent_of_the_outer_one_alone_does_not_write_in_the_inner(
    yard: Yard, inner: Path
) -> None:
    said = reason(yard.hook("claude", write(inner / "x.txt", inner), CRANE))
    assert "[agent_not_found]" in said
    assert yard.owners() == {}
