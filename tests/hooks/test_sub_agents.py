"""Sub-agents of one session, as each tool tells of them: they do not write over each other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from moot.coding_tools import opencode
from moot.coding_tools.hook_command import shared_hook_command
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import SendHandoff
from moot.surfaces.hooks.entry import Reply
from tests.hooks.tool_calls import call, reason, told
from tests.project import CRANE, OTTER, Project

# The edit of a sub-agent as each tool sends it, and how the tool says that it is done.
TOOLS = {
    "claude": ("claude-subagent", "claude-subagent-stop"),
    "codex": ("codex-subagent-patch", "codex-subagent-stop"),
    "opencode": ("opencode-subagent-write", "opencode-subagent-stop"),
}
# Where `moot` is, in front of where everything else is.
WITH_MOOT = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
EACH_TOOL = pytest.mark.parametrize("tool", list(TOOLS))


def edit(
    project: Project, tool: str, by: str, file: str = "a.txt", root: Path | None = None
) -> Reply:
    """Before an edit by the sub-agent `by` of otter's session."""
    return project.hook(tool, call(TOOLS[tool][0], root or project.root, file, agent_id=by))


def edit_by_main_agent(project: Project, file: str = "a.txt", agent: str = OTTER) -> Reply:
    return project.hook("claude", call("claude-write", project.root, file), agent)


def stop(project: Project, tool: str, by: str, **more: Any) -> Reply:
    return project.hook(tool, call(TOOLS[tool][1], project.root, agent_id=by, **more))


def holders(project: Project) -> dict[str, str]:
    return {held.scope: held.holder for held in project.presence.live}


def aliases(project: Project, name: str = OTTER) -> list[str]:
    (member,) = (member for member in project.presence.members if member.name == name)
    return [each.alias for each in member.sub_agents]


@pytest.mark.requirement("GRD-040")
@EACH_TOOL
def test_two_sub_agents_never_have_one_file(project: Project, tool: str) -> None:
    assert edit(project, tool, "first") == Reply()
    said = reason(edit(project, tool, "second"))
    assert "a.txt is held by amber-otter/1 (a sub-agent of your own session)" in said
    assert "Work on another file until it ends" in said
    assert "event blocked" not in said
    assert holders(project) == {"a.txt": "amber-otter/1"}
    assert edit(project, tool, "second", "b.txt") == Reply()
    assert edit(project, tool, "first") == Reply()
    assert holders(project) == {"a.txt": "amber-otter/1", "b.txt": "amber-otter/2"}


@EACH_TOOL
def test_the_end_of_one_lets_the_other_write_and_keeps_strangers_off(
    project: Project, tool: str
) -> None:
    edit(project, tool, "first")
    assert stop(project, tool, "first") == Reply()
    assert holders(project) == {"a.txt": OTTER}
    assert "a.txt is held by amber-otter" in reason(edit_by_main_agent(project, agent=CRANE))
    assert edit(project, tool, "second") == Reply()
    assert holders(project) == {"a.txt": "amber-otter/2"}


@EACH_TOOL
def test_an_end_that_is_told_twice_or_of_nobody_changes_nothing(
    project: Project, tool: str
) -> None:
    edit(project, tool, "first")
    stop(project, tool, "first")
    before = project.presence
    for by in ("first", "nobody", ""):
        assert stop(project, tool, by) == Reply()
    assert project.presence == before


def test_each_meeting_of_sub_agents_is_on_record_once_under_their_names(project: Project) -> None:
    edit(project, "claude", "first")
    for _ in range(2):
        reason(edit(project, "claude", "second"))
        reason(edit_by_main_agent(project))
    noted = [event["payload"] for event in project.events("INCURSION")]
    assert [payload.get("incoming_alias") for payload in noted] == ["amber-otter/2", None]
    assert {payload["owner_alias"] for payload in noted} == {"amber-otter/1"}
    assert {payload["incoming_agent"] for payload in noted} == {OTTER}


def test_what_the_session_holds_is_there_for_its_sub_agents(project: Project) -> None:
    project.reserve(OTTER, "src/*")
    edit_by_main_agent(project)
    assert edit(project, "claude", "first", "src/x.py") == Reply()
    assert edit(project, "claude", "first") == Reply()
    assert holders(project) == {
        "a.txt": "amber-otter/1",
        "src/*": OTTER,
        "src/x.py": "amber-otter/1",
    }


def test_the_main_agent_waits_for_its_sub_agents_too(project: Project) -> None:
    edit(project, "claude", "first")
    said = reason(edit_by_main_agent(project))
    assert "held by amber-otter/1 (a sub-agent of your own session)" in said
    stop(project, "claude", "first")
    assert edit_by_main_agent(project) == Reply()


def test_sub_agents_in_worktrees_of_their_own_collide_on_one_name_as_agents_do(
    project: Project,
) -> None:
    edit(project, "claude", "first")
    assert "amber-otter/1" in reason(edit(project, "claude", "second", root=project.other))


def test_other_agents_are_told_the_sub_agent_and_ask_its_session(project: Project) -> None:
    edit(project, "claude", "first")
    said = reason(edit_by_main_agent(project, agent=CRANE))
    assert "a.txt is held by amber-otter/1 (active" in said
    assert "moot event blocked --from teal-crane --to amber-otter --scope :/a.txt --subject" in said


def test_a_file_held_under_another_name_is_held_among_sub_agents_too(project: Project) -> None:
    (project.root / "same.txt").hardlink_to(project.root / "a.txt")
    edit(project, "claude", "first")
    assert "amber-otter/1" in reason(edit(project, "claude", "second", "same.txt"))
    assert edit(project, "claude", "first", "same.txt") == Reply()


def test_a_shell_command_of_one_that_changes_what_another_edits_is_told_to_the_session(
    project: Project,
) -> None:
    edit(project, "claude", "first")
    (project.root / "a.txt").write_text("two\n", encoding="utf-8")
    done = call("claude-subagent-bash-done", project.root, agent_id="second")
    assert project.hook("claude", done) == Reply()
    assert project.events("INCURSION") == []
    assert [path for _who, path, *_blobs in project.told_changes(OTTER)] == ["a.txt"]


def test_a_command_of_one_that_would_throw_away_anothers_work_is_held_back(
    project: Project,
) -> None:
    edit(project, "claude", "first")
    (project.root / "a.txt").write_text("two\n", encoding="utf-8")
    command = {"command": "git checkout -- a.txt"}
    by = partial(call, "claude-bash", project.root, tool_input=command)
    said = reason(project.hook("claude", by(agent_id="second")))
    assert "amber-otter/1" in said
    (event,) = project.events("INCURSION")
    assert event["payload"]["incoming_alias"] == "amber-otter/2"
    assert project.hook("claude", by(agent_id="first")) == Reply()


def test_who_only_runs_commands_has_an_alias_which_its_observed_work_names(
    project: Project,
) -> None:
    project.hook("claude", call("claude-subagent-bash-done", project.root, agent_id="first"))
    project.hook("claude", call("claude-bash-done", project.root))
    assert aliases(project) == ["1"]
    with project.workspace() as space, space.store.read() as view:
        (stream,) = (name for name, *_ in view.streams() if name.startswith("observed/"))
        records = [record.body.data for record in view.records(stream)]
    observed = [data for data in records if "input_hash" in data]
    assert [data.get("alias") for data in observed] == ["1", None]


def test_what_waits_is_told_to_the_session_and_not_to_a_sub_agent(project: Project) -> None:
    project.hook("claude", call("claude-start", project.root))
    send = SendHandoff(
        to=OTTER,
        subject="auth is yours",
        summary="half done",
        next_action="finish it",
        work="bb-1",
        project_root=str(project.root),
    )
    project.execute(CRANE, send, stream=STREAM)
    sub_agents_call = call("claude-subagent-bash-done", project.root)
    assert project.hook("claude", sub_agents_call) == Reply()
    assert "auth is yours" in told(project.hook("claude", call("claude-bash-done", project.root)))


def test_a_session_that_ends_ends_its_sub_agents(project: Project) -> None:
    project.hook("claude", call("claude-start", project.root), None)
    assert project.hook("claude", call("claude-subagent", project.root), None) == Reply()
    (held,) = project.presence.live
    assert held.alias == "1"
    project.hook("claude", call("claude-end", project.root), None)
    assert project.presence.live == ()
    assert aliases(project, held.owner) == []


def test_under_a_name_of_its_own_a_tools_end_ends_its_sub_agents_alone(project: Project) -> None:
    edit(project, "claude", "first")
    assert project.hook("claude", call("claude-end", project.root)) == Reply()
    assert holders(project) == {"a.txt": OTTER}


@pytest.mark.parametrize(
    ("source", "left"), [("startup", []), ("resume", []), ("compact", ["1"]), ("clear", ["1"])]
)
def test_a_tool_that_is_started_again_has_no_sub_agents_of_before(
    project: Project, source: str, left: list[str]
) -> None:
    edit(project, "claude", "first")
    project.hook("claude", call("claude-start", project.root, source=source))
    assert aliases(project) == left


def test_a_commit_of_the_session_is_not_stopped_by_its_own_sub_agents(project: Project) -> None:
    """The shell does not say which of them commits; it may be the one who wrote the file."""
    edit(project, "claude", "first")
    (project.root / "a.txt").write_text("two\n", encoding="utf-8")
    project.ok("hook", "install", "git")
    project.env["PATH"] = WITH_MOOT
    project.git("add", "a.txt")
    assert project.git("commit", "--quiet", "--message=two", MOOT_AGENT=OTTER).code == 0


@pytest.mark.parametrize("odd", ["x" * 500, "line\nbreak", "\ud800"])
def test_an_odd_id_is_an_id(project: Project, odd: str) -> None:
    for _ in range(2):
        assert edit(project, "claude", odd) == Reply()
    assert aliases(project) == ["1"]


def test_an_id_of_an_unknown_form_is_held_back(project: Project) -> None:
    said = reason(project.hook("claude", call("claude-subagent", project.root, agent_id=7)))
    assert "agent_id" in said
    assert project.presence.live == ()


def test_no_id_is_the_main_agent(project: Project) -> None:
    said = call("claude-subagent", project.root, agent_id=None, agent_type=["odd"])
    assert project.hook("claude", said) == Reply()
    assert holders(project) == {"a.txt": OTTER}


def test_a_session_that_starts_is_told_of_the_sub_agents_of_others(project: Project) -> None:
    edit(project, "claude", "first")
    out = project.hook("claude", call("claude-start", project.root), CRANE).out
    assert "with 1 sub-agent at work (amber-otter/1)" in out
    assert "Each of your sub-agents is an agent too" in out


DRIVER = """
import { Moot } from PLUGIN
const hooks = await Moot({ directory: process.cwd() })
const tell = (type, properties) => hooks.event({ event: { type, properties } })
const created = (id, parentID) =>
  tell("session.created", { sessionID: id, info: { id, parentID } })
const idle = (id) => tell("session.idle", { sessionID: id })
const write = async (id) => {
  const input = { tool: "write", sessionID: id, callID: "c" }
  try {
    await hooks["tool.execute.before"](input, { args: { filePath: "a.txt", content: "x" } })
    console.log(`${id} writes`)
  } catch (error) {
    console.log(`${id} ${error.message}`)
  }
}
await created("root")
await created("one", "root")
await created("two", "root")
await created("nested", "two")
await write("one")
await write("nested")
await write("two")
await idle("root")
await write("nested")
await idle("one")
await write("nested")
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="opencode's plugin runs in node")
def test_opencodes_plugin_tells_sub_agents_apart_and_when_they_end(
    project: Project, tmp_path: Path
) -> None:
    driver = tmp_path / "driver.mjs"
    plugin = tmp_path / "plugin.mjs"
    text = opencode.make_plugin(partial(shared_hook_command, "opencode"))
    plugin.write_text(text, encoding="utf-8")
    driver.write_text(DRIVER.replace("PLUGIN", json.dumps(str(plugin))), encoding="utf-8")
    done = subprocess.run(
        ["node", str(driver)],
        cwd=project.root,
        env={**project.env, "MOOT_AGENT": OTTER, "PATH": WITH_MOOT},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "one writes"
    for line, name in zip(lines[1:4], ("nested", "two", "nested"), strict=True):
        assert line.startswith(f"{name} moot: a.txt is held by amber-otter/1")
    assert lines[4:] == ["nested writes"]
    assert holders(project) == {"a.txt": "amber-otter/2"}


def test_status_and_lists_have_a_line_for_each_sub_agent(project: Project) -> None:
    project.reserve(OTTER, "src/*")
    edit(project, "claude", "first")
    edit(project, "claude", "second", "b.txt")
    (otter,) = (view for view in project.ok("status")["agents"] if view["agent"] == OTTER)
    assert otter["holds"] == ["a.txt", "b.txt", "src/*"]
    assert [(one["name"], one["holds"]) for one in otter["sub_agents"]] == [
        ("amber-otter/1", ["a.txt"]),
        ("amber-otter/2", ["b.txt"]),
    ]
    (first, _) = otter["sub_agents"]
    assert (first["kind"], first["signed_by"], first["label"]) == (
        *("general-purpose", OTTER, "Active"),
    )
    lines = project.run("status").out.splitlines()
    assert [line.split()[0] for line in lines if "amber-otter" in line][:3] == [
        *("amber-otter", "amber-otter/1", "amber-otter/2"),
    ]
    assert next(line for line in lines if line.startswith("amber-otter ")).endswith("src/*")
    assert [held["holder"] for held in project.ok("scope", "list")["reservations"]] == [
        *("amber-otter/1", "amber-otter/2", OTTER),
    ]


def test_lists_of_agents_say_that_a_sub_agent_has_no_key(project: Project) -> None:
    edit(project, "claude", "first")
    listed = project.ok("agent", "list")
    assert [one["name"] for one in listed["sub_agents"]] == ["amber-otter/1"]
    line = next(line for line in project.run("agent", "list").out.splitlines() if "/1" in line)
    assert line.split()[:2] == ["amber-otter/1", "Active"]
    assert line.endswith("sub-agent, without a key")
    (view,) = project.ok("agent", "show", OTTER)["sub_agents"]
    assert (view["name"], view["signed_by"], view["holds"]) == ("amber-otter/1", OTTER, ["a.txt"])
    shown = project.run("agent", "show", OTTER).out
    assert "amber-otter/1 (general-purpose): active, holds a.txt" in shown
    assert "signed by amber-otter's key" in shown


def test_a_question_by_hand_names_the_sub_agent(project: Project) -> None:
    edit(project, "claude", "first")
    asked = project.json("guard", "check", "a.txt", "--agent", CRANE)
    (held,) = json.loads(asked.out)["data"]["held"]
    assert (held["owner"], held["holder"]) == (OTTER, "amber-otter/1")
    assert "a.txt is held by amber-otter/1" in held["message"]
    assert project.ok("guard", "check", "a.txt", "--agent", OTTER)["allowed"]


def test_giving_everything_back_says_what_is_kept_for_whom(project: Project) -> None:
    project.reserve(OTTER, "src/*")
    edit(project, "claude", "first")
    released = project.ok("release", "--all", "--agent", OTTER)
    assert released["released"] == ["src/*"]
    (finding,) = released["findings"]
    assert finding["code"] == "kept_for_sub_agent"
    assert finding["message"] == "a.txt is kept: amber-otter/1 works on it"
    assert project.ok("release", "a.txt", "--agent", OTTER)["released"] == ["a.txt"]
