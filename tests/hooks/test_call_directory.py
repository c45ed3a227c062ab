"""Trouble is judged by where the call is about, not by where the hook's process stands."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moot.surfaces.hooks import entry
from moot.surfaces.hooks.call import MAX_BYTES
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, OTTER, Project


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder that no workspace guards."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


def late_answer(project: Project, here: Path, said: dict[str, Any]) -> entry.Reply:
    """The installed command, started in `here`, while another process holds the ledger."""
    db = sqlite3.connect(project.ledger, isolation_level=None)
    try:
        db.execute("BEGIN IMMEDIATE")
        done = subprocess.run(
            [sys.executable, "-P", "-m", "moot", "hook", "claude"],
            cwd=here,
            env={**project.env, "MOOT_AGENT": OTTER, "MOOT_HOOK_SECONDS": "0.5"},
            input=json.dumps(said).encode(),
            capture_output=True,
            timeout=60,
            check=False,
        )
    finally:
        db.close()
    return entry.Reply(done.stdout.decode().strip(), done.stderr.decode(), done.returncode)


def test_a_busy_ledger_holds_an_edit_back_although_the_tool_stands_elsewhere(
    project: Project, elsewhere: Path
) -> None:
    project.reserve(CRANE, "b.txt")
    by_its_folder = late_answer(project, elsewhere, call("claude-write", project.root))
    assert "took too long" in reason(by_its_folder)
    by_its_file = call("claude-write", project.root, cwd=str(elsewhere))
    assert "took too long" in reason(late_answer(project, elsewhere, by_its_file))
    assert project.owners() == {"b.txt": CRANE}


def test_input_that_is_too_long_is_refused_wherever_the_process_stands(elsewhere: Path) -> None:
    reply = entry.answer("claude", b" " * (MAX_BYTES + 1), {}, str(elsewhere))
    assert (reply.out, reply.code) == ("", entry.UNREADABLE)
    assert "more than" in reply.err


def test_input_that_never_ends_is_refused_wherever_the_process_stands(
    project: Project, elsewhere: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "moot", "hook", "claude"],
        cwd=elsewhere,
        env={**project.env, "MOOT_HOOK_SECONDS": "0.5"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.wait(timeout=60) == entry.UNREADABLE
        assert child.stderr is not None
        assert b"took too long" in child.stderr.read()


def test_an_edit_of_a_newer_shape_is_judged_by_the_folder_it_names(
    project: Project, elsewhere: Path
) -> None:
    said = call("claude-write", project.root, tool_input={"file": "a.txt"})
    data = json.dumps(said).encode()
    inside = entry.answer("claude", data, project.env, str(elsewhere))
    assert "no readable file_path" in reason(inside)
    said["cwd"] = str(elsewhere)
    outside = entry.answer("claude", json.dumps(said).encode(), project.env, str(elsewhere))
    assert outside == entry.Reply()
