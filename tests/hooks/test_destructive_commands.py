"""Before a shell command: others' uncommitted work is not destroyed, and nothing else is stopped.

Each case really runs the hook; what was allowed is then really done, by a real shell.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from moot.surfaces.hooks.entry import Reply
from moot.system.git_objects import blob_id
from moot.workspace.file_versions import Act, FileVersion, FileVersions
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, IDENTITY, OTTER, Project

WORK = "the holder's work\n"


@pytest.fixture
def shared(project: Project) -> Project:
    """One worktree, a.txt held and changed by the crane, b.txt by the otter; both are tracked."""
    for name in ("b.txt", "c.txt"):
        (project.root / name).write_text("one\n", encoding="utf-8")
    (project.root / "sub").mkdir()
    (project.root / "sub" / "d.txt").write_text("one\n", encoding="utf-8")
    assert project.git("add", "b.txt", "c.txt", "sub").code == 0
    assert project.git("commit", "--quiet", "--message=more").code == 0
    for agent, name in ((CRANE, "a.txt"), (OTTER, "b.txt")):
        assert project.hook("claude", call("claude-write", project.root, name), agent) == Reply()
        (project.root / name).write_text(WORK, encoding="utf-8")
    return project


def asks(
    project: Project, command: str, cwd: Path | None = None, agent: str | None = OTTER
) -> Reply:
    """The hook's answer to a shell call."""
    said = call("claude-bash", cwd or project.root, tool_input={"command": command})
    return project.hook("claude", said, agent)


def does(project: Project, command: str, cwd: Path | None = None) -> int:
    """Really do it."""
    env = {**project.env, **IDENTITY}
    folder = cwd or project.root
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


@pytest.mark.requirement("GRD-013")
@pytest.mark.parametrize("command", THE_FIVE)
def test_the_commonest_accidents_are_held_back(shared: Project, command: str) -> None:
    said = reason(asks(shared, command))
    assert "a.txt: held by teal-crane (active, last seen" in said
    assert "would discard uncommitted work" in said
    assert "moot event blocked --from amber-otter --to teal-crane --scope :/a.txt --subject" in said
    assert (shared.root / "a.txt").read_text("utf-8") == WORK
    (noted,) = shared.events("INCURSION")
    assert (noted["from_agent"], noted["to_agent"]) == (OTTER, CRANE)
    hint = noted["payload"]["resolution_hint"]
    assert hint == f"{CRANE} is at work there: work elsewhere, or ask {CRANE}", (
        "nothing was changed"
    )
    (row,) = shared.ok("event", "list")["events"]
    assert row["label"] == "Refused"
    assert reason(asks(shared, command))
    assert len(shared.events("INCURSION")) == 1


@pytest.mark.parametrize("words", [["rm", "a.txt"], ["bash", "-lc", "cd . && rm a.txt"]])
def test_a_command_that_is_sent_as_a_list_of_words_is_held_back(
    shared: Project, words: list[str]
) -> None:
    sent = call("claude-bash", shared.root, tool_input={"command": words})
    assert CRANE in reason(shared.hook("claude", sent, OTTER))
    assert (shared.root / "a.txt").exists()


@pytest.mark.parametrize("command", THE_FIVE)
def test_the_holder_itself_may(shared: Project, command: str) -> None:
    shared.reserve(CRANE, "c.txt")
    assert does(shared, "git checkout -- b.txt") == 0
    assert asks(shared, command, agent=CRANE) == Reply()
    assert does(shared, command) == 0
    assert shared.events("INCURSION") == []


@pytest.mark.parametrize(
    ("command", "safer"),
    [
        ("git checkout -- .", "git restore -- b.txt"),
        ("git restore .", "git restore -- b.txt"),
        ("git reset --hard", "git restore -- b.txt"),
        ("git stash", "git stash push -- b.txt"),
        ("git add -A && git commit -m x", "git commit -- b.txt"),
        ("git commit -am x", "git commit -- b.txt"),
    ],
)
def test_the_safer_command_reaches_the_agents_own_files_alone(
    shared: Project, command: str, safer: str
) -> None:
    said = reason(asks(shared, command))
    assert f"For your own files only: `{safer}`." in said
    assert asks(shared, safer) == Reply()
    assert does(shared, f"{safer.replace('commit', 'commit -m x')}") == 0
    assert (shared.root / "a.txt").read_text("utf-8") == WORK


def test_what_a_holder_has_committed_may_be_put_back(shared: Project) -> None:
    """Git has all of it: nothing would be lost."""
    assert shared.git("commit", "-q", "-m", "done", "--", "a.txt").code == 0
    assert asks(shared, "git checkout -- .") == Reply()


def test_other_bytes_in_another_worktree_are_not_the_holders(shared: Project) -> None:
    """The crane holds a.txt, but it works on it elsewhere. Writing it is refused all the same."""
    assert asks(shared, "git checkout -- .", shared.other) == Reply()
    assert "teal-crane" in reason(asks(shared, "echo x > a.txt", shared.other))
    assert "teal-crane" in reason(asks(shared, f"cd {shared.root} && git stash", shared.other))


def test_a_holder_that_is_gone_is_told_as_gone(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", tmp_path / "keys", MOOT_CLOCK="2026-02-18T16:00:00Z")
    project.root.mkdir()
    project.git("init", "--quiet")
    project.ok("init")
    for agent in (OTTER, CRANE):
        project.ok("agent", "register", agent)
    assert project.hook("claude", call("claude-write", project.root), CRANE) == Reply()
    said = call("claude-bash", project.root, tool_input={"command": "rm a.txt"})
    late = project.hook("claude", said, OTTER, MOOT_CLOCK="2026-02-18T17:00:00Z")
    assert "a.txt: held by teal-crane (evicted" in reason(late)


def test_a_session_nobody_knows_is_held_back_and_nobody_is_blamed(shared: Project) -> None:
    assert "held by" in reason(asks(shared, "git checkout -- .", agent=None))
    assert asks(shared, "git status", agent=None) == Reply()
    assert shared.events("INCURSION") == []


# A person's edits.


@pytest.mark.requirement("GRD-014")
def test_a_persons_work_is_not_thrown_away(shared: Project) -> None:
    (shared.root / "c.txt").write_text("a person's\n", encoding="utf-8")
    for command in ("git checkout -- c.txt", "git restore c.txt", "git reset --hard", "git stash"):
        said = reason(asks(shared, command))
        assert "c.txt: changed by a person or by someone unknown" in said
    only = reason(asks(shared, "git checkout -- c.txt"))
    assert "held by" not in only
    assert (shared.root / "c.txt").read_text("utf-8") == "a person's\n"


def test_an_untracked_file_of_a_person_is_not_cleaned_away(shared: Project) -> None:
    (shared.root / "draft").mkdir()
    (shared.root / "draft" / "idea.md").write_text("an idea\n", encoding="utf-8")
    assert "draft/idea.md: changed by a person" in reason(asks(shared, "git clean -fd"))
    assert asks(shared, "git clean -f") == Reply()
    assert does(shared, "git clean -f") == 0
    assert (shared.root / "draft" / "idea.md").exists()


def note(project: Project, act: Act, path: str, agent: str, content: bytes) -> None:
    with FileVersions(project.root / ".moot") as versions:
        blob = blob_id(content)
        versions.note([FileVersion(str(project.root), path, act, agent, "s", 1, blob)])


@pytest.mark.parametrize("act", [Act.LEFT, Act.READ])
def test_what_the_agent_left_or_read_as_it_is_may_go(shared: Project, act: Act) -> None:
    (shared.root / "c.txt").write_text("mine\n", encoding="utf-8")
    note(shared, act, "c.txt", CRANE, b"mine\n")
    assert "c.txt" in reason(asks(shared, "git checkout -- c.txt"))
    note(shared, act, "c.txt", OTTER, b"mine\n")
    assert asks(shared, "git checkout -- c.txt") == Reply()
    (shared.root / "c.txt").write_text("a person's\n", encoding="utf-8")
    assert "c.txt" in reason(asks(shared, "git checkout -- c.txt"))


def test_a_persons_edit_of_what_the_agent_holds_is_told_once(shared: Project) -> None:
    note(shared, Act.LEFT, "b.txt", OTTER, WORK.encode())
    assert asks(shared, "git checkout -- b.txt") == Reply()
    (shared.root / "b.txt").write_text(WORK + "and a person's\n", encoding="utf-8")
    said = reason(asks(shared, "git checkout -- b.txt"))
    assert "changed since you last saw it" in said
    assert asks(shared, "git checkout -- b.txt") == Reply()
    (shared.root / "b.txt").write_text("again\n", encoding="utf-8")
    assert "changed since" in reason(asks(shared, "git checkout -- b.txt"))


# What cannot be understood.


@pytest.mark.requirement("GRD-015")
@pytest.mark.parametrize(
    "command",
    [
        'cd "$WHERE" && rm x.txt',
        'cd "$WHERE" && git checkout -- .',
        "cd $(cat place) && echo hi > a.txt",
        "test -d x || cd y; rm a.txt",
        'rm "$TOP/a.txt"',
        'echo hi > "${HERE:-.}/a.txt"',
        "git checkout -- $FILES",
        "cd sub-* && rm x",
    ],
)
def test_what_is_not_understood_and_may_reach_what_is_held_is_held_back(
    shared: Project, command: str
) -> None:
    assert "teal-crane" in reason(asks(shared, command))


@pytest.mark.parametrize(
    "command",
    [
        'rm "$TMP_FILE"',
        'rm "$TOP/other.txt"',
        'cd "$WHERE" && ls > /dev/null',
        'cd "$X"; cat a.txt',
    ],
)
def test_what_is_not_understood_and_names_nothing_that_is_held_may_run(
    shared: Project, command: str
) -> None:
    assert asks(shared, command) == Reply()


def test_with_nobody_else_here_nothing_is_in_the_way(project: Project) -> None:
    for command in ('cd "$X" && rm a.txt', "git reset --hard", "rm -rf sub", "echo x > a.txt"):
        assert asks(project, command) == Reply()


# The record, git's own files, whole worktrees.


@pytest.mark.requirement("GRD-017")
@pytest.mark.parametrize(
    "command",
    [
        "git clean -xfd",
        "rm -rf .moot",
        "rm .moot/ledger.db",
        "rm -rf .git",
        "mv .moot x",
        "git stash -a",
        "echo x > .moot/trust.json",
        "find . -delete",
    ],
)
def test_the_record_is_not_removed(project: Project, command: str) -> None:
    said = reason(asks(project, command))
    assert "not_for_agents" in said
    assert (project.root / ".moot" / "ledger.db").exists()


def test_git_clean_that_leaves_the_record_out_may_run(project: Project) -> None:
    assert asks(project, "git clean -xfd -e .moot") == Reply()
    assert does(project, "git clean -xfd -e .moot") == 0
    assert (project.root / ".moot" / "ledger.db").exists()


def test_a_lock_that_git_left_behind_may_be_removed(project: Project) -> None:
    assert asks(project, "rm -f .git/index.lock") == Reply()


def test_a_worktree_in_which_another_works_is_not_removed(project: Project) -> None:
    assert project.hook("claude", call("claude-write", project.other), CRANE) == Reply()
    (project.other / "a.txt").write_text(WORK, encoding="utf-8")
    for command in ("git worktree remove", "git worktree remove --force", "rm -rf"):
        assert "teal-crane" in reason(asks(project, f"{command} {project.other}")), command


def test_a_persons_work_in_a_worktree_is_not_removed_with_it(project: Project) -> None:
    (project.other / "a.txt").write_text("a person's\n", encoding="utf-8")
    assert "a.txt: changed by" in reason(asks(project, f"git worktree remove -f {project.other}"))
    plain = f"git worktree remove {project.other}"
    assert asks(project, plain) == Reply(), "git refuses it by itself"
    assert does(project, plain) != 0


def test_a_worktree_of_ones_own_may_be_removed(shared: Project) -> None:
    assert asks(shared, f"rm -rf {shared.other}") == Reply()
    assert asks(shared, f"git worktree remove --force {shared.other}") == Reply()


# Trouble.


def test_a_destructive_command_that_cannot_be_checked_is_held_back(shared: Project) -> None:
    shared.ledger.write_bytes(b"")
    assert "cannot be checked" in reason(asks(shared, "git checkout -- ."))
    assert asks(shared, "ls") == Reply()


def test_outside_of_a_workspace_nothing_is_said(shared: Project, tmp_path: Path) -> None:
    shared.ledger.write_bytes(b"")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for command in ("git checkout -- .", "rm -rf *", 'cd "$X" && rm y', "echo > x"):
        assert asks(shared, command, elsewhere) == Reply()


FORCED = (
    "git switch -f feature",
    "git switch --discard-changes -c topic feature",
    "git checkout -f feature",
    "git checkout -fB topic feature",
    "git reset -q --hard feature",
    "git read-tree -u --reset feature",
)


@pytest.fixture
def branched(shared: Project) -> Project:
    """On `feature`, in the other worktree, c.txt has another line, and there is an n.txt."""
    assert shared.git("merge", "--quiet", "main", cwd=shared.other).code == 0
    for name in ("c.txt", "n.txt"):
        (shared.other / name).write_text("two\n", encoding="utf-8")
    for words in (("add", "."), ("commit", "--quiet", "--message=two"), ("checkout", "--detach")):
        assert shared.git(*words, cwd=shared.other).code == 0
    shared.ok("release", "--all", MOOT_AGENT=CRANE)
    assert shared.git("checkout", "--quiet", "--", "a.txt").code == 0
    return shared


@pytest.mark.parametrize("command", FORCED)
def test_a_held_file_that_another_commit_has_otherwise_is_not_replaced(
    branched: Project, command: str
) -> None:
    """It is as committed, so git has it; but its holder would find another version there."""
    branched.reserve(CRANE, "c.txt")
    said = reason(asks(branched, command))
    assert f"c.txt: held by {CRANE}" in said
    assert "would overwrite or remove files that others work on" in said
    assert [noted["scope"] for noted in branched.events("INCURSION")] == ["c.txt"]
    assert does(branched, command) == 0
    assert (branched.root / "c.txt").read_text("utf-8") == "two\n", "it would have been"


@pytest.mark.parametrize("command", FORCED)
def test_an_untracked_file_that_another_commit_would_write_over_is_not_lost(
    branched: Project, command: str
) -> None:
    """A person's, and then a holder's."""
    (branched.root / "n.txt").write_text(WORK, encoding="utf-8")
    assert "n.txt: changed by a person" in reason(asks(branched, command))
    branched.reserve(CRANE, "n.txt")
    assert f"n.txt: held by {CRANE}" in reason(asks(branched, command))
    assert [noted["scope"] for noted in branched.events("INCURSION")] == ["n.txt"]
    if "--discard-changes" not in command:  # of that, some versions of git make an exception
        assert does(branched, command) == 0
        assert (branched.root / "n.txt").read_text("utf-8") == "two\n", "it would have been"


def is_no_files_way(reply: Reply, command: str) -> bool:
    """No file is in its way; a move to another branch is refused because the crane is at work."""
    if any(word in command for word in ("feature", "topic")) and "git re" not in command:
        return f"would move HEAD under {CRANE}" in reason(reply)
    return reply == Reply()


@pytest.mark.parametrize("command", [*FORCED, "git switch -f nowhere", "git switch -f -"])
def test_what_another_commit_leaves_as_it_is_is_in_nobodys_way(
    branched: Project, command: str
) -> None:
    branched.reserve(CRANE, "sub/d.txt")
    edited = call("claude-write", branched.other, "c.txt")
    assert branched.hook("claude", edited, CRANE).code == 0, "held in the other worktree"
    assert is_no_files_way(asks(branched, command), command)
    assert branched.events("INCURSION") == []


@pytest.mark.parametrize("command", ["git reset -q --hard", "git switch -f main", "git stash"])
def test_what_is_only_staged_and_gone_from_the_disk_is_in_nobodys_way(
    branched: Project, command: str
) -> None:
    """Nothing on the disk would change; the bytes are among git's objects."""
    assert branched.hook("claude", call("claude-write", branched.root, "x.txt"), CRANE) == Reply()
    (branched.root / "x.txt").write_text(WORK, encoding="utf-8")
    assert branched.git("add", "x.txt").code == 0
    (branched.root / "x.txt").unlink()
    assert asks(branched, command) == Reply()
    assert branched.events("INCURSION") == []


@pytest.mark.parametrize("command", FORCED)
def test_a_file_that_is_gone_and_not_in_the_other_commit_is_in_nobodys_way(
    branched: Project, command: str
) -> None:
    """Its holder has removed it. One that the other commit has would be brought back."""
    assert branched.git("rm", "--quiet", "sub/d.txt", cwd=branched.other).code == 0
    assert branched.git("commit", "--quiet", "--message=three", cwd=branched.other).code == 0
    assert branched.git("branch", "--force", "feature", "HEAD", cwd=branched.other).code == 0
    for name in ("sub/d.txt", "a.txt"):
        branched.reserve(CRANE, name)
    (branched.root / "sub/d.txt").unlink()
    assert is_no_files_way(asks(branched, command), command)
    assert branched.events("INCURSION") == []
    (branched.root / "a.txt").unlink()
    assert f"a.txt: held by {CRANE}" in reason(asks(branched, command))
    assert [noted["scope"] for noted in branched.events("INCURSION")] == ["a.txt"]


def test_what_git_itself_refuses_as_a_whole_is_in_nobodys_way(branched: Project) -> None:
    """A staged file was changed again: `git reset --merge` does nothing then."""
    for name in ("a.txt", "sub/d.txt"):
        branched.reserve(CRANE, name)
        (branched.root / name).write_text(WORK, encoding="utf-8")
    assert branched.git("add", "a.txt", "sub/d.txt").code == 0
    assert f"a.txt, sub/d.txt: held by {CRANE}" in reason(asks(branched, "git reset --merge"))
    (branched.root / "sub/d.txt").write_text("more work\n", encoding="utf-8")
    commands = ("git reset --merge", "git add a.txt; git reset --merge")
    for command in commands:
        assert asks(branched, command) == Reply()
        assert does(branched, command) != 0
    assert (branched.root / "a.txt").read_text("utf-8") == WORK
    for command in ("git add sub/d.txt; git reset --merge", "git add -A; git reset --merge"):
        assert CRANE in reason(asks(branched, command)), "now it is staged as it is"
    assert does(branched, "git add sub/d.txt; git reset --merge") == 0
    assert (branched.root / "a.txt").read_text("utf-8") == "one\n"


def test_a_lone_agent_goes_to_another_branch_as_it_likes(project: Project) -> None:
    assert project.git("branch", "--force", "aside", "HEAD").code == 0
    assert project.hook("claude", call("claude-write", project.root, "a.txt"), OTTER) == Reply()
    for command in ("git switch aside", "git checkout -b topic", "git reset --soft aside"):
        assert asks(project, command) == Reply()


def test_an_agent_of_another_worktree_is_not_in_the_way_of_a_switch(project: Project) -> None:
    assert project.git("branch", "--force", "aside", "HEAD").code == 0
    edited = call("claude-write", project.other, "c.txt")
    assert project.hook("claude", edited, CRANE).code == 0
    assert asks(project, "git switch aside") == Reply()


def test_an_agent_that_has_left_is_not_in_the_way_of_a_switch(shared: Project) -> None:
    assert shared.git("branch", "aside").code == 0
    assert CRANE in reason(asks(shared, "git switch aside"))
    shared.ok("release", "--all", MOOT_AGENT=CRANE)
    shared.ok("agent", "retire", CRANE)
    assert asks(shared, "git switch aside") == Reply()


@pytest.mark.parametrize("option", ["--assume-unchanged", "--skip-worktree"])
def test_a_held_file_is_not_hidden_from_git(shared: Project, option: str) -> None:
    said = reason(asks(shared, f"git update-index {option} a.txt"))
    assert "git update-index would make git ignore changes in files that others work on:" in said
    assert f"a.txt: held by {CRANE}" in said
    assert asks(shared, f"git update-index {option} b.txt") == Reply()
    assert asks(shared, "git update-index --refresh") == Reply()
    assert asks(shared, "git update-index --no-assume-unchanged a.txt") == Reply()


@pytest.mark.parametrize("option", ["--assume-unchanged", "--skip-worktree"])
def test_the_commit_of_a_hidden_file_that_another_holds_is_seen(
    shared: Project, option: str
) -> None:
    """`git status` does not list it, even if another agent told git so."""
    assert shared.git("update-index", option, "a.txt").code == 0
    assert shared.git("status", "--short").out.count("a.txt") == 0
    said = reason(asks(shared, "git commit -qm x a.txt"))
    assert f"would commit files that others work on: a.txt: held by {CRANE}" in said
    assert asks(shared, "git commit -qm x -- b.txt") == Reply()
