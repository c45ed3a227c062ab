"""A file that was changed elsewhere and is not merged here: the model is told, once, or stopped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import Join, Release
from moot.workspace.file_versions import Act, FileVersion, FileVersions
from tests.hooks.test_before_edit import modules_after
from tests.hooks.tool_calls import call, reason, told
from tests.project import CRANE, OTTER, Project

TOLD = "moot: a.txt was changed on branch feature at "


def commit(project: Project, folder: Path, text: str, name: str = "a.txt") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    assert project.git("add", name, cwd=folder).code == 0
    assert project.git("commit", "--quiet", "--message=change", cwd=folder).code == 0
    return project.git("rev-parse", "HEAD", cwd=folder).out.strip()


def edit(project: Project, **more: str) -> str:
    """What the model is told before Claude writes a.txt in the main worktree."""
    reply = project.hook("claude", call("claude-write", project.root), **more)
    return told(reply) if reply.out else ""


@pytest.mark.requirement("GRD-038")
def test_a_commit_on_another_worktree_is_told_before_the_edit(project: Project) -> None:
    made = commit(project, project.other, "two\n")
    text = edit(project)
    assert text.startswith(TOLD)
    assert f"(commit {made[:12]} by a), which is not in main." in text
    assert project.owners() == {"a.txt": OTTER}
    assert project.events("INCURSION") == []


def test_it_is_told_once_for_each_session_and_version(project: Project) -> None:
    commit(project, project.other, "two\n")
    assert edit(project)
    assert edit(project) == ""
    again = call("claude-write", project.root, session_id="another")
    assert TOLD in told(project.hook("claude", again))
    commit(project, project.other, "three\n")
    assert edit(project)


@pytest.mark.parametrize("tool", ["gemini", "opencode"])
def test_a_tool_that_takes_no_text_before_an_edit_is_told_after_it(
    project: Project, tool: str
) -> None:
    commit(project, project.other, "two\n")
    names = {"gemini": "gemini-replace", "opencode": "opencode-edit"}
    assert project.hook(tool, call(names[tool], project.root)).out == ""
    (project.root / "a.txt").write_text("mine\n", encoding="utf-8")
    assert TOLD in told(project.hook(tool, call(f"{names[tool]}-done", project.root)))
    assert project.hook(tool, call(f"{names[tool]}-done", project.root)).out == ""


def test_codex_is_told_before_its_patch(project: Project) -> None:
    commit(project, project.other, "two\n", "a.txt")
    patch = "*** Begin Patch\n*** Update File: a.txt\n-one\n+mine\n*** End Patch"
    asked = call("codex-patch", project.root, tool_input={"command": patch})
    reply = project.hook("codex", asked)
    assert TOLD in told(reply)
    assert json.loads(reply.out)["hookSpecificOutput"]["hookEventName"] == "PreToolUse"


def test_what_is_merged_is_not_told(project: Project) -> None:
    commit(project, project.other, "two\n")
    assert project.git("merge", "--quiet", "feature").code == 0
    commit(project, project.root, "three\n")
    assert edit(project) == ""  # the other worktree only lacks what we have


def test_what_was_taken_back_there_is_not_told(project: Project) -> None:
    commit(project, project.other, "two\n")
    commit(project, project.other, "one\n")
    commit(project, project.root, "ours\n")
    assert edit(project) == ""


def test_the_same_change_on_both_sides_is_not_told(project: Project) -> None:
    commit(project, project.other, "two\n")
    commit(project, project.root, "two\n")
    assert edit(project) == ""


def test_a_change_of_another_file_there_is_not_told(project: Project) -> None:
    commit(project, project.other, "two\n", "b.txt")
    assert edit(project) == ""


def test_a_deletion_there_is_told(project: Project) -> None:
    assert project.git("rm", "--quiet", "a.txt", cwd=project.other).code == 0
    assert project.git("commit", "--quiet", "--message=gone", cwd=project.other).code == 0
    assert "a.txt was deleted on branch feature" in edit(project)


def test_bytes_that_are_not_committed_there_are_told(project: Project) -> None:
    (project.other / "a.txt").write_text("two\n", encoding="utf-8")
    text = edit(project)
    assert f"a.txt has changes in {project.other} (branch feature) that are not committed" in text


def test_who_left_them_is_named_if_that_is_remembered(project: Project) -> None:
    from moot.system.git_objects import blob_id

    (project.other / "a.txt").write_text("two\n", encoding="utf-8")
    join = Join(project_root=str(project.root), worktree=str(project.other), branch="feature")
    project.execute(CRANE, join, stream=STREAM)
    assert "; teal-crane worked there." in edit(project)
    left = FileVersion(str(project.other), "a.txt", Act.LEFT, CRANE, "s", 1, blob_id(b"two\n"))
    with FileVersions(project.root / ".moot") as versions:
        versions.note([left])
    text = told(project.hook("claude", call("claude-write", project.root, session_id="another")))
    assert "made by teal-crane at " in text


def test_what_git_ignores_there_is_not_told(project: Project) -> None:
    (project.root / ".git" / "info").mkdir(exist_ok=True)
    (project.root / ".git" / "info" / "exclude").write_text("*.env\n.moot\n", encoding="utf-8")
    (project.other / "my.env").write_text("secret\n", encoding="utf-8")
    assert project.hook("claude", call("claude-write", project.root, "my.env")).out == ""
    (project.other / "new.txt").write_text("not ignored\n", encoding="utf-8")
    assert "new.txt has changes in" in told(
        project.hook("claude", call("claude-write", project.root, "new.txt"))
    )


def test_other_line_ends_or_a_filter_are_no_change(project: Project) -> None:
    (project.other / "a.txt").write_bytes(b"one\r\n")
    assert edit(project) == ""
    assert project.git("config", "filter.shout.clean", "tr A-Z a-z").code == 0
    info = project.root / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("a.txt filter=shout\n", encoding="utf-8")
    (project.other / "a.txt").write_bytes(b"ONE\n")
    assert edit(project) == ""


def test_a_branch_that_an_agent_worked_on_counts_without_a_worktree(project: Project) -> None:
    commit(project, project.other, "two\n")
    assert project.git("worktree", "remove", "--force", str(project.other)).code == 0
    assert edit(project) == ""  # nobody here is known to have worked on it
    join = Join(project_root=str(project.root), branch="feature")
    project.execute(CRANE, join, stream=STREAM)
    assert TOLD in edit(project)
    assert project.git("pack-refs", "--all").code == 0
    assert TOLD in told(
        project.hook("claude", call("claude-write", project.root, session_id="another"))
    )


def test_a_worktree_without_a_branch_is_told_by_its_commit(project: Project) -> None:
    assert project.git("checkout", "--quiet", "--detach", cwd=project.other).code == 0
    made = commit(project, project.other, "two\n")
    assert f"a.txt was changed at commit {made}" in edit(project)


def test_nothing_is_loaded_for_it_while_all_is_the_same(project: Project) -> None:
    commit(project, project.root, "two\n", "b.txt")
    assert project.git("merge", "--quiet", "main", cwd=project.other).code == 0
    loaded = modules_after(project, "claude-write")
    assert "moot.api.guard.other_places" in loaded
    assert not loaded & {"subprocess", "tomllib", "moot.api.guard.other_versions"}


# As a rule that blocks.


def settings(project: Project, text: str) -> None:
    (project.root / "moot.toml").write_text(text, encoding="utf-8")


def test_the_repository_may_make_it_a_refusal(project: Project) -> None:
    settings(project, '[protect]\nunmerged = "block"\n')
    commit(project, project.other, "two\n")
    for _ in range(2):  # as long as it is so
        text = reason(project.hook("claude", call("claude-write", project.root)))
        assert "moot: refused: [unmerged_changes] a.txt was changed on branch feature" in text
        assert "merge it first" in text
    assert project.owners() == {}
    assert project.events("INCURSION") == []
    assert project.git("merge", "--quiet", "feature").code == 0
    assert edit(project) == ""
    assert project.owners() == {"a.txt": OTTER}


def test_a_holder_is_the_greater_reason(project: Project) -> None:
    settings(project, '[protect]\nunmerged = "block"\n')
    commit(project, project.other, "two\n")
    project.reserve(CRANE, "a.txt")
    text = reason(project.hook("claude", call("claude-write", project.root)))
    assert "a.txt is held by teal-crane" in text
    assert len(project.events("INCURSION")) == 1
    root = str(project.root)
    release = Release(scopes=("a.txt",), project_root=root, worktree=root)
    project.execute(CRANE, release, stream=STREAM)
    assert "unmerged_changes" in reason(project.hook("claude", call("claude-write", project.root)))


def test_the_user_may_make_it_a_refusal_and_the_repository_cannot_undo_it(
    project: Project, tmp_path: Path
) -> None:
    own = tmp_path / "own.toml"
    own.write_text('protect.unmerged = "block"\n', encoding="utf-8")
    settings(project, '[protect]\nunmerged = "tell"\n')
    commit(project, project.other, "two\n")
    reply = project.hook("claude", call("claude-write", project.root), MOOT_CONFIG=str(own))
    assert "unmerged_changes" in reason(reply)


def test_a_half_written_file_makes_every_rule_strict_and_says_so(project: Project) -> None:
    settings(project, "[protect\nunmer")
    assert edit(project) == ""  # the guard is on, and there is nothing to tell
    commit(project, project.other, "two\n")
    text = reason(project.hook("claude", call("claude-write", project.root)))
    assert "[unmerged_changes]" in text
    assert "The strictest settings apply, because" in text
    assert "moot.toml cannot be read" in text


def test_no_agent_writes_the_settings(project: Project) -> None:
    for name in ("moot.toml", "MOOT.toml"):
        text = reason(project.hook("claude", call("claude-write", project.root, name)))
        assert "[not_for_agents]" in text
        assert "ask the person you work for" in text
    assert project.hook("claude", call("claude-write", project.root, "docs/moot.toml")).out == ""
    assert project.owners() == {"docs/moot.toml": OTTER}


def test_the_doctor_names_a_bad_setting(project: Project) -> None:
    settings(project, '[protect]\nunmergd = "block"\n')
    said = project.run("--json", "ledger", "doctor")
    found = [row for row in said.data["findings"] if row["code"] == "bad_setting"]
    assert [row["hint"] for row in found] == ["did you mean protect.unmerged?"]
