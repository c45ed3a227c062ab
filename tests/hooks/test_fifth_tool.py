"""A fifth coding tool is one file: everything asks it, and nothing else has to know its name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.fake_tools import prepare_path, put_program
from tests.project import CRANE, OTTER, Project, Result

ACME = """
from moot.coding_tools.starts import CallReport
from moot.coding_tools.tool import OFF, PROJECT, CodingTool


class Acme(CodingTool):
    name = "acme"
    edits = {"save": "path"}
    shells = {"sh": "line"}
    reads = {"show": "path"}
    settings_file = ".acme/hooks-of-acme.json"
    user_file = ("", "", ".acme/hooks-of-acme.json")
    carriers = ("hooks-of-acme.json",)
    matcher = "save|sh"
    hook_events = ("PreToolUse", "PostToolUse", "SessionStart")
    server_file = ".acme/servers.json"
    call_name = "moot/{}"
    packages = ("@acme/acme",)
    marks = ("ACME_SESSION",)
    session_variables = ("ACME_SESSION",)
    modes = ("ask",)

    def make_edit(self, file):
        return "save", {"path": file, "content": "probe"}

    def read_layers(self, start):
        yield from start.read_json(PROJECT, start.folder / self.settings_file)

    def start_flaws(self, case):
        if case.start.has_flag("--quiet"):
            yield OFF, [("--quiet makes acme run no hooks", "--quiet", "leave out --quiet")]
        yield from super().start_flaws(case)

    def resume_command(self, session):
        return f"acme again {session}"

    def log_reports(self):
        return (CallReport("acme.call", ("in",), ("out",)),)


TOOL = Acme()
"""
REGISTERED = "import acme, moot.coding_tools\nmoot.coding_tools.register(acme.TOOL)\n"
ASKED = """
import json
from moot.agents.recipes import HEADLESS, recipe_for
from moot.coding_tools.started_tools import tool_of_paths
from moot.api.presence.tool_processes import find_enclosing_tool
from moot.api.observed.guards import AgentTool
from moot.usage.tool_reports import read_calls
attributes = [{"key": "event.name", "value": {"stringValue": "acme.call"}},
              {"key": "in", "value": {"intValue": "3"}}, {"key": "out", "value": {"intValue": "4"}}]
document = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"attributes": attributes}]}]}]}
(call,) = read_calls("logs", document)
print(json.dumps([
    HEADLESS["acme"],
    recipe_for(("acme", "ask")) is not None,
    tool_of_paths(["/x/node_modules/@acme/acme/cli.js"]),
    find_enclosing_tool({"ACME_SESSION": "1"}, 1),
    AgentTool("acme", "s-1").resume_line,
    [call.tool, call.cost.tokens],
]))
"""


@pytest.fixture
def project(project: Project, tmp_path: Path) -> Project:
    """Every Python that starts here knows the tool: from its one file, registered as it starts."""
    folder = tmp_path / "fifth"
    folder.mkdir()
    (folder / "acme.py").write_text(ACME, encoding="utf-8")
    (folder / "sitecustomize.py").write_text(REGISTERED, encoding="utf-8")
    put_program(prepare_path(project), "acme", "#!/bin/sh\necho acme was started\n")
    project.env["PYTHONPATH"] = str(folder)
    return project


def ok(project: Project, *words: str) -> Any:
    done = project.spawn("--json", *words)
    said = json.loads(done.out)
    assert said["ok"], said["error"]
    return said["data"]


def call(project: Project, name: str, agent: str = OTTER, **sent: str) -> Result:
    said = {
        "hook_event_name": "PreToolUse",
        "session_id": "s-1",
        "cwd": str(project.root),
        "tool_name": name,
        "tool_input": sent,
    }
    child = project.start_hook("acme", said, agent)
    out, err = child.communicate(timeout=60)
    return Result(child.returncode, out.decode(), err.decode())


def test_it_is_installed_tried_guarded_and_taken_out(project: Project) -> None:
    settings = project.root / ".acme/hooks-of-acme.json"
    installed = ok(project, "hook", "install", "acme")
    assert str(settings) in installed["changed"]
    assert installed["mcp"]["file"] == str(project.root / ".acme/servers.json")
    hooks = json.loads(settings.read_text("utf-8"))["hooks"]
    assert [entry["matcher"] for entry in hooks["PostToolUse"]] == ["save|sh|show"]
    (state,) = [
        each
        for each in ok(project, "hook", "status")["tools"]
        if (each["tool"], each["worktree"]) == ("acme", str(project.root))
    ]
    assert (state["installed"], state["findings"]) == (True, [])
    tried = ok(project, "hook", "test", "acme")
    assert (tried["passed"], tried["reading"]) == (True, "told")

    assert call(project, "save", path="a.txt", content="mine") == Result(0, "", "")
    assert project.owners() == {"a.txt": OTTER}
    refused = call(project, "save", CRANE, path="a.txt", content="yours")
    assert "a.txt is held by amber-otter" in json.loads(refused.out)["reason"]
    removing = call(project, "save", path=str(settings), content="{}")
    assert "[not_for_agents]" in json.loads(removing.out)["reason"]
    assert project.owners() == {"a.txt": OTTER}
    assert json.loads(settings.read_text("utf-8"))["hooks"] == hooks
    ok(project, "hook", "uninstall", "acme", "--all")
    assert not settings.parent.exists()


def test_moot_run_starts_it_where_its_hook_will_run(project: Project) -> None:
    done = project.spawn("run", "--name", "coral-finch", "--", "acme")
    assert (done.code, "acme was started" in done.out) == (0, True), done.err
    assert (project.root / ".acme/hooks-of-acme.json").is_file()
    refused = project.spawn("--json", "run", "--name", "coral-finch", "--", "acme", "--quiet")
    error = json.loads(refused.out)["error"]
    assert (error["code"], refused.code) == ("guard_off", 1)
    assert "--quiet makes acme run no hooks" in error["message"]
    assert "acme was started" not in refused.out


def test_all_that_asks_about_a_tool_asks_it(project: Project) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASKED],
        env=project.env,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout) == [
        "acme ask",
        True,
        "acme",
        "acme",
        "acme again s-1",
        ["acme", 7],
    ]
