"""Before a commit: people are warned, agents are stopped."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hooks.yard import CRANE, OTTER, Yard, call


@pytest.fixture
def on_path(yard: Yard, tmp_path: Path) -> Yard:
    """The real hook, installed; `moot` on PATH is this one."""
    import sys

    folder = tmp_path / "bin"
    folder.mkdir()
    moot = folder / "moot"
    moot.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m moot "$@"\n', encoding="utf-8")
    moot.chmod(0o755)
    yard.env["PATH"] = f"{folder}:{yard.env['PATH']}"
    yard.ok("hook", "install", "git")
    yard.reserve(CRANE, "a.txt")
    (yard.other / "a.txt").write_text("two\n", encoding="utf-8")
    assert yard.git("add", "a.txt", cwd=yard.other).code == 0
    return yard


def commit(yard: Yard, **settings: str) -> tuple[int, str]:
    done = yard.git("commit", "--quiet", "--message=more", cwd=yard.other, **settings)
    return done.code, done.err


def test_an_agent_may_not_commit_what_another_holds(on_path: Yard) -> None:
    code, err = commit(on_path, MOOT_AGENT=OTTER)
    assert code == 1
    assert "a.txt is held by teal-crane" in err
    assert "Nothing was committed" in err
    (noted,) = on_path.events("INCURSION")
    assert noted["from_agent"] == OTTER


def test_a_person_is_warned_and_commits(on_path: Yard) -> None:
    code, err = commit(on_path)
    assert code == 0
    assert "a.txt is held by teal-crane" in err
    assert on_path.events("INCURSION") == []


def test_the_holder_commits_in_silence(on_path: Yard) -> None:
    assert commit(on_path, MOOT_AGENT=CRANE) == (0, "")


def test_an_agent_known_by_its_session_is_stopped_too(on_path: Yard) -> None:
    on_path.hook("claude", call("claude-start", on_path.other), None)
    code, err = commit(on_path, CLAUDE_CODE_SESSION_ID="6f64d8c2-0001")
    assert code == 1
    assert "Nothing was committed" in err


def test_a_damaged_workspace_stops_agents_and_warns_people(on_path: Yard) -> None:
    on_path.ledger.write_bytes(b"")
    code, err = commit(on_path, MOOT_AGENT=OTTER)
    assert (code, "cannot be checked" in err) == (1, True)
    code, err = commit(on_path)
    assert (code, "cannot be checked" in err) == (0, True)


@pytest.fixture
def busy(on_path: Yard) -> Iterator[Yard]:
    """Another process holds the ledger's lock for as long as the test takes."""
    on_path.hook("claude", call("claude-start", on_path.other), None)
    db = sqlite3.connect(on_path.ledger, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    yield on_path
    db.close()


def test_while_the_ledger_is_busy_an_agent_known_by_its_session_is_stopped(busy: Yard) -> None:
    before = busy.git("rev-parse", "HEAD", cwd=busy.other).out
    session = {"CLAUDE_CODE_SESSION_ID": "6f64d8c2-0001", "MOOT_HOOK_SECONDS": "0.5"}
    code, err = commit(busy, **session)
    assert (code, "[check_too_late]" in err) == (1, True)
    assert busy.git("rev-parse", "HEAD", cwd=busy.other).out == before


def test_while_the_ledger_is_busy_a_person_is_warned_and_commits(busy: Yard) -> None:
    code, err = commit(busy, MOOT_HOOK_SECONDS="0.5")
    assert code == 0
    assert "a.txt is held by teal-crane" in err or "[check_too_late]" in err


def test_a_session_that_cannot_be_looked_up_is_an_agents_all_the_same(on_path: Yard) -> None:
    on_path.ledger.write_bytes(b"")
    code, err = commit(on_path, CODEX_THREAD_ID="01a1dd17")
    assert (code, "cannot be checked" in err) == (1, True)


def test_without_moot_people_commit_and_agents_do_not(on_path: Yard) -> None:
    bare = {"PATH": "/usr/bin:/bin"}
    assert commit(on_path, MOOT_AGENT=OTTER, **bare)[0] == 1
    assert commit(on_path, CLAUDE_CODE_SESSION_ID="6f64d8c2-0001", **bare)[0] == 1
    assert commit(on_path, **bare) == (0, "")
