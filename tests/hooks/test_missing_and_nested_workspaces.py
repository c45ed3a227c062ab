"""A workspace that vanished, or another one below it, does not switch the guard off in silence."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from moot.surfaces.hooks.entry import Reply, check_commit
from moot.workspace.known_workspaces import FILE, MOST_BYTES, find_known_place, remember_place
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, OTTER, Project


def write(path: Path, cwd: Path) -> dict[str, Any]:
    said = call("claude-write", cwd)
    return {**said, "tool_input": {**said["tool_input"], "file_path": str(path)}}


@pytest.mark.requirement("GRD-035")
@pytest.mark.parametrize("place", ["root", "other"])
def test_after_git_clean_every_edit_is_held_back_with_the_reason(
    project: Project, place: str
) -> None:
    """In the worktree that held it, and in one that only shares it."""
    project.reserve(CRANE, "a.txt")
    assert project.git("clean", "-xfd", "--quiet").code == 0
    assert not (project.root / ".moot").exists(), "git removes what is ignored"
    folder = getattr(project, place)
    for agent in (OTTER, None):
        said = reason(project.hook("claude", write(folder / "src" / "x.txt", folder), agent))
        assert "[workspace_gone]" in said
        assert str(project.root / ".moot") in said
        assert "restore .moot from a backup" in said
        assert f"moot ledger forget {project.root}" in said


def test_an_edit_from_elsewhere_is_held_back_too(project: Project, tmp_path: Path) -> None:
    shutil.rmtree(project.root / ".moot")
    said = write(project.root / "a.txt", tmp_path)
    assert "[workspace_gone]" in reason(project.hook("claude", said))
    outside = write(tmp_path / "notes.txt", tmp_path)
    assert project.hook("claude", outside) == Reply()


def test_a_commit_of_an_agent_is_refused_and_a_persons_passes_with_a_warning(
    project: Project,
) -> None:
    shutil.rmtree(project.root / ".moot")
    agent = check_commit({**project.env, "MOOT_AGENT": OTTER}, str(project.root))
    assert (agent.code, "[workspace_gone]" in agent.err) == (1, True)
    person = check_commit(project.env, str(project.root))
    assert (person.code, "[workspace_gone]" in person.err) == (0, True)


def test_other_moments_stop_nothing_and_the_start_says_it(project: Project) -> None:
    shutil.rmtree(project.root / ".moot")
    started = project.hook("claude", call("claude-start", project.root))
    assert (started.out, started.code, "[workspace_gone]" in started.err) == ("", 0, True)
    for name in ("bash-done", "write-done", "stop", "end"):
        reply = project.hook("claude", call(f"claude-{name}", project.root))
        assert (reply.out, reply.code) == ("", 0)


def run(project: Project, command: str) -> Reply:
    said = call("claude-bash", project.root, tool_input={"command": command})
    return project.hook("claude", said)


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
def test_a_shell_command_that_writes_is_held_back_as_an_edit_is(
    project: Project, command: str
) -> None:
    project.reserve(CRANE, "a.txt")
    before = (project.root / "a.txt").read_bytes()
    shutil.rmtree(project.root / ".moot")
    assert "[workspace_gone]" in reason(run(project, command))
    assert (project.root / "a.txt").read_bytes() == before


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
def test_what_writes_nothing_there_or_puts_it_back_passes(project: Project, command: str) -> None:
    shutil.rmtree(project.root / ".moot")
    assert run(project, command) == Reply()


@pytest.mark.requirement("GRD-035")
def test_what_is_put_back_or_made_again_or_forgotten_is_no_longer_gone(project: Project) -> None:
    kept = project.root.with_name("kept")
    (project.root / ".moot").rename(kept)
    assert "[workspace_gone]" in reason(
        project.hook("claude", write(project.root / "a.txt", project.root))
    )
    kept.rename(project.root / ".moot")
    assert project.hook("claude", write(project.root / "a.txt", project.root)).out == ""
    shutil.rmtree(project.root / ".moot")
    project.ok("ledger", "forget", str(project.root))
    assert project.hook("claude", write(project.root / "a.txt", project.root)) == Reply()
    project.ok("init")
    assert "agent_not_found" in reason(
        project.hook("claude", write(project.root / "a.txt", project.root))
    )


def test_a_key_folder_remembers_where_its_agent_joined(project: Project) -> None:
    (project.keys / FILE).unlink()
    assert project.hook("claude", call("claude-start", project.root), None).code == 0
    shutil.rmtree(project.root / ".moot")
    assert "[workspace_gone]" in reason(
        project.hook("claude", write(project.root / "a", project.root))
    )


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
def test_an_empty_moot_folder_below_leads_nobody_away(project: Project, content: str) -> None:
    project.reserve(CRANE, "src")
    (project.root / "src" / ".moot").mkdir(parents=True)
    if content:
        (project.root / "src" / ".moot" / content).write_text("x", encoding="utf-8")
    said = reason(
        project.hook("claude", write(project.root / "src" / "x.txt", project.root / "src"))
    )
    assert "src/x.txt is held by teal-crane as part of src" in said
    assert project.ok("status", cwd=project.root / "src")["workspace"] == str(
        project.root / ".moot"
    )


@pytest.mark.parametrize("part", ["trust.json", "ledger.db"])
def test_half_a_workspace_below_is_refused_and_not_passed_over(project: Project, part: str) -> None:
    (project.root / "src" / ".moot").mkdir(parents=True)
    (project.root / "src" / ".moot" / part).write_bytes(b"")
    said = reason(project.hook("claude", write(project.root / "src" / "x.txt", project.root)))
    assert said.startswith("moot: refused, because it cannot be checked: [")


@pytest.fixture
def inner(project: Project) -> Path:
    """Another repository with a workspace of its own, inside of the project."""
    folder = project.root / "lib" / "inner"
    folder.mkdir(parents=True)
    assert project.git("init", "--quiet", cwd=folder).code == 0
    project.ok("init", cwd=folder)
    project.ok("agent", "register", OTTER, cwd=folder)
    return folder


def test_a_workspace_inside_of_another_asks_both(project: Project, inner: Path) -> None:
    project.reserve(CRANE, "lib")
    said = reason(project.hook("claude", write(inner / "x.txt", inner)))
    assert "lib/inner/x.txt is held by teal-crane as part of lib" in said
    assert project.owners() == {"lib": CRANE}


def test_an_agent_of_both_reserves_in_both(project: Project, inner: Path) -> None:
    assert project.hook("claude", write(inner / "x.txt", inner)).out == ""
    assert project.owners() == {"lib/inner/x.txt": OTTER}
    held = project.ok("scope", "list", cwd=inner)["reservations"]
    assert [(row["scope"], row["owner"]) for row in held] == [("x.txt", OTTER)]


def test_an_agent_of_the_inner_one_alone_leaves_alone_what_is_held_outside(
    project: Project, inner: Path
) -> None:
    project.ok("agent", "register", "slate-heron", cwd=inner)
    assert project.hook("claude", write(inner / "x.txt", inner), "slate-heron").out == ""
    assert project.owners() == {}
    project.reserve(CRANE, "lib/inner/y.txt")
    said = reason(project.hook("claude", write(inner / "y.txt", inner), "slate-heron"))
    assert "lib/inner/y.txt is held by teal-crane" in said


def test_an_agent_of_the_outer_one_alone_does_not_write_in_the_inner(
    project: Project, inner: Path
) -> None:
    said = reason(project.hook("claude", write(inner / "x.txt", inner), CRANE))
    assert "[agent_not_found]" in said
    assert project.owners() == {}
