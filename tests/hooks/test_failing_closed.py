"""Trouble: closed inside a workspace with one line of reason, silent outside of one."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moot.surfaces.hooks import entry, moments
from moot.surfaces.hooks.call import MAX_BYTES
from moot.surfaces.hooks.entry import Reply
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, OTTER, Project
from tests.sampling import examples

BROKEN = {
    "empty": b"",
    "blank": b"  \n",
    "not_json": b"{half",
    "not_an_object": b"[1, 2]",
    "not_text": b"\xff\xfe\x00",
    "too_deep": b'{"a":' + b"[" * 100_000,
    "too_long": b" " * (MAX_BYTES + 1),
    "no_event": b"{}",
    "newer_event": b'{"hook_event_name": "BeforeEverything"}',
    "event_of_another_kind": b'{"hook_event_name": 7}',
}


@pytest.mark.requirement("GRD-032")
@pytest.mark.parametrize("tool", ["claude", "codex", "gemini", "opencode"])
@pytest.mark.parametrize("kind", BROKEN)
def test_what_cannot_be_read_is_refused_in_one_line_inside_a_workspace(
    project: Project, tool: str, kind: str
) -> None:
    """Exit 2 with text on stderr blocks in every tool; the settings undo it after an edit."""
    reply = project.hook(tool, BROKEN[kind])
    assert (reply.out, reply.code) == ("", 2)
    assert reply.err.startswith("moot: ")
    assert "\n" not in reply.err


@pytest.mark.parametrize("kind", sorted(BROKEN.keys() - {"too_long"}))
def test_what_cannot_be_read_is_ignored_outside_of_a_workspace(tmp_path: Path, kind: str) -> None:
    assert entry.answer("claude", BROKEN[kind], {}, str(tmp_path)) == Reply()


@pytest.mark.parametrize(
    "change",
    [
        {"tool_input": {}},
        {"tool_input": {"file_path": 7}},
        {"tool_input": {"file_path": ""}},
        {"tool_input": {"file_path": "a\0b"}},
        {"tool_input": {"paths": ["a.txt"]}},
        {"tool_input": ["a.txt"]},
        {"session_id": 7},
        {"cwd": None},
    ],
)
def test_an_edit_of_a_newer_shape_is_refused(project: Project, change: dict[str, object]) -> None:
    said = call("claude-write", project.root)
    reply = project.hook("claude", json.dumps({**said, **change}).encode())
    assert "moot: " in reason(reply)
    assert project.owners() == {}


def test_a_patch_that_names_no_file_is_refused(project: Project) -> None:
    said = call("codex-patch", project.root, tool_input={"command": "*** Begin Patch v2\n..."})
    assert "names no file" in reason(project.hook("codex", said))


def test_outside_of_a_workspace_every_moment_is_silent(tmp_path: Path) -> None:
    for name in ("write", "bash", "bash-done", "write-done", "start", "stop", "end"):
        data = json.dumps(call(f"claude-{name}", tmp_path)).encode()
        assert entry.answer("claude", data, {}, str(tmp_path)) == Reply()
    assert list(tmp_path.iterdir()) == []


def test_a_missing_key_holds_the_edit_back(project: Project, tmp_path: Path) -> None:
    reply = project.hook(
        "claude", call("claude-write", project.root), MOOT_KEYS=str(tmp_path / "none")
    )
    assert "[key_missing]" in reason(reply)


def test_an_unknown_agent_holds_the_edit_back(project: Project) -> None:
    said = reason(project.hook("claude", call("claude-write", project.root), "no-such"))
    assert "[agent_not_found]" in said


def test_a_retired_agent_holds_the_edit_back(project: Project) -> None:
    project.ok("agent", "retire", OTTER)
    said = reason(project.hook("claude", call("claude-write", project.root)))
    assert "[agent_retired]" in said


@pytest.mark.requirement("GRD-032")
@pytest.mark.parametrize("damage", [b"", b"not a database at all" * 400])
def test_a_damaged_ledger_holds_the_edit_back(project: Project, damage: bytes) -> None:
    project.ledger.write_bytes(damage)
    assert "[store_damaged]" in reason(project.hook("claude", call("claude-write", project.root)))


def test_a_missing_ledger_holds_the_edit_back(project: Project) -> None:
    project.ledger.unlink()
    assert "[no_ledger]" in reason(project.hook("claude", call("claude-write", project.root)))


def test_a_home_that_is_not_there_holds_the_edit_back(project: Project, tmp_path: Path) -> None:
    elsewhere = str(tmp_path / "gone")
    reply = project.hook("claude", call("claude-write", project.root), MOOT_HOME=elsewhere)
    assert "[no_workspace]" in reason(reply)


@pytest.mark.requirement("GRD-032")
def test_a_bug_holds_the_edit_back_without_a_traceback(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_call: object) -> tuple[str, ...]:
        raise ZeroDivisionError("a bug\nof two lines")

    monkeypatch.setattr(moments, "find_written_files", broken)
    said = reason(project.hook("claude", call("claude-write", project.root)))
    assert "[internal_error] ZeroDivisionError: a bug of two lines" in said
    assert "Traceback" not in said


@pytest.mark.requirement("GRD-033")
@pytest.mark.parametrize("name", ["write-done", "bash-done", "stop", "end", "start"])
def test_trouble_after_an_edit_never_stops_anything(project: Project, name: str) -> None:
    project.ledger.write_bytes(b"")
    reply = project.hook("claude", call(f"claude-{name}", project.root))
    assert (reply.out, reply.code) == ("", 0) or name == "end"
    assert reply.err.count("\n") == 0


@pytest.mark.requirement("GRD-034")
def test_a_busy_ledger_holds_the_edit_back_before_the_tool_gives_up(project: Project) -> None:
    project.reserve(CRANE, "b.txt")
    db = sqlite3.connect(project.ledger, isolation_level=None)
    try:
        db.execute("BEGIN IMMEDIATE")
        child = project.start_hook(
            "claude", call("claude-write", project.root), MOOT_HOOK_SECONDS="0.5"
        )
        out, err = child.communicate(timeout=120)
    finally:
        db.close()
    said = reason(entry.Reply(out.decode().strip(), err.decode(), child.returncode))
    assert "took too long" in said
    assert project.owners() == {"b.txt": CRANE}


def test_a_tool_that_never_ends_its_input_is_answered_in_time(project: Project) -> None:
    import subprocess
    import sys

    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "moot", "hook", "claude"],
        cwd=project.root,
        env={**project.env, "MOOT_HOOK_SECONDS": "0.5"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.wait(timeout=120) == 2
    assert child.stderr is not None
    assert b"took too long" in child.stderr.read()
    for stream in (child.stdin, child.stdout, child.stderr):
        assert stream is not None
        stream.close()


@pytest.mark.parametrize("text", ["", "abc", "0", "-1", "nan", "inf", "99999999"])
def test_a_deadline_that_makes_no_sense_is_the_usual_one(text: str) -> None:
    assert entry.deadline({"MOOT_HOOK_SECONDS": text}) == entry.SECONDS


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
FIELDS = st.sampled_from([*call("claude-write", Path("/")), "stop_hook_active", "duration_ms"])


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(["claude-write", "claude-bash", "claude-bash-done", "claude-stop"]),
    changes=st.dictionaries(FIELDS, VALUES, max_size=3),
)
def test_whatever_a_tool_sends_the_answer_is_one_of_three(
    project: Project, name: str, changes: dict[str, object]
) -> None:
    """Silence, the refusal, or exit 2 with one line: never a traceback, never an allow."""
    data = json.dumps({**call(name, project.root), **changes}).encode()
    reply = project.hook("claude", data)
    assert "\n" not in reply.err
    assert "internal_error" not in reply.err + reply.out
    if reply.code:
        assert (reply.code, reply.out) == (2, "")
    elif reply.out:
        assert json.loads(reply.out).get("decision", "block") == "block"
