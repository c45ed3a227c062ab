"""Going on with what an earlier session left: after a crash, without a person, and with one."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import on_a_terminal
from tests.cli.test_presence import as_, held, labels
from tests.project import MOOT, Project

PYTHON = sys.executable


@pytest.fixture
def project(bare: Project) -> Project:
    bare.init_git()
    bare.init()
    return bare


def unfinished(project: Project, path: str) -> None:
    file = project.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("unfinished")


def beads(project: Project, *lines: dict[str, str]) -> Path:
    file = project.root / ".beads" / "issues.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def resumed(project: Project) -> list[tuple[str, str | None]]:
    rows = project.ok("event", "list")["events"]
    return [(row["text"], row["work"]) for row in rows if row["kind"] == "RESUME"]


def test_a_run_that_was_killed_can_be_gone_on_with(project: Project) -> None:
    """Nobody released anything: the lock ends with the process, the dirty file is the evidence."""
    script = "print('ready', flush=True); import signal; signal.pause()"
    words = ("run", "--name", "amber-otter", "--reserve", "src/*", "--", PYTHON, "-c", script)
    running = subprocess.Popen(
        [*MOOT, *words],
        cwd=project.root,
        env=project.env,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    unfinished(project, "src/a.py")
    assert project.refused("join", "--adopt", "amber-otter") == ("agent_alive", 1)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait(60)
    running.stdout.close()
    assert held(project) == [("src/*", "amber-otter")]
    assert project.refused("join", "--non-interactive") == ("decision_required", 1)
    data = project.ok("join", "--adopt", "amber-otter", "--non-interactive")
    assert data["event"]["payload"]["resume_reason"] == "uncommitted_scope"
    assert held(project) == [("src/*", "amber-otter")]
    assert project.ok(*as_("amber-otter", "release", "src/*"))["released"] == ["src/*"]
    assert project.run("verify").code == 0


@pytest.mark.requirement("OPR-012")
def test_a_person_names_the_scope_that_is_unfinished(project: Project) -> None:
    project.ok("join", "--register", "amber-otter")
    unfinished(project, "my work/a.py")
    shown = on_a_terminal(project, "join", "--adopt", "amber-otter", typed=["my work"])
    assert "you continue as amber-otter" in shown
    assert resumed(project) == [("uncommitted_scope", None)]


def test_a_person_names_the_work_item_that_is_unfinished(project: Project) -> None:
    project.ok("join", "--register", "amber-otter")
    item = {"id": "bb-9", "status": "in_progress", "assignee": "amber-otter"}
    beads(project, item)
    words = ("join", "--adopt", "amber-otter", "--scope", "src")
    assert project.refused(*words) == ("adoption_rejected", 1)
    shown = on_a_terminal(project, *words, typed=["bb-9"])
    assert "you continue as amber-otter" in shown
    assert resumed(project) == [("in_progress_ownership", "bb-9")]


@pytest.mark.parametrize("typed", ["", "docs", "src/**", "../out"])
def test_a_person_who_names_nothing_unfinished_gets_nothing(project: Project, typed: str) -> None:
    project.ok("join", "--register", "amber-otter")
    before = project.ok("agent", "show", "amber-otter")["kid"]
    shown = on_a_terminal(project, "join", "--adopt", "amber-otter", typed=[typed])
    assert "error" in shown
    assert "try:" in shown
    assert project.ok("agent", "show", "amber-otter")["kid"] == before
    assert labels(project) == []


@pytest.mark.parametrize(("typed", "adopted"), [("amber-otter", True), ("new", False)])
def test_a_person_chooses(project: Project, typed: str, adopted: bool) -> None:
    project.ok("join", "--register", "amber-otter", "--scope", "src/*")
    unfinished(project, "src/a.py")
    shown = on_a_terminal(project, "join", typed=[typed])
    assert "1 uncommitted file in the claimed scope: src/a.py" in shown
    assert (len(resumed(project)) == 1) is adopted


@pytest.mark.requirement("OPR-084")
@pytest.mark.requirement("OPR-098")
@pytest.mark.parametrize("stdin", ["closed", "empty"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--non-interactive",), "decision_required"),
        ((), "decision_required"),
        (("--adopt", "teal-crane"), "adoption_rejected"),
        (("--adopt", "amber-otter"), None),
        (("--register", "jade-heron"), None),
    ],
)
def test_nothing_is_asked_where_nobody_can_answer(
    project: Project, words: tuple[str, ...], code: str | None, stdin: str
) -> None:
    project.ok("join", "--register", "amber-otter", "--scope", "src/*")
    project.ok("join", "--register", "teal-crane")
    unfinished(project, "src/a.py")
    command = [*MOOT, "--json", "join", *words]
    closed = ["sh", "-c", 'exec "$@" <&-', "sh", *command]
    done = subprocess.run(
        closed if stdin == "closed" else command,
        cwd=project.root,
        env=project.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    said = json.loads(done.stdout)
    assert (said["error"] or {"code": None})["code"] == code
    assert done.returncode == (1 if code else 0)
    assert done.stderr == b""


@pytest.mark.requirement("OPR-002")
@pytest.mark.requirement("OPR-003")
@pytest.mark.requirement("OPR-004")
def test_work_items_are_read_and_never_written(project: Project, tmp_path: Path) -> None:
    """A day's work beside beads: their folder is as before, ours is elsewhere, and bd was asked
    for nothing but its list."""
    owned = {"id": "bb-9", "status": "in_progress", "assignee": "amber-otter"}
    file = beads(project, owned)
    log, program = tmp_path / "asked", tmp_path / "bin" / "bd"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec sed "s/.*/[&]/" {file}\n')
    program.chmod(0o755)
    project.env["PATH"] = f"{program.parent}{os.pathsep}{project.env['PATH']}"

    def seen() -> list[tuple[str, int, str]]:
        files = sorted(file.parent.rglob("*"))
        return [
            (str(one), one.stat().st_mtime_ns, hashlib.sha256(one.read_bytes()).hexdigest())
            for one in files
        ]

    before = seen()
    project.ok("join", "--register", "amber-otter", "--scope", "src", "--work", "bb-9")
    project.ok("join", "--register", "teal-crane")
    said = ("--subject", "s", "--summary", "s", "--next-action", "n", "--bead", "bb-9")
    sent = project.ok(*as_("amber-otter", "handoff", "teal-crane", "--scope", "src", *said))
    project.ok(*as_("teal-crane", "event", "accept", sent["event"]["id"]))
    project.ok("agent", "heartbeat", "--agent", "teal-crane")
    project.ok("join", "--adopt", "amber-otter")
    project.ok(*as_("teal-crane", "release", "--all"))
    project.ok("status")
    assert seen() == before
    assert set(log.read_text().splitlines()) == {"list --json"}
    assert (project.root / ".moot" / "ledger.db").is_file()
