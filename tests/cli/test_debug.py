"""MOOT_DEBUG=1: what was opened, locked, decided and committed, told on standard error alone."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from moot.system.debug import DebugLines
from tests.project import MOOT, Project

SECRET = "a sentence that only its reader may see"
LINE = re.compile(r"moot\[\d+\] +\d+\.\d ms +\+\d+\.\d  (?P<verb>[a-z]+) +(?P<detail>\S.*)\n?")


def told(err: str) -> list[tuple[str, str]]:
    """Verb and detail of each line; a line of any other form fails."""
    matches = [LINE.fullmatch(line) for line in err.splitlines()]
    assert None not in matches, err
    return [(match["verb"], match["detail"]) for match in matches if match is not None]


def test_a_command_tells_what_it_opened_locked_decided_and_committed(project: Project) -> None:
    words = ("--json", "reserve", "src", "--agent", "amber-otter")
    done = project.spawn(*words, MOOT_DEBUG="1")
    lines = told(done.err)
    verbs = [verb for verb, _ in lines]
    assert verbs[:3] == ["open", "wait", "lock"]
    assert verbs.index("lock") < verbs.index("decide") < verbs.index("append")
    assert verbs.index("append") < verbs.index("commit")
    assert ("open", f"{project.root / '.moot' / 'ledger.db'} to write") in lines
    assert ("decide", "presence Reserve: presence.scope_reserved") in lines
    assert ("append", "presence#0") in lines
    assert any(verb == "sign" and detail.startswith("checkpoint ") for verb, detail in lines)


def test_standard_output_is_the_same_with_and_without_it(project: Project) -> None:
    words = ("--json", "ledger", "log", "registry")
    plain, debugged = project.spawn(*words), project.spawn(*words, MOOT_DEBUG="1")
    assert (plain.out, plain.code) == (debugged.out, debugged.code)
    assert plain.err == ""
    assert [verb for verb, _ in told(debugged.err)] == ["open"]


def test_a_refusal_is_told_by_its_code_and_nothing_of_what_was_written(project: Project) -> None:
    project.ok("reserve", "src", "--agent", "amber-otter")
    refused = project.spawn("--json", "reserve", "src", "--agent", "teal-crane", MOOT_DEBUG="1")
    line = "presence Reserve: refused, reservation_conflict, presence.incursion_noted"
    assert ("decide", line) in told(refused.err)
    words = ("--json", "--as", "amber-otter", "blocked", "teal-crane", "--work", "W-1")
    texts = ("--subject", SECRET, "--blocker", SECRET, "--requested-action", SECRET)
    spoken = project.spawn(*words, *texts, MOOT_DEBUG="1")
    assert spoken.code == 0, spoken
    assert told(spoken.err)
    assert SECRET not in spoken.err


def test_a_hook_tells_it_too_and_answers_as_without_it(project: Project) -> None:
    call = {
        "session_id": "s-1",
        "cwd": str(project.root),
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": str(project.root / "a.py")},
    }

    def answer(**settings: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [*MOOT, "hook", "claude"],
            cwd=project.root,
            env={**project.env, "MOOT_AGENT": "amber-otter", **settings},
            input=json.dumps(call),
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )
        return done.returncode, done.stdout, done.stderr

    code, out, err = answer(MOOT_DEBUG="1")
    assert ("open", f"{project.root / '.moot' / 'ledger.db'} to write") in told(err)
    assert answer()[:2] == (code, out)


def test_nothing_of_it_is_loaded_where_nobody_asked(project: Project) -> None:
    program = (
        "import sys, moot.workspace.workspace; print([m for m in sys.modules if 'debug' in m])"
    )
    done = subprocess.run(
        [MOOT[0], "-c", program], env=project.env, capture_output=True, check=True, timeout=60
    )
    assert done.stdout.strip() == b"[]"


def test_a_reader_that_has_gone_stops_no_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = (tmp_path / "log").open("w")
    gone.close()
    monkeypatch.setattr("sys.stderr", gone)
    DebugLines()("open", "ledger.db")
    monkeypatch.setattr("sys.stderr", None)
    DebugLines()("open", "ledger.db")
    assert (tmp_path / "log").read_text() == ""
