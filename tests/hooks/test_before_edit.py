"""Before an edit: who is stopped, who is not, and what is on record afterwards."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from moot.coding_tools import find_tool
from moot.surfaces.hooks.call import read_call
from moot.surfaces.hooks.entry import Reply
from moot.workspace.user_folders import user_data_folder
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, OTTER, Project

EDITS = (
    "claude-write",
    "claude-edit",
    "claude-multiedit",
    "claude-notebook",
    "claude-subagent",
    "codex-patch",
    "codex-heredoc",
    "gemini-write",
    "gemini-replace",
    "opencode-write",
    "opencode-edit",
    "opencode-patch",
)


def tool_of(name: str) -> str:
    return name.partition("-")[0]


@pytest.mark.requirement("GRD-001")
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_a_held_file_is_stopped_with_the_reason(project: Project, name: str) -> None:
    project.reserve(CRANE, "a.txt", work="bb-12")
    said = reason(project.hook(tool_of(name), call(name, project.root)))
    for part in ("a.txt is held by teal-crane", "active", "last seen", "working on bb-12", "since"):
        assert part in said
    assert "moot event blocked --from amber-otter --to teal-crane" in said
    assert "--takeover-stale" not in said
    assert project.owners() == {"a.txt": CRANE}


@pytest.mark.requirement("GRD-002")
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_a_free_file_is_allowed_and_reserved(project: Project, name: str) -> None:
    reply = project.hook(tool_of(name), call(name, project.root))
    assert reply == Reply()
    held = {one.scope: one for one in project.presence.live}
    assert held["a.txt"].owner == OTTER
    assert all(one.automatic for one in held.values())
    assert held["a.txt"].branch == "main"


@pytest.mark.requirement("GRD-004")
def test_two_worktrees_of_one_repository_collide_on_the_same_file(project: Project) -> None:
    assert project.hook("claude", call("claude-write", project.root), CRANE).out == ""
    said = reason(project.hook("claude", call("claude-write", project.other), OTTER))
    assert "a.txt is held by teal-crane" in said
    assert "on branch main" in said


@pytest.mark.requirement("GRD-005")
def test_the_refusal_comes_before_the_write_and_is_on_record_once(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    for _ in range(3):
        reason(project.hook("claude", call("claude-write", project.other)))
    (noted,) = project.events("INCURSION")
    assert noted["from_agent"] == OTTER
    assert noted["payload"]["owner_agent"] == CRANE
    assert noted["payload"]["incursion_kind"] == "exact"
    assert (project.root / "a.txt").read_text("utf-8") == "one\n"


def test_a_folder_that_is_held_holds_its_files(project: Project) -> None:
    project.reserve(CRANE, "src/*")
    said = reason(project.hook("claude", call("claude-write", project.root, "src/deep/x.py")))
    assert "src/deep/x.py is held by teal-crane as part of src/*" in said


@pytest.mark.requirement("GRD-006")
def test_one_held_file_stops_a_whole_patch_and_nothing_of_it_is_reserved(project: Project) -> None:
    project.reserve(CRANE, "d.txt")
    assert "d.txt is held" in reason(project.hook("codex", call("codex-patch", project.root)))
    assert project.owners() == {"d.txt": CRANE}


def test_a_patch_claims_what_it_adds_deletes_and_moves_on_both_sides(project: Project) -> None:
    assert project.hook("codex", call("codex-patch", project.root)).out == ""
    assert set(project.owners()) == {"new/b.txt", "a.txt", "d.txt", "mv.txt", "moved.txt"}


def test_a_patch_in_a_shell_is_read_from_where_the_shell_went(project: Project) -> None:
    said = call("codex-heredoc", project.root)
    said["tool_input"]["command"] = "cd src && " + said["tool_input"]["command"]
    assert project.hook("codex", said).out == ""
    assert set(project.owners()) == {"src/a.txt"}


def test_relative_paths_are_relative_to_the_cwd_the_tool_sent(project: Project) -> None:
    said = call("gemini-write", project.root, cwd=str(project.root / "sub"))
    assert project.hook("gemini", said).out == ""
    assert set(project.owners()) == {"sub/a.txt"}


def test_an_agent_that_went_elsewhere_is_still_stopped(project: Project, tmp_path: Path) -> None:
    project.reserve(CRANE, "a.txt")
    said = call("claude-write", project.root, cwd=str(tmp_path))
    assert "held by teal-crane" in reason(project.hook("claude", said))


@pytest.mark.requirement("GRD-007")
def test_a_link_to_a_held_file_is_no_way_around(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    (project.root / "link.txt").symlink_to("a.txt")
    said = reason(project.hook("claude", call("claude-write", project.root, "link.txt")))
    assert "a.txt is held by teal-crane" in said


def test_what_one_holds_oneself_is_recorded_once(project: Project) -> None:
    for _ in range(3):
        assert project.hook("claude", call("claude-write", project.root)).out == ""
    assert project.presence.fencing == 1


@pytest.mark.requirement("GRD-010")
def test_files_outside_of_every_workspace_are_nobodys_business(
    project: Project, tmp_path: Path
) -> None:
    said = call("claude-write", tmp_path, "notes.txt", cwd=str(project.root))
    assert project.hook("claude", said, None) == Reply()
    assert project.owners() == {}


@pytest.mark.requirement("GRD-011")
def test_reading_tools_and_plain_shell_commands_pass(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    read = call("claude-write", project.root, tool_name="Read")
    assert project.hook("claude", read).out == ""
    shell = call("claude-bash", project.root, tool_input={"command": "cat a.txt | grep one"})
    assert project.hook("claude", shell).out == ""


@pytest.mark.parametrize(("minutes", "word"), [(16, "stale"), (31, "evicted")])
def test_the_quiet_still_stop_an_edit_but_may_be_taken_over(
    tmp_path: Path, minutes: int, word: str
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    clock = {"MOOT_CLOCK": "2026-02-18T16:00:00Z"}
    project = Project(root, tmp_path / "keys", **clock)
    project.git("init", "--quiet")
    project.ok("init")
    for agent in (OTTER, CRANE):
        project.ok("agent", "register", agent)
    assert project.hook("claude", call("claude-write", root), CRANE).out == ""
    later = f"2026-02-18T16:{minutes}:00Z"
    said = reason(project.hook("claude", call("claude-write", root), MOOT_CLOCK=later))
    assert f"({word}, last seen {minutes} min ago)" in said
    assert "moot reserve :/a.txt --takeover-stale" in said
    assert project.owners() == {"a.txt": CRANE}


def test_a_session_that_joined_acts_without_a_name_in_the_environment(project: Project) -> None:
    project.hook("claude", call("claude-start", project.root), None)
    assert project.hook("claude", call("claude-write", project.root), None).out == ""
    (owner,) = project.owners().values()
    assert owner not in (OTTER, CRANE)
    said = reason(project.hook("claude", call("claude-write", project.root)))
    assert f"held by {owner}" in said


@pytest.mark.requirement("GRD-009")
def test_a_session_nobody_knows_is_stopped_with_the_hint_to_run(project: Project) -> None:
    said = reason(project.hook("claude", call("claude-write", project.root), None))
    assert "actor_required" in said
    assert "moot run" in said
    assert project.owners() == {}


def test_a_session_whose_name_was_adopted_no_longer_acts_under_it(project: Project) -> None:
    from moot.core.machine import KeyClass
    from moot.engine.registry_commands import rotate

    project.hook("claude", call("claude-start", project.root), None)
    with project.workspace() as space:
        (name,) = set(space.engine.registry().agents) - {OTTER, CRANE}
        old = space.keys.find(name, space.engine.registry().agents[name].kid)
        assert old is not None
        fresh = space.folder.add_key(space.trust.origin, name, KeyClass.AGENT)
        custodian = space.folder.custodian
        rotate(
            space.engine,
            name,
            fresh,
            endorser=old.signer,
            custodian=custodian,
            reason="adopted",
            new_holder=True,
        )
    said = reason(project.hook("claude", call("claude-write", project.root), None))
    assert "session_replaced" in said


def test_a_name_that_is_set_wins_over_the_session(project: Project) -> None:
    project.hook("claude", call("claude-start", project.root), None)
    assert project.hook("claude", call("claude-write", project.root), OTTER).out == ""
    assert project.owners() == {"a.txt": OTTER}


def test_allow_is_never_answered(project: Project) -> None:
    for name in EDITS:
        out = project.hook(tool_of(name), call(name, project.root)).out
        assert out == "" or json.loads(out)["decision"] == "block"


def test_a_home_that_is_named_guards_the_session_from_every_worktree(project: Project) -> None:
    home = str(project.root / ".moot")
    project.hook("claude", call("claude-write", project.root), CRANE, MOOT_HOME=home)
    said = reason(
        project.hook("claude", call("claude-write", project.other), OTTER, MOOT_HOME=home)
    )
    assert "a.txt is held by teal-crane" in said


@pytest.mark.parametrize("home", [".moot", "", "trees/../.moot"])
def test_a_worktree_inside_of_another_has_the_same_files(project: Project, home: str) -> None:
    """`moot run` names the home to its program; the session works in the outer worktree."""
    project.reserve(CRANE, "a.txt")
    tree = project.root / "trees" / "inner"
    assert project.git("worktree", "add", "-q", str(tree)).code == 0
    named = {"MOOT_HOME": str(project.root / home)} if home else {}
    for cwd in (project.root, tree):
        asked = {**call("claude-write", tree), "cwd": str(cwd)}
        said = reason(project.hook("claude", asked, OTTER, **named))
        assert "a.txt is held by teal-crane" in said
    assert project.owners() == {"a.txt": CRANE}


def test_a_submodule_is_guarded_by_the_project_around_it(project: Project) -> None:
    inner = project.root / "lib"
    inner.mkdir()
    (inner / ".git").write_text(f"gitdir: {project.root}/.git/modules/lib\n", encoding="utf-8")
    assert project.hook("claude", call("claude-write", inner)).out == ""
    assert project.owners() == {"lib/a.txt": OTTER}


# Libraries that take longer to load than a hook may take, or nearly so.
TOO_SLOW = {"click", "rich", "subprocess", "asyncio", "platformdirs", "ruamel", "json", "tempfile"}


def modules_after(
    project: Project, name: str, settings: Mapping[str, str] = MappingProxyType({}), **more: Any
) -> set[str]:
    """What a fresh process has imported when it has answered this call."""
    import subprocess
    import sys

    code = (
        "import sys; from moot.surfaces.hooks.entry import answer; import os;"
        "answer('claude', sys.stdin.buffer.read(), dict(os.environ), os.getcwd());"
        "print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=project.root,
        env={**project.env, "MOOT_AGENT": OTTER, **settings},
        input=json.dumps(call(name, project.root, **more)),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(done.stdout.split())


def test_an_answer_loads_no_library_of_the_command_line(project: Project) -> None:
    """A hook runs before every edit: what it does not need, it does not import."""
    loaded = modules_after(project, "claude-write")
    assert project.owners() == {"a.txt": OTTER}
    assert "moot.protocols.presence.machine" in loaded
    assert not loaded & TOO_SLOW
    subjects = {name for name in loaded if name.startswith("moot.api.")}
    assert subjects == {
        "moot.api.guard",
        "moot.api.guard.aliases",
        "moot.api.guard.call_journaling",
        "moot.api.guard.copies",
        "moot.api.guard.edits",
        "moot.api.guard.other_places",
        "moot.api.guard.guarded_paths",
        "moot.api.guard.holders",
        "moot.api.guard.stale_reads",
        "moot.api.guard.unmerged",
        "moot.api.guard.who_changed",
        "moot.api.hook_setup",
        "moot.api.hook_setup.hook_stamps",
        "moot.api.operation",
        "moot.api.session",
    }
    assert len({name for name in loaded if name.startswith("moot")}) <= 130


def test_a_real_hook_reads_no_decimal_number(project: Project) -> None:
    said = call("claude-write", project.root)
    _, told = project.start_hook("claude", said, PYTHONPROFILEIMPORTTIME="1").communicate(
        timeout=60
    )
    loaded = {line.rpartition(b"|")[2].strip() for line in told.splitlines()}
    assert b"moot.protocols.presence.liveness" in loaded
    assert b"decimal" not in loaded


def test_an_edit_that_has_ended_loads_nothing_to_ask_git_with(project: Project) -> None:
    """After every call, too: what it changed is asked of git only if it was a shell command."""
    loaded = modules_after(project, "claude-write-done")
    assert "moot.protocols.observed.machine" in loaded
    assert not loaded & TOO_SLOW
    assert len({name for name in loaded if name.startswith("moot")}) <= 138


def test_nothing_is_loaded_to_look_where_nothing_is(project: Project) -> None:
    """Without another worktree or branch, a file that is there or anybody who watches."""
    assert project.git("worktree", "remove", "--force", str(project.other)).code == 0
    loaded = modules_after(
        project, "claude-write", tool_input={"file_path": str(project.root / "new")}
    )
    assert project.owners() == {"new": OTTER}
    assert not loaded & {
        "moot.api.guard.sub_agents",
        "moot.api.guard.other_places",
        "moot.api.guard.held_changes",
        "moot.system.git_worktrees",
    }
    assert len({name for name in loaded if name.startswith("moot")}) <= 126


def test_the_usual_key_folder_is_found_without_a_library(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = project.root.parent / "home"
    for name in ("XDG_DATA_HOME", "ANDROID_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    folder = user_data_folder()
    folder.mkdir(parents=True)
    (folder / "keys").symlink_to(project.env["MOOT_KEYS"])
    loaded = modules_after(project, "claude-write", {"MOOT_KEYS": "", "HOME": str(home)})
    assert project.owners() == {"a.txt": OTTER}
    assert not loaded & TOO_SLOW


@pytest.mark.parametrize(
    "command",
    ["pytest -q 2>&1 | tail", "git status", "git checkout main", "git checkout -- a.txt", "rm /x"],
)
def test_a_harmless_shell_command_opens_no_ledger_beforehand(
    project: Project, command: str
) -> None:
    """Nor does one that reaches nothing: git has all of a.txt."""
    loaded = modules_after(project, "claude-bash", tool_input={"command": command})
    assert "moot.workspace.call_journal" in loaded
    assert not {name for name in loaded if name.startswith(("moot.engine", "moot.store", "nacl"))}


def test_a_file_name_cannot_smuggle_a_command_into_the_advice(project: Project) -> None:
    evil = "$(touch x)`id`'.txt"
    project.reserve(CRANE, evil)
    said = reason(project.hook("claude", call("claude-write", project.root, evil)))
    _, ask, _, check, _ = said.split("`")
    for command, word, meant in (
        (ask, ask.partition("--subject ")[2].partition(" --blocker")[0], evil),
        (check, check.partition("guard check ")[2], f":/{evil}"),
    ):
        assert word
        assert "$(" not in command
        printed = ["bash", "-c", f"printf %s {word}"]
        assert subprocess.check_output(printed, text=True, timeout=10) == meant


@pytest.mark.parametrize(
    "odd",
    [b'"\\ud800"', b"NaN", b"1e400", b"12345678901234567890123"],
    ids=["half a character", "no number", "too large a number", "a long number"],
)
def test_whatever_pythons_json_reads_is_read(odd: bytes, project: Project) -> None:
    data = json.dumps(call("claude-write", project.root)).encode()
    data = data.replace(b'"tool_input": {', b'"tool_input": {"odd": ' + odd + b", ", 1)
    read = read_call(find_tool("claude"), data, str(project.root))
    assert repr(read.input) == repr(json.loads(data)["tool_input"])
    as_utf_16 = data.decode().encode("utf-16")
    assert repr(read_call(find_tool("claude"), as_utf_16, str(project.root))) == repr(read)
