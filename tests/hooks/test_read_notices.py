"""A file that another agent holds is read: the model is told so, and nothing else happens."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from moot.api.guard import reading
from moot.api.opening import OpenWorkspaces
from moot.surfaces.hooks import entry
from moot.surfaces.hooks.entry import Reply
from moot.workspace.file_versions import FILE
from tests.hooks.tool_calls import call, told
from tests.project import CRANE, OTTER, Project

READERS = ["claude", "gemini", "opencode"]  # Codex reads by its shell, whose calls are recorded
EACH_TOOL = pytest.mark.parametrize("tool", [*READERS, "codex"])


def read(project: Project, file: str = "a.txt", tool: str = "claude", **more: Any) -> Reply:
    """After otter's session has read a file."""
    return project.hook(tool, call(f"{tool}-read-done", project.root, file, **more))


def what_is_kept(project: Project) -> tuple[Any, ...]:
    """The whole record, every sign of life, and what is known of files."""
    files = project.ledger.parent / FILE
    with project.workspace() as space, space.store.read() as view:
        beats = view.heartbeat_times()
        return view.newest_position(), beats, files.read_bytes() if files.exists() else b""


@pytest.mark.requirement("GRD-037")
@EACH_TOOL
def test_who_reads_what_another_holds_is_told_who_and_what_comes_of_it(
    project: Project, tool: str
) -> None:
    project.reserve(CRANE, "a.txt", work="T-7")
    said = told(read(project, tool=tool))
    assert said.startswith("moot: a.txt is held by teal-crane (active, ")
    assert ", working on T-7, since " in said
    assert "Moot refuses an edit until the holder releases it" in said
    assert "moot guard check :/a.txt` says yes" in said


@pytest.mark.requirement("GRD-037")
@pytest.mark.parametrize("tool", READERS)
def test_it_is_a_look_and_nothing_more(project: Project, tool: str) -> None:
    """Nothing on record, no sign of life, nothing reserved, no copy."""
    project.reserve(CRANE, "a.txt")
    before, owners = what_is_kept(project), project.owners()
    assert told(read(project, tool=tool))
    assert read(project, "b.txt", tool) == Reply()
    assert (what_is_kept(project), project.owners()) == (before, owners)


@pytest.mark.requirement("GRD-037")
def test_it_is_told_once_for_each_reservation(project: Project) -> None:
    (project.root / "b.txt").write_text("two\n", encoding="utf-8")
    project.reserve(CRANE, "a.txt", "b.txt")
    assert "a.txt is held" in told(read(project))
    assert read(project) == Reply()
    assert "b.txt is held" in told(read(project, "b.txt"))
    project.ok("--as", CRANE, "release", "a.txt")
    assert read(project) == Reply()
    project.reserve(CRANE, "a.txt")
    assert "a.txt is held" in told(read(project))


def test_each_session_is_told(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    assert told(read(project))
    assert told(read(project, session_id="another"))
    assert told(read(project, agent_id="one-of-its-sub-agents"))


def test_a_folder_that_is_held_is_told_of_once(project: Project) -> None:
    (project.root / "src").mkdir()
    for name in ("src/a.py", "src/b.py"):
        (project.root / name).write_text("one\n", encoding="utf-8")
    project.reserve(CRANE, "src/*")
    assert "src/a.py is held by teal-crane as part of src/*" in told(read(project, "src/a.py"))
    assert read(project, "src/b.py") == Reply()


def test_what_is_free_or_ones_own_is_not_spoken_of(project: Project) -> None:
    assert read(project) == Reply()
    project.reserve(OTTER, "a.txt")
    assert read(project) == Reply()
    assert read(project, "../elsewhere.txt") == Reply()


def test_a_folder_is_no_file(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    assert read(project, "") == Reply()


def test_anyone_who_has_gone_quiet_is_not_spoken_of(project: Project) -> None:
    """What it holds can be had: the refusal of an edit says how."""
    project.reserve(CRANE, "a.txt")
    said = json.dumps(call("claude-read-done", project.root)).encode()
    assert project.hook("claude", said, MOOT_CLOCK="2100-01-01T00:00:00Z") == Reply()
    assert told(project.hook("claude", said))


def test_the_sub_agents_of_a_session_are_told_of_each_other(project: Project) -> None:
    assert (
        project.hook("claude", call("claude-subagent", project.root, agent_id="first")) == Reply()
    )
    said = told(read(project, agent_id="second"))
    assert "a.txt is held by amber-otter/1 (a sub-agent of your own session)" in said
    assert "do not send it a message" in said
    assert read(project, agent_id="first") == Reply()


def test_a_file_that_the_shell_printed_is_told_of_too(project: Project) -> None:
    """Codex has no other way to read."""
    project.reserve(CRANE, "a.txt")
    asked = {"command": "sed -n '1,5p' a.txt && nl b.txt"}
    said = told(project.hook("codex", call("claude-bash-done", project.root, tool_input=asked)))
    assert "a.txt is held by teal-crane" in said
    assert "b.txt" not in said


@pytest.mark.parametrize("where", ["repository", "user"])
def test_settings_switch_it_off(project: Project, tmp_path: Path, where: str) -> None:
    project.reserve(CRANE, "a.txt")
    file = project.root / "moot.toml" if where == "repository" else tmp_path / "own.toml"
    file.write_text('[protect]\nreading = "silent"\n', encoding="utf-8")
    assert (
        project.hook("claude", call("claude-read-done", project.root), MOOT_CONFIG=str(file))
        == Reply()
    )
    file.write_text("[protect]\nreading = 7\n", encoding="utf-8")
    assert told(
        project.hook("claude", call("claude-read-done", project.root), MOOT_CONFIG=str(file))
    )


@pytest.mark.parametrize(
    "more",
    [
        {"tool_input": {}},
        {"tool_input": {"file_path": 7}},
        {"tool_input": {"file_path": "a\0.txt"}},
        {"tool_input": {"file_path": ["a.txt", 7]}},
        {"session_id": ""},
    ],
)
def test_what_cannot_be_understood_is_passed_over(project: Project, more: dict[str, Any]) -> None:
    reply = read(project, **more)
    assert (reply.out, reply.err, reply.code) == ("", "", 0)


def test_nobody_in_particular_is_told_nothing(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    assert project.hook("claude", call("claude-read-done", project.root), None) == Reply()
    assert project.hook("claude", call("claude-read-done", project.root), "no-one") == Reply()


def test_trouble_is_silent(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    project.reserve(CRANE, "a.txt")
    monkeypatch.setattr(reading, "_find_living", fail)
    assert read(project) == Reply()
    project.ledger.write_bytes(b"no ledger")
    monkeypatch.undo()
    assert read(project) == Reply()


def test_a_look_that_takes_too_long_is_given_up_in_silence(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long before an edit would be: the look has not ended when its answer is there."""
    may_end, ended = threading.Event(), threading.Event()

    def hang(*_: object) -> None:
        may_end.wait(60)
        ended.set()

    project.reserve(CRANE, "a.txt")
    monkeypatch.setattr(reading, "_find_living", hang)
    said = json.dumps(call("claude-read-done", project.root)).encode()
    stays_open, env = OpenWorkspaces(), {**project.env, "MOOT_AGENT": OTTER}
    reply = entry.answer_within(3600, "claude", said, env, str(project.root), stays_open)
    assert (reply, ended.is_set()) == (Reply(), False)
    may_end.set()
    assert ended.wait(60)
    stays_open.close()
