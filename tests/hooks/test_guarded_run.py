"""`moot run` of a coding tool: guarded, or not started; and what nobody checked is on record."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from moot.api.session import Session
from moot.core.errors import Refused
from moot.core.findings import Finding
from moot.keys.folder import KeyFolder
from moot.runner import guard_proof, moot_run
from moot.runner import guard_proof as silent_tools
from moot.runner.run_watch import RunWatch
from tests.hooks.fake_tools import prepare_path, put_codex, put_program, write
from tests.hooks.tool_calls import call
from tests.project import CRANE, OTTER, Project
from tests.project import MOOT as MOOT_WORDS

FINCH = "coral-finch"
SECONDS = 60
HEADER = f"""#!{sys.executable}
import json, os, subprocess, sys
from pathlib import Path

def speak(event="SessionStart"):
    said = {{"session_id": "s1", "cwd": os.getcwd(), "hook_event_name": event, "source": "startup"}}
    subprocess.run(["moot", "hook", "claude"], input=json.dumps(said), text=True, check=True,
                   stdout=subprocess.DEVNULL, timeout={SECONDS})

def guard():
    done = subprocess.run(["moot", "--json", "status"], capture_output=True, check=True,
                          timeout={SECONDS})
    agents = json.loads(done.stdout)["data"]["agents"]
    return next(one["guarded"] for one in agents if one["agent"] == os.environ["MOOT_AGENT"])

def wait_until(state):
    for _ in range(30):
        if guard() == state:
            return
    sys.exit("it never was " + state)
"""


@pytest.fixture
def ready(project: Project) -> Project:
    prepare_path(project)
    return project


def put_claude(project: Project, body: str, name: str = "claude") -> Path:
    return put_program(Path(project.env["PATH"]), name, HEADER + body)


def agents(project: Project) -> dict[str, str]:
    return {one["agent"]: one["status"] for one in project.ok("status", "--all")["agents"]}


def facts(project: Project) -> tuple[int, dict[str, str]]:
    """How many events there are, and who was ever registered."""
    seen = project.ok("status", "--all")
    return seen["record"]["events"], {one["agent"]: one["status"] for one in seen["agents"]}


def unguarded(project: Project) -> list[tuple[str, str, bool, str]]:
    spans = project.ok("status")["unguarded"]
    return [(one["agent"], one["tool"], one["until"] is not None, one["why"]) for one in spans]


def run(project: Project, *words: str, **settings: str) -> Any:
    return project.spawn("run", "--name", FINCH, *words, **settings)


# Guarded.


def test_a_tool_is_expected_to_speak_and_guarded_once_it_has(ready: Project) -> None:
    put_claude(ready, "print(guard()); speak(); print(guard())")
    done = run(ready, "--", "claude")
    assert (done.code, done.out) == (0, "expected\nguarded\n"), done.err
    assert "installed hooks for claude" in done.err
    assert "unguarded" not in done.err
    assert unguarded(ready) == []
    assert ready.ok("trace", "observed")["counted"] == "observed 0, gaps 0"
    assert agents(ready)[FINCH] == "retired"


@pytest.mark.requirement("LAU-011")
@pytest.mark.parametrize(
    "words",
    [
        ("env", "A=b", "claude", "-p", "x"),
        ("timeout", "50", "claude"),
        ("bash", "-c", "exec claude -p x"),
        ("sh", "-ec", "claude -p x"),
        ("./linked",),
    ],
)
def test_a_tool_behind_a_wrapper_gets_its_hooks(ready: Project, words: tuple[str, ...]) -> None:
    program = put_claude(ready, "speak(); print(guard())")
    (ready.root / "linked").symlink_to(program)
    done = run(ready, "--json", "--", *words)
    assert (done.code, done.data["tools"], done.data["unguarded"]) == (0, ["claude"], []), done
    assert "guarded\n" in done.err
    assert "installed hooks for claude" in done.err


@pytest.mark.requirement("LAU-015")
def test_a_program_that_is_no_tool_is_watched(ready: Project) -> None:
    put_claude(ready, "print(guard())", name="script")
    done = run(ready, "--", "script")
    assert (done.code, done.out) == (0, "watched\n")
    assert unguarded(ready) == []


def test_a_start_that_only_tells_something_needs_no_guard(ready: Project) -> None:
    put_codex(Path(ready.env["PATH"]))
    assert run(ready, "--", "codex", "--version").code == 0
    assert not (ready.root / ".codex").exists()
    assert unguarded(ready) == []


# Refused.


def refuse(project: Project, *words: str, **settings: str) -> dict[str, Any]:
    """The error of a run that must not start; nobody came, nothing was recorded or written."""
    before = facts(project)
    done = run(project, "--json", "--", *words, **settings)
    assert (done.code, done.error["code"]) == (1, "guard_off"), done
    assert done.error["hint"]
    assert facts(project) == before
    assert not (project.root / "written.txt").exists()
    error: dict[str, Any] = done.error
    return error


@pytest.mark.requirement("LAU-008")
def test_headless_codex_does_not_start_without_trust(ready: Project) -> None:
    put_codex(Path(ready.env["PATH"]))
    ready.reserve(CRANE, "written.txt")
    error = refuse(ready, "codex", "exec", "overwrite it")
    assert "`moot hook install codex --trust`" in error["hint"]
    assert [one["code"] for one in error["findings"]] == ["hook_untrusted"]
    ready.ok("hook", "install", "codex", "--trust")
    done = run(ready, "--", "codex", "exec", "x")
    assert done.code == 0, done.err
    assert (ready.root / "written.txt").exists()
    assert unguarded(ready) == []


def test_codex_in_another_home_is_another_codex(ready: Project, tmp_path: Path) -> None:
    put_codex(Path(ready.env["PATH"]))
    ready.ok("hook", "install", "codex", "--trust")
    error = refuse(ready, "env", f"CODEX_HOME={tmp_path / 'new'}", "codex", "exec", "x")
    assert f"CODEX_HOME={tmp_path / 'new'} moot hook install codex" in error["hint"]


def test_a_flag_that_the_tool_suggests_itself_does_not_unguard_it(ready: Project) -> None:
    put_claude(ready, "Path('written.txt').touch()", name="gemini")
    refuse(ready, "gemini", "--skip-trust", "--yolo")
    refuse(ready, "gemini", "--yolo")


@pytest.mark.requirement("LAU-009")
@pytest.mark.parametrize(
    "words",
    [
        ("claude", "--bare"),
        ("claude", "--setting-sources", "user"),
        ("claude", "--settings", '{"disableAllHooks": true}'),
        ("env", "-i", "{bin}/claude"),
        ("bash", "-c", "claude --bare -p x"),
        ("npx", "-y", "@anthropic-ai/claude-code", "--bare"),
    ],
)
def test_a_switch_in_the_command_line_refuses_the_start(
    ready: Project, words: tuple[str, ...]
) -> None:
    put_claude(ready, "Path('written.txt').touch()")
    put_claude(ready, "Path('written.txt').touch()", name="npx")
    refuse(ready, *(word.replace("{bin}", ready.env["PATH"]) for word in words))


@pytest.mark.requirement("LAU-010")
def test_settings_that_cannot_be_merged_refuse_the_start_and_stay(ready: Project) -> None:
    put_claude(ready, "Path('written.txt').touch()")
    files = [ready.root / ".claude" / name for name in ("settings.json", "settings.local.json")]
    for file in files:
        write(file, "{ by hand")
    refuse(ready, "claude")
    assert [file.read_text() for file in files] == ["{ by hand"] * 2


def test_a_tool_that_would_work_elsewhere_is_refused(ready: Project, tmp_path: Path) -> None:
    put_codex(Path(ready.env["PATH"]))
    ready.ok("hook", "install", "codex", "--trust")
    (tmp_path / "elsewhere").mkdir()
    error = refuse(ready, "codex", "-C", str(tmp_path / "elsewhere"), "exec", "x")
    assert [one["code"] for one in error["findings"]] == ["hook_other_folder"]


def test_one_tool_of_two_that_is_off_refuses_both(ready: Project) -> None:
    put_claude(ready, "Path('written.txt').touch()")
    put_codex(Path(ready.env["PATH"]))
    refuse(ready, "sh", "-c", "claude -p a; codex exec b")


# Unguarded, because somebody wants it so.


@pytest.mark.requirement("LAU-012")
def test_what_is_started_unguarded_says_so_and_is_on_record(ready: Project) -> None:
    put_claude(ready, "print(guard()); Path('written.txt').touch()")
    done = run(ready, "--unguarded", "--", "claude", "--bare")
    assert (done.code, done.out) == (0, "unguarded\n")
    lines = [line for line in done.err.splitlines() if "nothing checks" in line]
    assert len(lines) == 1
    assert "--bare" in lines[0]
    assert "no hook was called, and these files changed: written.txt" in done.err
    assert unguarded(ready) == [(FINCH, "claude", True, "unguarded")]
    shown = ready.run("status").out
    assert f"unguarded  {FINCH} (claude) from 2" in shown
    counted = ready.ok("trace", "observed")["counted"]
    assert counted.startswith("observed 0, gaps 1 (unguarded from ")
    assert " to " in counted
    assert not (ready.root / ".claude").exists()


def test_an_unguarded_start_of_a_guarded_tool_is_guarded(ready: Project) -> None:
    put_claude(ready, "print(guard()); speak(); print(guard())")
    ready.ok("hook", "install", "claude")
    done = run(ready, "--unguarded", "--", "claude")
    assert (done.code, done.out) == (0, "expected\nguarded\n"), done.err
    assert unguarded(ready) == []


def test_what_an_unguarded_run_changed_is_signed_by_its_agent(ready: Project) -> None:
    put_claude(ready, "Path('a.txt').write_text('two'); Path('new.txt').touch()")
    done = run(ready, "--json", "--unguarded", "--", "claude", "--bare")
    assert (done.data["tools"], done.data["unguarded"]) == (["claude"], ["claude"])
    (session,) = ready.ok("trace", "observed")["sessions"]
    with ready.workspace() as space, space.store.read() as view:
        bodies = [record.body for record in view.records(session["id"])]
    assert [body.type.partition(".")[2] for body in bodies] == [
        "observing_begun",
        "watching_stopped",
        "unseen_changes_noted",
        "gap_noted",
        "observing_ended",
    ]
    assert bodies[2].data["files"] == ["a.txt", "new.txt"]
    assert {body.actor.id for body in bodies} == {FINCH}
    assert ready.ok("verify")["verdict"] in ("valid", "unproven")


# A yes at a terminal.


class Consenting(RunWatch):
    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self.silent: list[str] = []
        self.files: list[str] = []
        self.program: subprocess.Popen[bytes] | None = None

    def consents_to_trust(self, tool: str, problems: Sequence[Finding]) -> bool:
        self.asked.append((tool, [problem.code for problem in problems]))
        return True

    def started(self, program: subprocess.Popen[bytes]) -> None:
        self.program = program

    def silent_tool(self, tool: str) -> None:
        self.silent.append(tool)
        assert self.program is not None
        self.program.terminate()

    def unseen_changes(self, files: Sequence[str]) -> None:
        self.files += files


def session_in(project: Project) -> Session:
    return Session(project.root, keys=KeyFolder(project.keys), env=project.env)


@pytest.mark.requirement("LAU-014")
def test_a_persons_consent_stores_trust_and_starts_the_tool(ready: Project) -> None:
    put_codex(Path(ready.env["PATH"]))
    watch = Consenting()
    with session_in(ready) as session:
        ran = moot_run.run(session, ["codex", "exec", "x"], name=FINCH, watch=watch)
    assert (ran.exit_status, ran.unguarded) == (0, ())
    assert watch.asked == [("codex", ["hook_untrusted"])]
    assert unguarded(ready) == []


def test_consent_does_not_switch_hooks_on_that_were_switched_off(ready: Project) -> None:
    put_claude(ready, "Path('written.txt').touch()")
    watch = Consenting()
    before = facts(ready)
    with session_in(ready) as session, pytest.raises(Refused) as refused:
        moot_run.run(session, ["claude", "--bare"], watch=watch)
    assert (refused.value.code, watch.asked, facts(ready)) == ("guard_off", [], before)


@pytest.mark.parametrize(("typed", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
def test_a_person_at_a_terminal_is_asked(ready: Project, typed: bytes, code: int) -> None:
    put_codex(Path(ready.env["PATH"]))
    ours, theirs = pty.openpty()
    os.write(ours, typed)
    try:
        done = subprocess.run(
            [*MOOT_WORDS, "run", "--name", FINCH, "--", "codex", "exec", "x"],
            cwd=ready.root,
            env=ready.env,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            timeout=SECONDS,
            check=False,
        )
    finally:
        os.close(theirs)
        os.close(ours)
    assert done.returncode == code
    assert (ready.root / "written.txt").exists() == (code == 0)
    assert (FINCH in agents(ready)) == (code == 0)


# Proved afterwards.


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A silent tool is told at the first look."""
    monkeypatch.setattr(silent_tools, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(guard_proof, "LOOK_SECONDS", 0.02)


@pytest.mark.usefixtures("impatient")
def test_a_tool_that_appears_below_and_is_silent_is_told_once(ready: Project) -> None:
    """It is started by a script that nobody looked into; told, the test ends the script."""
    put_claude(ready, "Path('written.txt').touch(); sys.stdin.read()")
    body = "subprocess.run(['claude'], stdin=subprocess.PIPE)"
    put_claude(ready, f"p = {body.replace('run', 'Popen')}\np.wait()", name="script")
    watch = Consenting()
    with session_in(ready) as session:
        ran = moot_run.run(session, ["script"], name=FINCH, watch=watch)
    assert (ran.exit_status, ran.tools) == (128 + 15, ())
    assert watch.silent == ["claude"]
    assert unguarded(ready) == []


@pytest.mark.usefixtures("impatient")
def test_a_tool_that_takes_long_to_start_is_not_called_unguarded(ready: Project) -> None:
    put_claude(ready, "sys.stdin.readline(); speak(); print(guard(), flush=True)")
    put_claude(ready, "subprocess.run(['claude'], check=True)", name="script")

    class Late(Consenting):
        def silent_tool(self, tool: str) -> None:
            self.silent.append(tool)
            os.write(told, b"go on\n")

    wait, told = os.pipe()
    watch = Late()
    before = os.dup(0)
    os.dup2(wait, 0)
    try:
        with session_in(ready) as session:
            ran = moot_run.run(session, ["script"], name=FINCH, watch=watch)
    finally:
        os.dup2(before, 0)
        for descriptor in (wait, told, before):
            os.close(descriptor)
    assert (ran.exit_status, watch.silent) == (0, ["claude"])
    assert unguarded(ready) == []
    assert ready.ok("trace", "observed")["counted"] == "observed 0, gaps 0"


@pytest.mark.requirement("LAU-013")
def test_files_that_changed_while_no_hook_spoke_are_noted_without_blame(ready: Project) -> None:
    """Who changed them is not known: the tool shows no call."""
    put_claude(ready, "Path('a.txt').write_text('changed')")
    done = run(ready, "--", "claude")
    assert done.code == 0
    assert "no hook was called, and these files changed: a.txt" in done.err
    assert unguarded(ready) == []
    with ready.workspace() as space, space.store.read() as view:
        (stream,) = [row.key for row in view.rows("observed.sessions")]
        bodies = [record.body for record in view.records(stream)]
    names = [body.type.partition(".")[2] for body in bodies]
    assert names == ["observing_begun", "unseen_changes_noted", "observing_ended"]
    assert bodies[1].data["files"] == ["a.txt"]


SHOWN = """
import datetime
def show(name="Write", cwd=None, session="s9"):
    at = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    use = {"type": "tool_use", "id": "t1", "name": name, "input": {}}
    line = {"sessionId": session, "cwd": cwd or os.getcwd(), "timestamp": at,
            "message": {"role": "assistant", "content": [use]}}
    file = Path(os.environ["HOME"]) / ".claude/projects/x/s9.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(line) + "\\n")
"""


def test_a_call_that_the_tool_shows_and_no_hook_was_asked_about_is_unguarded(
    ready: Project,
) -> None:
    put_claude(ready, f"{SHOWN}\nshow()\nPath('a.txt').write_text('changed')")
    done = run(ready, "--", "claude")
    assert done.code == 0
    assert "unguarded: claude made a call without asking its hook" in done.err
    assert unguarded(ready) == [(FINCH, "claude", True, "no hook spoke")]


@pytest.mark.parametrize(
    "body",
    ["show('Read')", "show(cwd='/elsewhere')", "speak(); show(session='s1')"],
    ids=["it only reads", "it works elsewhere", "its hook has spoken"],
)
def test_other_calls_that_a_tool_shows_prove_nothing(ready: Project, body: str) -> None:
    put_claude(ready, f"{SHOWN}\n{body}")
    done = run(ready, "--", "claude")
    assert (done.code, unguarded(ready)) == (0, [])
    assert "unguarded" not in done.err


# Settings that lose our hooks while the tool runs.


class Losing(RunWatch):
    """Hears what is told of settings that change."""

    def __init__(self) -> None:
        self.lost: list[tuple[str, str, bool]] = []
        self.heard: list[str] = []

    def hooks_lost(self, tool: str, worktree: str, *, is_kept: bool) -> None:
        self.lost.append((tool, worktree, is_kept))

    def hooks_heard(self, tool: str) -> None:
        self.heard.append(tool)


# What a program does to the settings, which it has as `file`.
FILE = "file = Path('.claude/settings.local.json')"
LOSSES = {
    "removed": "file.unlink()",
    "emptied": "file.write_text('{}')",
    "its folder removed": "import shutil; shutil.rmtree(file.parent)",
    "no shell": "file.write_text(file.read_text().replace('|Bash', ''))",
    "a short time": "file.write_text(file.read_text().replace(': 10', ': 1'))",
    "switched off": "file.with_name('settings.json').write_text('{\"disableAllHooks\": true}')",
}
HARMLESS = {
    "another setting": "file.write_text(json.dumps(json.loads(file.read_text()) | {'model': 1}))",
    "another hook": "file.write_text(file.read_text().replace('{', '{\"mine\": [],', 1))",
    "more time": "file.write_text(file.read_text().replace(': 10', ': 30'))",
    "the project's settings": "file.with_name('settings.json').write_text('{}')",
}


def run_watched(project: Project, body: str) -> Losing:
    """A run of a tool whose hook has spoken, and which then does this."""
    put_claude(project, f"speak(); {FILE}\n{body}")
    watch = Losing()
    with session_in(project) as session:
        ran = moot_run.run(session, ["claude"], name=FINCH, watch=watch)
    assert ran.exit_status == 0
    return watch


@pytest.fixture
def attentive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings are looked at all the time."""
    monkeypatch.setattr(guard_proof, "LOOK_SECONDS", 0.05)


@pytest.mark.requirement("GRD-031")
@pytest.mark.usefixtures("attentive")
@pytest.mark.parametrize("how", LOSSES)
def test_hooks_that_are_removed_while_the_tool_runs_are_told_and_on_record(
    ready: Project, how: str
) -> None:
    watch = run_watched(ready, f"{LOSSES[how]}\nwait_until('unguarded')")
    assert watch.lost == [("claude", str(ready.root), False)]
    assert unguarded(ready) == [(FINCH, "claude", True, "hook off")]


CALLED = """
def called():
    said = {"session_id": "s1", "cwd": os.getcwd(), "hook_event_name": "PostToolUse",
            "tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t1"}
    subprocess.run(["moot", "hook", "claude"], input=json.dumps(said), text=True, check=True,
                   stdout=subprocess.DEVNULL, timeout=60)
"""


@pytest.mark.usefixtures("attentive")
def test_a_call_that_ends_after_the_loss_does_not_prove_that_hooks_are_kept(ready: Project) -> None:
    """It began before, and the tool has not read its settings again."""
    steps = [CALLED, LOSSES["removed"], "wait_until('unguarded')", "called()"]
    watch = run_watched(ready, "\n".join([*steps, "assert guard() == 'unguarded'"]))
    assert watch.heard == []
    assert unguarded(ready) == [(FINCH, "claude", True, "hook off")]


@pytest.mark.usefixtures("attentive")
def test_a_hook_that_speaks_later_does(ready: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_proof, "SETTLED_SECONDS", 0.0)
    until_guarded = "for _ in range(10):\n    called()\n    if guard() == 'guarded': break"
    steps = [CALLED, LOSSES["removed"], "wait_until('unguarded')", until_guarded]
    watch = run_watched(ready, "\n".join(steps))
    assert watch.heard == ["claude"]
    assert unguarded(ready) == [(FINCH, "claude", True, "hook off")]


@pytest.mark.parametrize("how", HARMLESS)
def test_any_other_change_of_settings_is_none_of_ours(ready: Project, how: str) -> None:
    """The last look is when the program has ended."""
    watch = run_watched(ready, HARMLESS[how])
    assert (watch.lost, unguarded(ready)) == ([], [])


CHANGED = """
def changed(source="local_settings"):
    said = {"session_id": "s1", "cwd": os.getcwd(), "hook_event_name": "ConfigChange",
            "source": source, "file_path": ".claude/settings.local.json"}
    return subprocess.run(["moot", "hook", "claude"], input=json.dumps(said), text=True,
                          stderr=subprocess.DEVNULL, timeout=60).returncode
"""


@pytest.mark.usefixtures("attentive")
def test_a_tool_that_keeps_its_hooks_is_not_unguarded_for_long(ready: Project) -> None:
    """Claude Code asks before it lets go of them, a moment after the files were changed."""
    steps = [CHANGED, LOSSES["removed"], "wait_until('unguarded')", "assert changed() == 2"]
    watch = run_watched(ready, "\n".join([*steps, "wait_until('guarded')"]))
    assert watch.lost == [("claude", str(ready.root), False)]
    assert watch.heard == ["claude"]
    (span,) = ready.ok("status")["unguarded"]
    assert (span["why"], span["until"] is not None) == ("hook off", True)


def test_a_tool_under_a_run_of_its_own_is_that_runs(ready: Project) -> None:
    put_claude(ready, "speak(); print(guard())")
    done = run(ready, "--", "moot", "run", "--name", "slate-wren", "--", "claude")
    assert (done.code, done.out) == (0, "guarded\n"), done.err
    assert unguarded(ready) == []


# Odd places.


def test_without_a_repository_the_workspaces_folder_counts(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    project = Project(root, tmp_path / "keys")
    prepare_path(project)
    project.ok("init")
    put_claude(project, "speak(); print(guard())")
    done = run(project, "--", "claude")
    assert (done.code, done.out) == (0, "guarded\n"), done.err


def test_a_home_that_cannot_be_written_does_not_unguard(ready: Project) -> None:
    put_codex(Path(ready.env["PATH"]))
    home = write(ready.root.parent / "a file", "not a folder")
    error = refuse(ready, "codex", "exec", "x", HOME=str(home))
    assert "codex" in error["message"]


def test_in_the_second_worktree_the_tool_is_guarded_there(ready: Project) -> None:
    put_claude(ready, "speak(); print(guard())")
    done = ready.spawn("run", "--name", FINCH, "--", "claude", cwd=ready.other)
    assert (done.code, done.out) == (0, "guarded\n"), done.err
    assert not (ready.root / ".claude").exists()


def test_a_repository_inside_another_is_guarded_or_refused(ready: Project) -> None:
    inner = ready.root / "inner"
    inner.mkdir()
    assert ready.git("init", "--quiet", cwd=inner).code == 0
    put_claude(ready, "Path('written.txt').touch()")
    before = facts(ready)
    done = ready.spawn("run", "--json", "--name", FINCH, "--", "claude", cwd=inner)
    assert (done.code, done.error["code"]) == (1, "guard_off")
    assert f"cd {ready.root}" in done.error["hint"]
    assert facts(ready) == before
    assert json.dumps(sorted(os.listdir(inner))) == '[".git"]'


def test_in_a_submodule_the_tool_is_guarded_or_refused(ready: Project, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for words in (("init", "--quiet"), ("commit", "--quiet", "--allow-empty", "--message=first")):
        assert ready.git(*words, cwd=source).code == 0
    allow = ("-c", "protocol.file.allow=always")
    added = ready.git(
        *allow, "submodule", "--quiet", "add", str(source), "part", PATH=os.environ["PATH"]
    )
    assert added.code == 0, added
    put_claude(ready, "Path('written.txt').touch()")
    before = facts(ready)
    done = ready.spawn("run", "--json", "--name", FINCH, "--", "claude", cwd=ready.root / "part")
    assert (done.code, done.error["code"]) == (1, "guard_off")
    assert f"cd {ready.root}" in done.error["hint"]
    assert facts(ready) == before


# As `status` and `agent` tell it.


class Asking(RunWatch):
    """Looks at the workspace while the program runs."""

    def __init__(self, project: Project) -> None:
        self._yard = project
        self.status: dict[str, Any] = {}
        self.lines = ""

    def started(self, _program: subprocess.Popen[bytes]) -> None:
        self.status = self._yard.ok("status")
        self.lines = self._yard.run("status").out


def test_while_it_runs_unguarded_everyone_can_see_it(ready: Project) -> None:
    put_claude(ready, "")
    watch = Asking(ready)
    with session_in(ready) as session:
        words = ["claude", "--bare"]
        ran = moot_run.run(session, words, name=FINCH, unguarded=True, watch=watch)
    assert ran.unguarded == ("claude",)
    (finch,) = [one for one in watch.status["agents"] if one["agent"] == FINCH]
    (span,) = watch.status["unguarded"]
    assert (finch["guarded"], span["until"]) == ("unguarded", None)
    assert f"unguarded  {FINCH} (claude) from {span['since']} until now" in watch.lines


def test_a_session_that_its_own_hook_began_is_guarded(project: Project) -> None:
    project.hook("claude", call("claude-start", project.root), OTTER)
    shown = {one["agent"]: one["guarded"] for one in project.ok("agent", "list")["agents"]}
    assert shown == {OTTER: "guarded", CRANE: None}
    assert project.ok("agent", "show", OTTER)["guarded"] == "guarded"
    (row,) = [line for line in project.run("status").out.splitlines() if line.startswith(OTTER)]
    words = row.split()
    assert words[:4] == [OTTER, "·", "claude", "Active"]
    assert "guarded" in words


def test_a_hook_that_was_taken_away_unguards_its_session(project: Project) -> None:
    project.ok("hook", "install", "claude")
    project.hook("claude", call("claude-start", project.root), OTTER)
    project.ok("hook", "uninstall", "claude")
    assert project.ok("agent", "show", OTTER)["guarded"] == "unguarded"


def test_who_has_ended_is_guarded_by_nobody(project: Project) -> None:
    project.hook("claude", call("claude-start", project.root), OTTER)
    project.ok("agent", "retire", OTTER)
    assert project.ok("agent", "show", OTTER)["guarded"] is None
