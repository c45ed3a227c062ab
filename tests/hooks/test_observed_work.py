"""Work that nobody planned is watched: what was used, on which files; and when nobody watched."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from moot.api.observed.sessions import MOST_BYTES_STORED
from tests.hooks.fake_tools import MOOT, put_program
from tests.hooks.tool_calls import call
from tests.project import CRANE, OTTER, Project

NOON = "2026-02-18T14:00:00Z"
SECRET = "ghp_" + "a1B2" * 9


def at(minute: int) -> dict[str, str]:
    return {"MOOT_CLOCK": f"2026-02-18T14:{minute:02d}:00Z"}


@pytest.fixture
def watched(bare: Project) -> Project:
    """A repository at 14:00 on a test clock, with two agents."""
    bare.env["MOOT_CLOCK"] = NOON
    bare.init_git("a.txt")
    bare.init(OTTER, CRANE)
    return bare


def sessions(project: Project, **settings: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = project.ok("trace", "observed", **settings)["sessions"]
    return found


def use(project: Project, name: str = "claude-write-done", minute: int = 1, **more: Any) -> None:
    """One tool call that has ended."""
    reply = project.hook(
        name.partition("-")[0], call(name, project.root, **more), OTTER, **at(minute)
    )
    assert (reply.code, reply.err) == (0, "")


def kept(project: Project, place: int = -1) -> dict[str, Any]:
    """What was stored of one call."""
    with project.workspace() as space, space.store.read() as view:
        stream = sessions(project)[0]["id"]
        seen = [r.body.data for r in view.records(stream) if r.body.type.endswith("tool_observed")]
        data = b"".join(space.artifacts.chunks(seen[place]["artifact"]))
    return {**seen[place], "stored": data}


@pytest.mark.parametrize(
    ("name", "tool", "ok", "files"),
    [
        ("claude-write-done", "Write", True, ["a.txt"]),
        ("codex-patch-done", "apply_patch", None, ["a.txt"]),
        ("gemini-replace-done", "replace", None, ["a.txt"]),
        ("opencode-edit-done", "edit", True, ["a.txt"]),
    ],
)
def test_every_tools_calls_are_watched(
    watched: Project, name: str, tool: str, ok: bool | None, files: list[str]
) -> None:
    use(watched, name)
    (one,) = sessions(watched)
    assert (one["agent"], one["observed"], one["tools"]) == (OTTER, 1, {tool: 1})
    seen = kept(watched)
    assert (seen["tool"], seen["ok"], seen["files"]) == (tool, ok, files)
    said = call(name, watched.root)
    stored = json.loads(seen["stored"])
    assert stored["input"] == said["tool_input"]
    assert stored["response"] == said.get("tool_response")
    text = json.dumps(said["tool_input"], sort_keys=True, separators=(",", ":"))
    assert seen["input_hash"] == hashlib.sha256(text.encode()).hexdigest()


def test_of_a_shell_command_the_files_that_changed_are_found(watched: Project) -> None:
    asked = {"command": "make"}
    watched.hook("claude", call("claude-bash", watched.root, tool_input=asked), OTTER)
    (watched.root / "made.txt").write_text("x")
    (watched.root / "a.txt").write_text("two\n")
    use(watched, "claude-bash-done", tool_input=asked)
    assert kept(watched)["files"] == ["a.txt", "made.txt"]


def test_a_failed_call_is_told_as_one(watched: Project) -> None:
    said = call("claude-bash-done", watched.root, hook_event_name="PostToolUseFailure")
    del said["tool_response"]
    watched.hook("claude", {**said, "error": "exit 1"}, OTTER)
    seen = kept(watched)
    assert seen["ok"] is False
    assert json.loads(seen["stored"])["response"] == "exit 1"


def test_secrets_are_blotted_out_and_stand_nowhere(watched: Project) -> None:
    asked = {"command": f"curl -H 'Authorization: Bearer {SECRET}' example.org"}
    answer = {"stdout": f"token={SECRET}\n", "stderr": ""}
    use(watched, "claude-bash-done", tool_input=asked, tool_response=answer)
    seen = kept(watched)
    assert "github-token" in seen["redacted"] or "bearer" in seen["redacted"]
    assert SECRET.encode() not in seen["stored"]
    for path in (watched.root / ".moot").rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path


def test_a_quoted_secret_in_a_command_is_blotted_out(watched: Project) -> None:
    """Inside JSON its quotation marks have backslashes, which once hid the value."""
    asked = {"command": 'API_KEY="correct horse battery" make deploy'}
    use(watched, "claude-bash-done", tool_input=asked, tool_response={"stdout": "ok"})
    seen = kept(watched)
    assert (b"correct horse" in seen["stored"], seen["redacted"]) == (False, ["assignment"])
    stored = json.loads(seen["stored"])["input"]["command"]
    assert stored == "[redacted:assignment] make deploy"


def test_a_secret_in_a_file_name_is_blotted_out(watched: Project) -> None:
    use(watched, tool_input={"file_path": f"notes/{SECRET}.md", "content": "x"})
    assert kept(watched)["files"] == ["notes/[redacted:github-token].md"]


def test_a_very_long_answer_is_cut(watched: Project) -> None:
    use(watched, tool_response="x" * 3_000_000)
    assert len(kept(watched)["stored"]) == MOST_BYTES_STORED


@pytest.mark.parametrize(
    "more",
    [
        {"tool_response": {"deep": [1.5, None, True, "\ud800"]}},
        {"tool_input": {"file_path": "/elsewhere/\x00", "content": "x"}},
        {"tool_name": "", "tool_input": {}},
        {"tool_name": "x" * 5_000, "tool_input": {"a": 1.5}},
        {"session_id": "s" * 9_000},
    ],
)
def test_strange_calls_are_never_in_the_way(watched: Project, more: dict[str, Any]) -> None:
    said = json.dumps(call("claude-write-done", watched.root, **more)).encode()
    reply = watched.hook("claude", said)
    assert reply.code == 0
    assert reply.out == ""


def test_a_record_that_cannot_be_written_holds_nothing_up(watched: Project) -> None:
    folder = watched.root / ".moot" / "artifacts"
    folder.mkdir(exist_ok=True)
    folder.rename(folder.with_name("moved"))
    folder.write_text("in the way")
    use(watched)
    assert sessions(watched) == []


def test_governed_and_observed_are_counted_apart(watched: Project) -> None:
    for name in ("coral-finch", "slate-heron"):
        watched.ok("agent", "register", name)
    parts = ("--planner", CRANE, "--executor", OTTER, "--critic", "coral-finch")
    watched.ok("trace", "new", "--task", "t", *parts, "--auditor", "slate-heron")
    proposal = ("--objective", "o", "--tool", "echo", "--assume", "a", "--expect", "e")
    watched.ok("trace", "propose", "t1", *proposal)
    watched.ok("trace", "review", "t1", "p1", "--verdict", "approved", "--rationale", "r")
    watched.ok(
        *("trace", "intend", "t1", "p1", "--tool", "echo", "--risk", "low", "--why", "w"),
        *("--", "echo"),
    )
    watched.ok("trace", "exec", "t1", "i1")
    for minute in (1, 2, 3):
        use(watched, minute=minute)
    status = watched.ok("trace", "status", "t1", **at(5))
    assert status["counted"] == "governed 1, observed 3, gaps 0"
    report = watched.run("trace", "report", "t1", **at(5)).out
    assert "governed 1, observed 3, gaps 0." in report
    assert status["runs"] == {"completed": 1, "failed": 0}


# Gaps.


def test_a_hook_that_was_taken_away_is_a_gap(watched: Project) -> None:
    watched.ok("hook", "install", "claude")
    watched.hook("claude", call("claude-start", watched.root), OTTER, **at(0))
    use(watched, minute=1)
    watched.ok("hook", "uninstall", "claude", **at(2))
    assert watched.ok("trace", "observed", **at(10))["counted"] == (
        "observed 1, gaps 1 (hook off since 14:02)"
    )
    watched.ok("hook", "install", "claude", **at(15))
    use(watched, minute=20)
    found = watched.ok("trace", "observed", **at(30))
    assert found["counted"] == "observed 2, gaps 1 (hook off 14:02 to 14:20)"
    assert [gap["why"] for gap in found["sessions"][0]["gaps"]] == ["hook off"]


def test_another_tools_hook_is_no_gap(watched: Project) -> None:
    watched.ok("hook", "install", "codex")
    use(watched, minute=1)
    watched.ok("hook", "uninstall", "codex", **at(2))
    assert sessions(watched, **at(3))[0]["blind_since"] is None


def test_a_session_that_lived_on_without_its_hook_is_a_gap(watched: Project) -> None:
    """Its program showed signs of life, its hook said nothing, then it starts again."""
    watched.hook("claude", call("claude-start", watched.root), OTTER, **at(0))
    use(watched, minute=2)
    watched.ok("agent", "heartbeat", "--agent", OTTER, **at(12))
    again = call("claude-start", watched.root, source="resume")
    watched.hook("claude", again, OTTER, **at(20))
    assert watched.ok("trace", "observed", **at(21))["counted"] == (
        "observed 1, gaps 1 (hook off 14:02 to 14:20)"
    )


def test_a_session_that_slept_is_no_gap(watched: Project) -> None:
    watched.hook("claude", call("claude-start", watched.root), OTTER, **at(0))
    use(watched, minute=2)
    again = call("claude-start", watched.root, source="resume")
    watched.hook("claude", again, OTTER, **at(40))
    use(watched, minute=41)
    assert watched.ok("trace", "observed", **at(45))["counted"] == "observed 2, gaps 0"


def test_a_quiet_time_alone_is_no_gap(watched: Project) -> None:
    use(watched, minute=1)
    watched.ok("agent", "heartbeat", "--agent", OTTER, **at(30))
    use(watched, minute=45)
    assert watched.ok("trace", "observed", **at(46))["counted"] == "observed 2, gaps 0"


def test_a_session_that_ended_and_goes_on_has_a_second_part(watched: Project) -> None:
    start = call("claude-start", watched.root)
    name = watched.hook("claude", start, None, **at(0)).out.split()[2]
    said = call("claude-write-done", watched.root)
    watched.hook("claude", said, None, **at(1))
    watched.hook("claude", call("claude-end", watched.root), None, **at(2))
    watched.hook("claude", start, None, **at(10))
    watched.hook("claude", said, None, **at(11))
    found = sessions(watched, **at(12))
    assert [(one["agent"], one["observed"], one["ended"]) for one in found] == [
        (name, 1, True),
        (name, 1, False),
    ]
    assert all(one["gap_count"] == 0 for one in found)


def program(project: Project, body: str) -> str:
    """A stand-in for a coding tool on PATH; returns the folder."""
    folder = project.root.parent / "bin"
    folder.mkdir()
    file = folder / "claude"
    file.write_text(f"#!{sys.executable}\n{body}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    put_program(folder, "moot", MOOT)
    return f"{folder}:{os.environ['PATH']}"


def test_a_run_in_which_no_hook_spoke_is_no_gap(tmp_path: Path) -> None:
    """Nobody knows that it did anything: it shows no call, and changed nothing."""
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, tmp_path / "keys")
    project.ok("init")
    path = program(project, "print('worked')")
    done = project.spawn("run", "--name", "coral-finch", "--", "claude", PATH=path)
    assert done.code == 0, done
    assert sessions(project) == []
    assert project.ok("status")["unguarded"] == []


def test_a_run_whose_hook_spoke_is_closed_without_a_gap(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, tmp_path / "keys")
    project.ok("init")
    said = json.dumps(call("claude-write-done", root))
    hook = [sys.executable, "-P", "-m", "moot", "hook", "claude"]
    path = program(
        project, f"import subprocess; subprocess.run({hook!r}, input={said!r}, text=True)"
    )
    done = project.spawn("run", "--name", "coral-finch", "--", "claude", PATH=path)
    assert done.code == 0, done
    (one,) = sessions(project)
    assert (one["observed"], one["ended"], one["gap_count"]) == (1, True, 0)


def test_a_program_that_is_no_coding_tool_is_not_expected_to_speak(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, tmp_path / "keys")
    project.ok("init")
    project.spawn("run", "--name", "coral-finch", "--", "true")
    assert sessions(project) == []


# It is part of the record like everything else.


def test_what_was_watched_is_signed_and_exported(watched: Project) -> None:
    use(watched)
    stream = sessions(watched)[0]["id"]
    watched.ok("ledger", "export", "-o", "seen.moot", stream)
    assert watched.ok("verify", "seen.moot")["verdict"] == "valid"
    with sqlite3.connect(watched.ledger) as database:
        rows = database.execute("SELECT COUNT(*) FROM events").fetchone()
    database.close()
    assert rows[0] > 0


def test_another_agents_session_is_not_written_to(watched: Project) -> None:
    use(watched)
    said = call("claude-write-done", watched.root)
    watched.hook("claude", said, CRANE, **at(2))
    assert sorted(one["agent"] for one in sessions(watched)) == [OTTER, CRANE]
    assert [one["observed"] for one in sessions(watched)] == [1, 1]
