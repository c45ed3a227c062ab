"""Before a commit: people are warned, agents are stopped."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.api.hook_setup import git_hook
from tests.hooks.tool_calls import call
from tests.project import CRANE, OTTER, Project


@pytest.fixture
def on_path(project: Project, tmp_path: Path) -> Project:
    """The real hook, installed; `moot` on PATH is this one."""
    import sys

    folder = tmp_path / "bin"
    folder.mkdir()
    moot = folder / "moot"
    moot.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m moot "$@"\n', encoding="utf-8")
    moot.chmod(0o755)
    project.env["PATH"] = f"{folder}:{project.env['PATH']}"
    project.ok("hook", "install", "git")
    project.reserve(CRANE, "a.txt")
    (project.other / "a.txt").write_text("two\n", encoding="utf-8")
    assert project.git("add", "a.txt", cwd=project.other).code == 0
    return project


def commit(project: Project, **settings: str) -> tuple[int, str]:
    done = project.git("commit", "--quiet", "--message=more", cwd=project.other, **settings)
    return done.code, done.err


@pytest.mark.requirement("GRD-041")
def test_an_agent_may_not_commit_what_another_holds(on_path: Project) -> None:
    code, err = commit(on_path, MOOT_AGENT=OTTER)
    assert code == 1
    assert "a.txt is held by teal-crane" in err
    assert "Nothing was committed" in err
    (noted,) = on_path.events("INCURSION")
    assert noted["from_agent"] == OTTER
    assert noted["payload"]["resolution_hint"].startswith(f"{CRANE} is at work there")


@pytest.mark.requirement("GRD-041")
def test_a_person_is_warned_and_commits(on_path: Project) -> None:
    code, err = commit(on_path)
    assert code == 0
    assert "a.txt is held by teal-crane" in err
    assert on_path.events("INCURSION") == []


def test_the_holder_commits_in_silence(on_path: Project) -> None:
    assert commit(on_path, MOOT_AGENT=CRANE) == (0, "")


def test_an_agent_known_by_its_session_is_stopped_too(on_path: Project) -> None:
    on_path.hook("claude", call("claude-start", on_path.other), None)
    code, err = commit(on_path, CLAUDE_CODE_SESSION_ID="6f64d8c2-0001")
    assert code == 1
    assert "Nothing was committed" in err


def test_a_damaged_workspace_stops_agents_and_warns_people(on_path: Project) -> None:
    on_path.ledger.write_bytes(b"")
    code, err = commit(on_path, MOOT_AGENT=OTTER)
    assert (code, "cannot be checked" in err) == (1, True)
    code, err = commit(on_path)
    assert (code, "cannot be checked" in err) == (0, True)


@pytest.fixture
def busy(on_path: Project) -> Iterator[Project]:
    """Another process holds the ledger's lock for as long as the test takes."""
    on_path.hook("claude", call("claude-start", on_path.other), None)
    db = sqlite3.connect(on_path.ledger, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    yield on_path
    db.close()


def test_while_the_ledger_is_busy_an_agent_known_by_its_session_is_stopped(busy: Project) -> None:
    before = busy.git("rev-parse", "HEAD", cwd=busy.other).out
    session = {"CLAUDE_CODE_SESSION_ID": "6f64d8c2-0001", "MOOT_HOOK_SECONDS": "0.5"}
    code, err = commit(busy, **session)
    assert (code, "[check_too_late]" in err) == (1, True)
    assert busy.git("rev-parse", "HEAD", cwd=busy.other).out == before


def test_while_the_ledger_is_busy_a_person_is_warned_and_commits(busy: Project) -> None:
    code, err = commit(busy, MOOT_HOOK_SECONDS="0.5")
    assert code == 0
    assert "a.txt is held by teal-crane" in err or "[check_too_late]" in err


def test_a_session_that_cannot_be_looked_up_is_an_agents_all_the_same(on_path: Project) -> None:
    on_path.ledger.write_bytes(b"")
    code, err = commit(on_path, CODEX_THREAD_ID="01a1dd17")
    assert (code, "cannot be checked" in err) == (1, True)


def test_without_moot_people_commit_and_agents_do_not(
    on_path: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path.ok("hook", "uninstall", "git", "--all")
    monkeypatch.setattr(git_hook, "moot_words", lambda: ("/gone/away/moot",))
    on_path.ok("hook", "install", "git")
    bare = {"PATH": "/usr/bin:/bin"}
    assert commit(on_path, MOOT_AGENT=OTTER, **bare)[0] == 1
    assert commit(on_path, CLAUDE_CODE_SESSION_ID="6f64d8c2-0001", **bare)[0] == 1
    assert commit(on_path, **bare) == (0, "")


def test_a_session_that_cannot_be_checked_is_stopped(on_path: Project) -> None:
    """A process in a tool's shell is an agent, even if its name is unknown."""
    on_path.ledger.write_bytes(b"")
    code, err = commit(on_path, CODEX_SESSION_ID="6f64d8c2-0001")
    assert (code, "cannot be checked" in err) == (1, True)


# Merge, cherry-pick, revert, rebase.


@pytest.fixture
def branches(on_path: Project) -> Project:
    """The crane holds a.txt; `topic` changes it, and `feature` (in the other worktree) does not."""
    assert on_path.git("reset", "-q", "--hard", cwd=on_path.other).code == 0
    commit_file(on_path, "b.txt", "feature")
    start = ("checkout", "-q", "-b", "topic", "main")
    assert on_path.git(*start, cwd=on_path.other).code == 0
    commit_file(on_path, "a.txt", "topic")
    assert on_path.git("checkout", "-q", "feature", cwd=on_path.other).code == 0
    return on_path


def commit_file(project: Project, name: str, text: str) -> None:
    (project.other / name).write_text(f"{text}\n", encoding="utf-8")
    assert project.git("add", name, cwd=project.other).code == 0
    words = ("commit", "-q", "--no-verify", "-m", text)
    assert project.git(*words, cwd=project.other).code == 0


def head(project: Project) -> str:
    return project.git("rev-parse", "HEAD", cwd=project.other).out


STOPPED = {
    "merge": ("merge", "--no-edit", "topic"),
    "cherry-pick": ("cherry-pick", "topic"),
    "rebase": ("rebase", "topic"),
}


@pytest.mark.requirement("GRD-041")
@pytest.mark.parametrize("words", STOPPED.values(), ids=STOPPED)
def test_an_agent_may_not_bring_in_what_another_holds(
    branches: Project, words: tuple[str, ...]
) -> None:
    before = head(branches)
    done = branches.git(*words, cwd=branches.other, MOOT_AGENT=OTTER)
    assert done.code != 0
    assert "a.txt is held by teal-crane" in done.err
    assert head(branches) == before
    (noted,) = branches.events("INCURSION")
    assert noted["from_agent"] == OTTER


@pytest.mark.parametrize("words", STOPPED.values(), ids=STOPPED)
def test_a_person_is_warned_and_brings_it_in(branches: Project, words: tuple[str, ...]) -> None:
    before = head(branches)
    done = branches.git(*words, cwd=branches.other)
    assert done.code == 0
    assert "a.txt is held by teal-crane" in done.err
    assert head(branches) != before


def test_a_revert_of_what_another_holds_is_stopped(branches: Project) -> None:
    assert branches.git("checkout", "-q", "topic", cwd=branches.other).code == 0
    before = head(branches)
    words = ("revert", "--no-edit", "HEAD")
    done = branches.git(*words, cwd=branches.other, MOOT_AGENT=OTTER)
    assert (done.code != 0, head(branches)) == (True, before)
    assert "a.txt is held by teal-crane" in done.err


def test_a_merge_that_only_moves_forward_is_noted(branches: Project) -> None:
    """Git asks nobody beforehand."""
    assert branches.git("checkout", "-q", "-b", "old", "main", cwd=branches.other).code == 0
    done = branches.git("merge", "topic", cwd=branches.other, MOOT_AGENT=OTTER)
    assert done.code == 0
    assert "this changed files that others hold" in done.err
    assert len(branches.events("INCURSION")) == 1


def test_a_commit_without_verification_stays_possible(on_path: Project) -> None:
    words = ("commit", "-q", "--no-verify", "-m", "all the same")
    assert on_path.git(*words, cwd=on_path.other, MOOT_AGENT=OTTER).code == 0


def test_hooks_that_were_there_run_first_and_come_back(branches: Project) -> None:
    hooks = branches.root / ".git" / "hooks"
    branches.ok("hook", "uninstall", "git", "--all")
    assert not [file.name for file in hooks.iterdir() if file.suffix != ".sample"]
    own = "#!/bin/sh\necho the old one >&2\nexit 7\n"
    (hooks / "pre-merge-commit").write_text(own, encoding="utf-8")
    (hooks / "pre-merge-commit").chmod(0o755)
    branches.ok("hook", "install", "git")
    done = branches.git("merge", "--no-edit", "topic", cwd=branches.other, MOOT_AGENT=OTTER)
    assert (done.code != 0, "the old one" in done.err) == (True, True)
    branches.ok("hook", "uninstall", "git", "--all")
    assert (hooks / "pre-merge-commit").read_text("utf-8") == own
    assert [file.name for file in hooks.iterdir() if file.suffix != ".sample"] == [
        "pre-merge-commit"
    ]
