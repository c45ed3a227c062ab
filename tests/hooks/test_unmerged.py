"""A file that was changed elsewhere and is not merged here: the model is told, once, or stopped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import Join, Release
from moot.workspace.file_versions import Act, FileVersion, FileVersions
from tests.hooks.test_before import modules_after
from tests.hooks.yard import CRANE, OTTER, Yard, call, reason, told

TOLD = "moot: a.txt was changed on branch feature at "


def commit(yard: Yard, folder: Path, text: str, name: str = "a.txt") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    assert yard.git("add", name, cwd=folder).code == 0
    assert yard.git("commit", "--quiet", "--message=change", cwd=folder).code == 0
    return yard.git("rev-parse", "HEAD", cwd=folder).out.strip()


def edit(yard: Yard, **more: str) -> str:
    """What the model is told before Claude writes a.txt in the main worktree."""
    reply = yard.hook("claude", call("claude-write", yard.root), **more)
    return told(reply) if reply.out else ""


def test_a_commit_on_another_worktree_is_told_before_the_edit(yard: Yard) -> None:
    made = commit(yard, yard.other, "two\n")
    text = edit(yard)
    assert text.startswith(TOLD)
    assert f"(commit {made[:12]} by a), which is not in main." in text
    assert yard.owners() == {"a.txt": OTTER}
    assert yard.events("INCURSION") == []


def test_it_is_told_once_for_each_session_and_version(yard: Yard) -> None:
    commit(yard, yard.other, "two\n")
    assert edit(yard)
    assert edit(yard) == ""
    again = call("claude-write", yard.root, session_id="another")
    assert TOLD in told(yard.hook("claude", again))
    commit(yard, yard.other, "three\n")
    assert edit(yard)


@pytest.mark.parametrize("tool", ["gemini", "opencode"])
def test_a_tool_that_takes_no_text_before_an_edit_is_told_after_it(yard: Yard, tool: str) -> None:
    commit(yard, yard.other, "two\n")
    names = {"gemini": "gemini-replace", "opencode": "opencode-edit"}
    assert yard.hook(tool, call(names[tool], yard.root)).out == ""
    (yard.root / "a.txt").write_text("mine\n", encoding="utf-8")
    assert TOLD in told(yard.hook(tool, call(f"{names[tool]}-done", yard.root)))
    assert yard.hook(tool, call(f"{names[tool]}-done", yard.root)).out == ""


def test_codex_is_told_before_its_patch(yard: Yard) -> None:
    commit(yard, yard.other, "two\n", "a.txt")
    patch = "*** Begin Patch\n*** Update File: a.txt\n-one\n+mine\n*** End Patch"
    asked = call("codex-patch", yard.root, tool_input={"command": patch})
    reply = yard.hook("codex", asked)
    assert TOLD in told(reply)
    assert json.loads(reply.out)["hookSpecificOutput"]["hookEventName"] == "PreToolUse"


def test_what_is_merged_is_not_told(yard: Yard) -> None:
    commit(yard, yard.other, "two\n")
    assert yard.git("merge", "--quiet", "feature").code == 0
    commit(yard, yard.root, "three\n")
    assert edit(yard) == ""  # the other worktree only lacks what we have


def test_what_was_taken_back_there_is_not_told(yard: Yard) -> None:
    commit(yard, yard.other, "two\n")
    commit(yard, yard.other, "one\n")
    commit(yard, yard.root, "ours\n")
    assert edit(yard) == ""


def test_the_same_change_on_both_sides_is_not_told(yard: Yard) -> None:
    commit(yard, yard.other, "two\n")
    commit(yard, yard.root, "two\n")
    assert edit(yard) == ""


def test_a_change_of_another_file_there_is_not_told(yard: Yard) -> None:
    commit(yard, yard.other, "two\n", "b.txt")
    assert edit(yard) == ""


def test_a_deletion_there_is_told(yard: Yard) -> None:
    assert yard.git("rm", "--quiet", "a.txt", cwd=yard.other).code == 0
    assert yard.git("commit", "--quiet", "--message=gone", cwd=yard.other).code == 0
    assert "a.txt was deleted on branch feature" in edit(yard)


def test_bytes_that_are_not_committed_there_are_told(yard: Yard) -> None:
    (yard.other / "a.txt").write_text("two\n", encoding="utf-8")
    text = edit(yard)
    assert f"a.txt has changes in {yard.other} (branch feature) that are not committed" in text


def test_who_left_them_is_named_if_that_is_remembered(yard: Yard) -> None:
    from moot.system.git_objects import blob_id

    (yard.other / "a.txt").write_text("two\n", encoding="utf-8")
    join = Join(project_root=str(yard.root), worktree=str(yard.other), branch="feature")
    yard.execute(CRANE, join, stream=STREAM)
    assert "; there work or worked teal-crane." in edit(yard)
    left = FileVersion(str(yard.other), "a.txt", Act.LEFT, CRANE, "s", 1, blob_id(b"two\n"))
    with FileVersions(yard.root / ".moot") as versions:
        versions.note([left])
    text = told(yard.hook("claude", call("claude-write", yard.root, session_id="another")))
    assert "made by teal-crane at " in text


def test_what_git_ignores_there_is_not_told(yard: Yard) -> None:
    (yard.root / ".git" / "info").mkdir(exist_ok=True)
    (yard.root / ".git" / "info" / "exclude").write_text("*.env\n.moot\n", encoding="utf-8")
    (yard.other / "my.env").write_text("secret\n", encoding="utf-8")
    assert yard.hook("claude", call("claude-write", yard.root, "my.env")).out == ""
    (yard.other / "new.txt").write_text("not ignored\n", encoding="utf-8")
    assert "new.txt has changes in" in told(
        yard.hook("claude", call("claude-write", yard.root, "new.txt"))
    )


def test_other_line_ends_or_a_filter_are_no_change(yard: Yard) -> None:
    (yard.other / "a.txt").write_bytes(b"one\r\n")
    assert edit(yard) == ""
    assert yard.git("config", "filter.shout.clean", "tr A-Z a-z").code == 0
    info = yard.root / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("a.txt filter=shout\n", encoding="utf-8")
    (yard.other / "a.txt").write_bytes(b"ONE\n")
    assert edit(yard) == ""


def test_a_branch_that_an_agent_worked_on_counts_without_a_worktree(yard: Yard) -> None:
    commit(yard, yard.other, "two\n")
    assert yard.git("worktree", "remove", "--force", str(yard.other)).code == 0
    assert edit(yard) == ""  # nobody here is known to have worked on it
    join = Join(project_root=str(yard.root), branch="feature")
    yard.execute(CRANE, join, stream=STREAM)
    assert TOLD in edit(yard)
    assert yard.git("pack-refs", "--all").code == 0
    assert TOLD in told(yard.hook("claude", call("claude-write", yard.root, session_id="another")))


def test_a_worktree_without_a_branch_is_told_by_its_commit(yard: Yard) -> None:
    assert yard.git("checkout", "--quiet", "--detach", cwd=yard.other).code == 0
    made = commit(yard, yard.other, "two\n")
    assert f"a.txt was changed at commit {made}" in edit(yard)


def test_nothing_is_loaded_for_it_while_all_is_the_same(yard: Yard) -> None:
    commit(yard, yard.root, "two\n", "b.txt")
    assert yard.git("merge", "--quiet", "main", cwd=yard.other).code == 0
    loaded = modules_after(yard, "claude-write")
    assert "moot.flows.guard.elsewhere" in loaded
    assert not loaded & {"subprocess", "tomllib", "moot.flows.guard.other_versions"}


# As a rule that blocks.


def settings(yard: Yard, text: str) -> None:
    (yard.root / "moot.toml").write_text(text, encoding="utf-8")


def test_the_repository_may_make_it_a_refusal(yard: Yard) -> None:
    settings(yard, '[protect]\nunmerged = "block"\n')
    commit(yard, yard.other, "two\n")
    for _ in range(2):  # as long as it is so
        text = reason(yard.hook("claude", call("claude-write", yard.root)))
        assert "moot: held back: [unmerged_changes] a.txt was changed on branch feature" in text
        assert "merge that first" in text
    assert yard.owners() == {}
    assert yard.events("INCURSION") == []
    assert yard.git("merge", "--quiet", "feature").code == 0
    assert edit(yard) == ""
    assert yard.owners() == {"a.txt": OTTER}


def test_a_holder_is_the_greater_reason(yard: Yard) -> None:
    settings(yard, '[protect]\nunmerged = "block"\n')
    commit(yard, yard.other, "two\n")
    yard.reserve(CRANE, "a.txt")
    text = reason(yard.hook("claude", call("claude-write", yard.root)))
    assert "a.txt is held by teal-crane" in text
    assert len(yard.events("INCURSION")) == 1
    root = str(yard.root)
    release = Release(scopes=("a.txt",), project_root=root, worktree=root)
    yard.execute(CRANE, release, stream=STREAM)
    assert "unmerged_changes" in reason(yard.hook("claude", call("claude-write", yard.root)))


def test_the_user_may_make_it_a_refusal_and_the_repository_cannot_undo_it(
    yard: Yard, tmp_path: Path
) -> None:
    own = tmp_path / "own.toml"
    own.write_text('protect.unmerged = "block"\n', encoding="utf-8")
    settings(yard, '[protect]\nunmerged = "tell"\n')
    commit(yard, yard.other, "two\n")
    reply = yard.hook("claude", call("claude-write", yard.root), MOOT_CONFIG=str(own))
    assert "unmerged_changes" in reason(reply)


def test_a_half_written_file_makes_every_rule_strict_and_says_so(yard: Yard) -> None:
    settings(yard, "[protect\nunmer")
    assert edit(yard) == ""  # the guard is on, and there is nothing to tell
    commit(yard, yard.other, "two\n")
    text = reason(yard.hook("claude", call("claude-write", yard.root)))
    assert "[unmerged_changes]" in text
    assert "The strictest settings count, because" in text
    assert "moot.toml cannot be read" in text


def test_no_agent_writes_the_settings(yard: Yard) -> None:
    for name in ("moot.toml", "MOOT.toml"):
        text = reason(yard.hook("claude", call("claude-write", yard.root, name)))
        assert "[not_for_agents]" in text
        assert "ask the person you work for" in text
    assert yard.hook("claude", call("claude-write", yard.root, "docs/moot.toml")).out == ""
    assert yard.owners() == {"docs/moot.toml": OTTER}


def test_the_doctor_names_a_bad_setting(yard: Yard) -> None:
    settings(yard, '[protect]\nunmergd = "block"\n')
    said = yard.run("--json", "ledger", "doctor")
    found = [row for row in said.data["findings"] if row["code"] == "bad_setting"]
    assert [row["hint"] for row in found] == ["did you mean protect.unmerged?"]
