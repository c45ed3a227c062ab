"""The guard: who may write where, what a coding tool's session does, and its hooks in settings."""

from __future__ import annotations

import subprocess
import time
from typing import Any

from moot.api.guard.tool_sessions import ToolCall
from moot.core.machine import Command, KeyClass
from moot.engine.registry_commands import rotate
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import Join, Reserve, SendHandoff
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.workspace.file_versions import FileVersions
from tests.scenarios.world import World, story

OTTER, CRANE = "amber-otter", "teal-crane"


def execute(world: World, agent: str, command: Command) -> None:
    world.project.execute(agent, command, stream=STREAM)


def join(world: World, *agents: str) -> None:
    root = str(world.project.root)
    for agent in agents:
        execute(world, agent, Join(project_root=root, worktree=root))


def reserve(world: World, agent: str, *scopes: str) -> None:
    root = str(world.project.root)
    execute(world, agent, Reserve(scopes=scopes, project_root=root, worktree=root, work="bb-7"))


def owners(world: World) -> dict[str, str]:
    with world.project.workspace() as workspace:
        return {held.scope: held.owner for held in workspace.engine.state(PRESENCE, STREAM).live}


def incursions(world: World) -> int:
    with world.project.workspace() as workspace, workspace.store.read() as view:
        rows = [row.value for row in view.rows("presence.events")]
    return sum(b'"INCURSION"' in row for row in rows)


def make_repository(world: World) -> None:
    for words in (("init", "--quiet"), ("config", "core.hooksPath", "none")):
        subprocess.run(["git", *words], cwd=world.project.root, check=True, timeout=60)


@story(does="guard.check", refuses="guard.check")
def a_path_is_asked_about_before_it_is_written(world: World) -> None:
    free = world.do("guard.check", acting=OTTER, paths=["src/x.py"])
    assert free == {"allowed": True, "agent": OTTER, "paths": ["src/x.py"], "held": []}
    reserve(world, CRANE, "src/*")
    before = world.events()
    checked = world.do("guard.check", acting=OTTER, paths=["a.py", "src/x.py"])
    (held,) = checked["held"]
    assert list(held) == [
        *("path", "scope", "class", "owner", "liveness", "last_seen_at", "work", "since"),
        *("automatic", "message", "holder"),
    ]
    assert (held["path"], held["scope"], held["class"]) == ("src/x.py", "src/*", "partial")
    assert (held["owner"], held["liveness"], held["work"]) == (CRANE, "active", "bb-7")
    assert held["message"].startswith("src/x.py is held by teal-crane as part of src/* for bb-7")
    assert not checked["allowed"]
    assert world.do("guard.check", paths=["src/x.py"], agent=CRANE)["allowed"]
    assert not world.do("guard.check", paths=["src/x.py"])["allowed"]
    assert world.refuse("guard.check", paths=["/elsewhere"]) == "scope_outside"
    assert world.refuse("guard.check", paths=["a.py"], agent="no-one") == "agent_not_found"
    assert world.refuse("guard.check", paths=[".moot/ledger.db"]) == "not_for_agents"
    assert world.events() == before


@story(does="hook.before_edit", refuses="hook.before_edit")
def what_is_free_is_reserved_before_an_edit(world: World) -> None:
    root = world.project.root
    path = str(root / "a.py")
    assert world.refuse("hook.before_edit", paths=[path]) == "actor_required"
    git_file = str(root / ".git" / "config")
    assert world.refuse("hook.before_edit", acting=OTTER, paths=[git_file]) == "not_for_agents"
    verdict = world.do("hook.before_edit", acting=OTTER, paths=[path])
    nothing: dict[str, list[str]] = {"holders": [], "lines": [], "unseen": [], "unmerged": []}
    assert verdict == {"allowed": True, "agent": OTTER, **nothing}
    assert owners(world) == {"a.py": OTTER}
    before = world.events()
    assert world.do("hook.before_edit", acting=OTTER, paths=[path])["allowed"]
    assert world.events() == before, "a repeat changes nothing"
    both = [path, str(root / "b.py")]
    verdict = world.do("hook.before_edit", acting=CRANE, paths=both)
    (holder,) = verdict["holders"]
    assert (verdict["allowed"], verdict["agent"]) == (False, CRANE)
    assert (holder["owner"], holder["path"], holder["scope"]) == (OTTER, "a.py", "a.py")
    assert (holder["liveness"], holder["is_wider"]) == ("active", False)
    assert owners(world) == {"a.py": OTTER}, "all or none"
    assert incursions(world) == 1
    outside = world.do("hook.before_edit", acting=CRANE, paths=[str(root.parent / "notes.txt")])
    assert outside == {"allowed": True, "agent": None, **nothing}


@story(does="hook.after_read")
def who_reads_what_another_holds_is_told_once(world: World) -> None:
    path = str(world.project.root / "a.py")
    join(world, OTTER)
    reserve(world, OTTER, "a.py")
    before = world.events()
    assert world.do("hook.after_read", acting=OTTER, paths=[path])["holders"] == []
    read = world.do("hook.after_read", acting=CRANE, paths=[path])
    (holder,) = read["holders"]
    assert (read["agent"], holder["owner"], holder["path"]) == (CRANE, OTTER, "a.py")
    assert world.do("hook.after_read", acting=CRANE, paths=[path])["holders"] == []
    assert world.do("hook.after_read", paths=[path]) == {"agent": None, "holders": [], "lines": []}
    assert world.events() == before, "it is a look"


@story(does="hook.take_waiting", refuses="hook.take_waiting")
def a_request_is_handed_over_once_and_its_end_is_told_once(world: World) -> None:
    assert world.refuse("hook.take_waiting") == "actor_required"
    join(world, CRANE)
    join(world, OTTER)
    reserve(world, CRANE, "b.py")
    words = ("--scope", "b.py", "--subject", "b", "--blocker", "held", "--requested-action", "free")
    sent = world.project.ok("--as", OTTER, "blocked", CRANE, "--work", "bb-7", *words)
    (event,) = world.do("hook.take_waiting", acting=CRANE)["waiting"]["events"]
    assert (event["id"], event["held"]) == (sent["event"]["id"], "b.py")
    assert world.do("hook.take_waiting", acting=CRANE)["waiting"]["events"] == []
    assert world.do("hook.take_waiting", acting=OTTER)["waiting"]["settled"] == []
    world.project.ok("--as", CRANE, "release", "b.py")
    (settled,) = world.do("hook.take_waiting", acting=OTTER)["waiting"]["settled"]
    assert (settled["scope"], settled["asked"], settled["holder"]) == ("b.py", CRANE, None)
    assert world.do("hook.take_waiting", acting=OTTER)["waiting"]["settled"] == []


@story(
    does="hook.start_session hook.after_call hook.wants_to_stop hook.end_session",
    refuses="hook.start_session hook.after_call hook.wants_to_stop hook.end_session",
)
def a_session_with_a_name_works_beside_another_agent(world: World) -> None:
    root = str(world.project.root)
    call = ToolCall("Write", (f"{root}/b.py",))
    assert world.refuse("hook.start_session", acting="no-one") == "agent_not_found"
    assert world.refuse("hook.after_call", call=call) == "actor_required"
    assert world.refuse("hook.wants_to_stop") == "actor_required"
    join(world, CRANE)
    reserve(world, CRANE, "b.py")
    started = world.do("hook.start_session", acting=OTTER)
    (other,) = started["others"]
    assert (started["agent"], other["agent"], other["holds"]) == (OTTER, CRANE, ["b.py"])
    said: dict[str, Any] = {"subject": "the rest", "summary": "half done", "work": "bb-7"}
    said["next_action"] = "go on"
    execute(world, CRANE, SendHandoff(to=OTTER, project_root=root, worktree=root, **said))
    assert world.do("hook.wants_to_stop", acting=OTTER, take=False)["waiting"]["events"] == []
    (event,) = world.do("hook.wants_to_stop", acting=OTTER)["waiting"]["events"]
    assert (event["event_type"], event["from_agent"]) == ("HANDOFF", CRANE)
    ended = world.do("hook.after_call", acting=OTTER, call=call)
    assert (len(ended["incursions"]), ended["waiting"]["events"]) == (1, [])
    assert world.do("hook.after_call", acting=OTTER, call=call)["incursions"] == []
    assert incursions(world) == 1
    left = world.do("hook.end_session", acting=OTTER, reason="done")
    assert left == {"agent": None}, "the process that started it with a name ends it"
    world.tool_session = "claude:one"
    adopt(world, world.do("hook.start_session")["agent"])
    assert world.refuse("hook.end_session", reason="done") == "session_replaced"
    assert world.refuse("hook.start_session") == "session_replaced"


def adopt(world: World, name: str) -> None:
    """Another session goes on under the name, with a new key."""
    with world.project.workspace() as workspace:
        agent = workspace.engine.registry().agents[name]
        old = workspace.keys.find(name, agent.kid)
        assert old is not None
        rotate(
            workspace.engine,
            name,
            workspace.folder.add_key(workspace.trust.origin, name, KeyClass.AGENT),
            endorser=old.signer,
            custodian=workspace.folder.custodian,
            reason="adopted",
            new_holder=True,
        )


@story(does="hook.start_session hook.before_edit hook.end_session", refuses="hook.before_edit")
def a_session_without_a_name_is_known_by_its_key(world: World) -> None:
    path = str(world.project.root / "a.py")
    world.tool_session = "claude:one"
    assert world.refuse("hook.before_edit", paths=[path]) == "actor_required"
    name = world.do("hook.start_session")["agent"]
    assert name not in (OTTER, CRANE)
    assert world.do("hook.start_session")["agent"] == name
    assert world.do("hook.before_edit", paths=[path])["agent"] == name
    world.tool_session = "claude:two"
    assert world.refuse("hook.before_edit", paths=[path]) == "actor_required"
    assert world.do("hook.end_session", reason="it ended") == {"agent": None}
    assert owners(world) == {"a.py": name}
    world.tool_session = "claude:one"
    assert world.do("hook.end_session", reason="it ended") == {"agent": name}
    assert owners(world) == {}


@story(
    does="hook.start_session hook.before_edit hook.after_call hook.end_sub_agent hook.end_session",
    refuses="hook.end_sub_agent",
)
def two_sub_agents_of_one_session_keep_off_each_others_files(world: World) -> None:
    root = world.project.root
    path, other = str(root / "a.py"), str(root / "b.py")
    world.tool_session = "claude:one"
    assert world.refuse("hook.end_sub_agent", reason="done") == "actor_required"
    name = world.do("hook.start_session", begins=True)["agent"]
    world.sub_agent = "first"
    assert world.do("hook.before_edit", paths=[path])["allowed"]
    world.sub_agent = "second"
    verdict = world.do("hook.before_edit", paths=[path])
    (holder,) = verdict["holders"]
    assert (verdict["allowed"], holder["owner"], holder["holder"]) == (False, name, f"{name}/1")
    assert holder["own_session"]
    assert world.do("hook.before_edit", paths=[other])["allowed"]
    ended = world.do("hook.after_call", call=ToolCall("Write", (path,)))
    assert ended["incursions"] == [], "the refused edit is on record already"
    assert ended["waiting"] == {"events": [], "mail": None, "settled": []}
    assert incursions(world) == 1
    world.sub_agent = "first"
    done = world.do("hook.end_sub_agent", reason="done")
    assert done == {"agent": name, "ended": [f"{name}/1"]}
    before = world.events()
    assert world.do("hook.end_sub_agent", reason="done") == {"agent": name, "ended": []}
    assert world.events() == before
    world.sub_agent = "second"
    assert world.do("hook.before_edit", paths=[path])["allowed"]
    assert owners(world) == {"a.py": name, "b.py": name}
    world.sub_agent = ""
    assert world.do("hook.end_sub_agent", reason="all are done")["ended"] == [f"{name}/2"]
    assert world.do("hook.end_session", reason="it ended") == {"agent": name}
    assert owners(world) == {}


@story(does="hook.before_command")
def a_shell_command_is_written_into_the_journal_and_leaves_nothing_on_record(world: World) -> None:
    before = world.events()
    asked = {"call_id": "call-1", "command": "ls -l"}
    assert world.do("hook.before_command", acting=OTTER, **asked)["allowed"]
    with FileVersions(world.project.root / ".moot") as memory:
        assert len(memory.journal.list_overlapping(0, time.time_ns())) == 1
    assert world.events() == before


@story(does="hook.before_command", refuses="hook.before_command")
def a_shell_command_that_would_destroy_work_of_others_is_held_back(world: World) -> None:
    reserve(world, CRANE, "a.py")
    root = str(world.project.root)
    asked = {"call_id": "call-1", "command": "rm a.py b.py", "folder": root}
    verdict = world.do("hook.before_command", acting=OTTER, **asked)
    (endangered,) = verdict["endangered"]
    assert (verdict["allowed"], verdict["agent"], verdict["act"]) == (False, OTTER, "rm")
    assert (endangered["files"], endangered["count"]) == (["a.py"], 1)
    assert endangered["holder"]["owner"] == CRANE
    assert incursions(world) == 1
    before = world.events()
    assert not world.do("hook.before_command", acting=OTTER, **asked)["allowed"]
    assert world.events() == before, "a repeat changes nothing"
    assert world.do("hook.before_command", acting=CRANE, **asked)["allowed"]
    asked["command"] = "rm -r .moot"
    assert world.refuse("hook.before_command", acting=OTTER, **asked) == "not_for_agents"


@story(does="hook.before_commit", refuses="hook.before_commit")
def what_others_hold_is_seen_before_a_commit(world: World) -> None:
    assert world.refuse("hook.before_commit", acting=OTTER) == "git_failed"
    make_repository(world)
    nothing: dict[str, Any] = {"agent": None, "held": [], "is_too_late": False}
    assert world.do("hook.before_commit", acting=OTTER) == nothing
    (world.project.root / "a.py").write_text("x", encoding="utf-8")
    subprocess.run(["git", "add", "a.py"], cwd=world.project.root, check=True, timeout=60)
    reserve(world, CRANE, "a.py")
    person = world.do("hook.before_commit")
    assert (person["agent"], [held["owner"] for held in person["held"]]) == (None, [CRANE])
    assert incursions(world) == 0
    agent = world.do("hook.before_commit", acting=OTTER)
    assert (agent["agent"], [held["path"] for held in agent["held"]]) == (OTTER, ["a.py"])
    assert incursions(world) == 1
    assert world.do("hook.before_commit", acting=CRANE) == {**nothing, "agent": CRANE}


@story(does="hook.install hook.uninstall", refuses="hook.install hook.uninstall")
def hooks_are_installed_and_taken_out_again(world: World) -> None:
    settings = world.project.root / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    damaged = '{ "hooks": not json, "moot hook claude"'
    settings.write_text(damaged, encoding="utf-8")
    for operation in ("hook.install", "hook.uninstall"):
        assert world.refuse(operation, tool="claude") == "settings_unreadable"
        assert settings.read_text("utf-8") == damaged
    settings.write_text('{"model": "mine"}\n', encoding="utf-8")
    server = world.project.root / ".mcp.json"
    installed = world.do("hook.install", tool="claude", skill=False)
    assert (installed["tool"], installed["changed"]) == ("claude", [str(settings), str(server)])
    assert (installed["trusted"], installed["mcp"]["file"]) == (None, str(server))
    assert world.do("hook.install", tool="claude", skill=False)["changed"] == []
    alone = world.do("hook.install", tool="claude", skill=False, mcp=False)
    assert (alone["changed"], alone["mcp"], server.exists()) == ([str(server)], None, False)
    removed = world.do("hook.uninstall", tool="claude")
    assert (removed["tool"], removed["changed"]) == ("claude", [str(settings)])
    assert removed["worktrees"] == [str(world.project.root)]
    assert settings.read_text("utf-8") == '{"model": "mine"}\n'
    assert world.do("hook.uninstall", tool="claude")["changed"] == []
    assert world.refuse("hook.uninstall") == "no_tool"


@story(does="hook.install hook.uninstall")
def everything_of_every_tool_is_taken_out_at_once(world: World) -> None:
    make_repository(world)
    for tool in ("claude", "codex", "git"):
        assert world.do("hook.install", tool=tool)["changed"]
    removed = world.do("hook.uninstall", everywhere=True)
    assert (removed["tool"], len(removed["changed"])) == ("all", 7)
    assert {path.name for path in world.project.root.iterdir()} == {".git", ".moot"}


@story(does="hook.install hook.status hook.test", refuses="hook.test")
def whether_hooks_are_on_is_told_and_tried(world: World) -> None:
    root = str(world.project.root)
    assert world.refuse("hook.test", tool="claude") == "hook_not_installed"
    world.do("hook.install", tool="claude", skill=False)
    rows = {row["tool"]: row for row in world.do("hook.status")["tools"]}
    claude = rows["claude"]
    assert (claude["worktree"], claude["installed"], claude["wrong"]) == (root, True, None)
    assert (claude["trusted"], claude["last_spoke_at"]) == (None, None)
    assert (rows["codex"]["installed"], rows["codex"]["trusted"]) == (False, None)
    before = world.events()
    tried = world.do("hook.test", tool="claude")
    assert (tried["passed"], tried["exit_status"], tried["err"]) == (True, 0, "")
    assert "[not_for_agents]" in tried["out"]
    assert world.events() == before
    (row,) = (row for row in world.do("hook.status")["tools"] if row["tool"] == "claude")
    assert row["last_spoke_at"] is None
