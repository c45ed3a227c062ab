"""Dead on this machine is seen at once: by the lock that a run and its program keep open."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.terminal import on_a_terminal
from tests.cli.test_presence import as_, held
from tests.project import MOOT, Project, git

PYTHON = sys.executable
# Says its number, then works until its standard input ends.
WORKING = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"


class Started:
    """A `moot run`, and its program's process number."""

    def __init__(self, runner: subprocess.Popen[bytes], program: int) -> None:
        self.runner = runner
        self.program = program

    def kill_all(self) -> None:
        """As when a terminal crashes: nobody can say goodbye."""
        self.runner.kill()
        self.runner.wait(timeout=60)
        os.kill(self.program, signal.SIGKILL)
        self._until_program_ended()

    def _until_program_ended(self) -> None:
        """Its end of the pipe is closed with it."""
        assert self.runner.stdout is not None
        assert self.runner.stdout.read() == b""


@contextmanager
def running(project: Project, *words: str) -> Iterator[Started]:
    runner = subprocess.Popen(
        [*MOOT, "run", *words, "--", PYTHON, "-c", WORKING],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert runner.stdin is not None
    assert runner.stdout is not None
    try:
        yield Started(runner, int(runner.stdout.readline()))
    finally:
        runner.stdin.close()
        runner.stdout.read()
        runner.wait(timeout=60)
        runner.stdout.close()


@pytest.fixture
def project(bare: Project) -> Project:
    bare.init_git()
    bare.init()
    bare.ok("join", "--register", "teal-crane")
    return bare


def leave_file(project: Project) -> None:
    (project.root / "src").mkdir(exist_ok=True)
    (project.root / "src" / "a.py").write_text("half done")


def crash(project: Project, *, uncommitted: bool = False) -> None:
    """amber-otter held src and is gone, with a file that is not committed if so wanted."""
    with running(project, "--name", "amber-otter", "--reserve", "src") as started:
        if uncommitted:
            leave_file(project)
        started.kill_all()


def otter(project: Project) -> dict[str, str]:
    (view,) = (
        one for one in project.ok("status", "--all")["agents"] if one["agent"] == "amber-otter"
    )
    return {field: view[field] for field in ("status", "liveness", "evidence")}


def events_of(project: Project, kind: str) -> list[dict[str, object]]:
    log = project.ok("ledger", "log", "presence", "--type", f"presence.{kind}")["events"]
    return [one["data"] for one in log]


def test_a_living_run_is_running_and_one_that_ended_is_just_that(project: Project) -> None:
    with running(project, "--name", "amber-otter"):
        assert otter(project) == {"status": "active", "liveness": "active", "evidence": "running"}
    assert otter(project)["status"] == "retired"
    assert not list(project.keys.glob("*/*.running"))


def test_gone_is_seen_at_once_and_liveness_stays_what_time_says(project: Project) -> None:
    crash(project, uncommitted=True)
    assert otter(project) == {"status": "active", "liveness": "active", "evidence": "gone"}
    assert "have ended" in project.ok("agent", "show", "amber-otter")["process"]
    row = next(line for line in project.run("status").out.splitlines() if "amber-otter" in line)
    assert "Gone" in row


def test_a_reader_ends_nobody_and_the_next_writing_command_does(project: Project) -> None:
    crash(project)
    for words in (("status",), ("agent", "list"), ("scope", "list"), ("guard", "check", "x")):
        project.ok(*words)
    assert held(project) == [("src", "amber-otter")]
    project.ok(*as_("teal-crane", "reserve", "docs"))
    assert held(project) == [("docs", "teal-crane")]
    assert otter(project)["status"] == "retired"
    (gone,) = events_of(project, "agent_gone")
    assert (gone["agent"], gone["observer"]) == ("amber-otter", "teal-crane")
    (freed,) = events_of(project, "scope_freed")
    assert (freed["owner"], freed["scope"], freed["why"]) == ("amber-otter", "src", "gone")
    assert project.ok("verify")["verdict"] == "valid"


def test_what_it_held_is_free_for_anyone_who_asks_next(project: Project) -> None:
    crash(project)
    project.ok(*as_("teal-crane", "reserve", "src"))
    assert held(project) == [("src", "teal-crane")]
    assert project.ok("event", "list")["events"] == []  # nobody reached into anything


def test_uncommitted_work_stays_held_and_the_refusal_says_what_to_do(project: Project) -> None:
    crash(project, uncommitted=True)
    done = project.json(*as_("teal-crane", "reserve", "src"))
    assert (done.code, done.error["code"]) == (1, "reservation_conflict")
    hint = done.error["hint"]
    assert "src/a.py" in hint
    assert "moot run --adopt amber-otter -- COMMAND" in hint
    assert "moot release :/src --force --reason TEXT" in hint
    part = project.json(*as_("teal-crane", "reserve", "src/a.py")).error["hint"]
    assert "moot release :/src --force --reason TEXT" in part  # what is held, not what was asked
    assert [one["code"] for one in done.error["findings"]][-1] == "holder_gone"
    assert held(project) == [("src", "amber-otter")]
    assert otter(project)["status"] == "active"


def test_committed_work_lets_it_go(project: Project) -> None:
    crash(project, uncommitted=True)
    git(project.root, "add", "src")
    git(project.root, "commit", "-q", "-m", "saved")
    project.ok(*as_("teal-crane", "reserve", "src"))
    assert held(project) == [("src", "teal-crane")]


def test_the_hint_of_the_refusal_works(project: Project) -> None:
    crash(project, uncommitted=True)
    with running(project, "--adopt", "amber-otter"):
        assert otter(project)["evidence"] == "running"
        assert held(project) == [("src", "amber-otter")]


def test_a_program_that_outlives_its_run_is_not_gone(project: Project) -> None:
    """The lock ends with the last of them."""
    with running(project, "--name", "amber-otter", "--reserve", "src") as started:
        leave_file(project)
        started.runner.kill()
        started.runner.wait(timeout=60)
        assert otter(project)["evidence"] == "running"
        assert project.refused(*as_("teal-crane", "reserve", "src")) == ("reservation_conflict", 1)
        words = ("run", "--adopt", "amber-otter", "--", PYTHON, "-c", "pass")
        assert project.refused(*words) == ("agent_alive", 1)
        assert held(project) == [("src", "amber-otter")]
    assert otter(project)["evidence"] == "gone"


def test_an_edit_is_let_through_what_a_gone_session_held(project: Project) -> None:
    crash(project)
    assert _edit(project) == ""
    assert held(project) == [("src/a.py", "teal-crane")]


def test_an_edit_over_uncommitted_work_is_held_back_with_the_tools_own_line(
    project: Project,
) -> None:
    with running(project, "--name", "amber-otter", "--reserve", "src") as started:
        leave_file(project)
        _hook(project, "amber-otter", "SessionStart", "5d6c8e82")
        started.kill_all()
    reason = _edit(project)
    assert "src/a.py" in reason
    assert "moot run --adopt amber-otter -- claude --resume 5d6c8e82" in reason
    assert "takeover" not in reason


def _edit(project: Project) -> str:
    """Why teal-crane may not edit src/a.py; empty if it may."""
    written = {"file_path": str(project.root / "src" / "a.py"), "content": "x"}
    answer = _hook(
        project, "teal-crane", "PreToolUse", "s-2", tool_name="Write", tool_input=written
    )
    if not answer.strip():
        return ""
    reason: str = json.loads(answer)["hookSpecificOutput"]["permissionDecisionReason"]
    return reason


def _hook(project: Project, agent: str, event: str, session: str, **more: object) -> str:
    call = {"hook_event_name": event, "session_id": session, "cwd": str(project.root), **more}
    done = subprocess.run(
        [*MOOT, "hook", "claude"],
        cwd=project.root,
        env={**project.env, "MOOT_AGENT": agent},
        input=json.dumps(call).encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout.decode()


def test_an_agents_own_command_lets_its_run_end_the_gone(project: Project) -> None:
    """It has no key of the ledger's; its `moot run` has, and looks for itself."""
    crash(project)
    inner = (*MOOT, "reserve", "src", "--json")
    call = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    words = ("run", "--name", "coral-finch", "--", PYTHON, "-c", call, *inner)
    assert project.spawn(*words, MOOT_CLOCK="").code == 0
    (gone,) = events_of(project, "agent_gone")
    assert gone["agent"] == "amber-otter"


# What it owed and was owed

BLOCKED = (
    *("--subject", "the port", "--blocker", "none is named", "--work", "T-1"),
    *("--requested-action", "name it"),
)


def crash_owing(project: Project, *, uncommitted: bool = False) -> None:
    """amber-otter is gone, with an answer that it owed to teal-crane."""
    with running(project, "--name", "amber-otter", "--reserve", "src") as started:
        project.ok(*as_("teal-crane", "blocked", "amber-otter", *BLOCKED))
        if uncommitted:
            leave_file(project)
        started.kill_all()


def owed(project: Project) -> list[tuple[str, str]]:
    return [(item["who"], item["what"]) for item in project.ok("agenda")["due"]]


def told(project: Project, name: str) -> list[str]:
    return [each["subject"] for each in project.ok(*as_(name, "inbox"))["messages"]]


def test_what_the_gone_owed_lapses_with_the_command_that_ends_it(project: Project) -> None:
    crash_owing(project)
    assert owed(project) == [("amber-otter", "give input")]
    project.ok(*as_("teal-crane", "reserve", "docs"))
    lapsed = project.ok("ledger", "log", "presence", "--type", "presence.answer_lapsed")["events"]
    assert [one["data"]["ended"] for one in lapsed] == ["amber-otter"]
    assert told(project, "teal-crane") == ["INFO: not answered: amber-otter ended"]
    assert owed(project) == []
    assert project.ok("verify")["verdict"] == "valid"


def test_what_the_gone_owed_lapses_by_an_edit_too(project: Project) -> None:
    crash_owing(project)
    assert _edit(project) == ""
    assert told(project, "teal-crane") == ["INFO: not answered: amber-otter ended"]


def test_while_it_can_still_be_adopted_nothing_lapses(project: Project) -> None:
    crash_owing(project, uncommitted=True)
    project.ok(*as_("teal-crane", "reserve", "docs"))
    assert owed(project) == [("amber-otter", "give input")]
    assert told(project, "teal-crane") == []


def test_an_agents_own_command_lets_what_the_gone_owed_lapse(project: Project) -> None:
    crash_owing(project)
    inner = (*MOOT, "reserve", "docs", "--json")
    call = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    words = ("run", "--name", "coral-finch", "--", PYTHON, "-c", call, *inner)
    assert project.spawn(*words, MOOT_CLOCK="").code == 0
    assert told(project, "teal-crane") == ["INFO: not answered: amber-otter ended"]


def test_what_an_agents_own_run_owed_lapses_at_its_end(project: Project) -> None:
    """Its end is signed by the `moot run` around it, which alone has the key."""
    inner = (*MOOT, "run", "--name", "coral-finch", "--", *MOOT, "blocked", "teal-crane", *BLOCKED)
    call = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    words = ("run", "--name", "amber-otter", "--", PYTHON, "-c", call, *inner)
    assert project.spawn(*words).code == 0
    assert owed(project) == []


# Where the lock is no evidence


def rewrite_note(project: Project, **changes: object) -> None:
    """The note of amber-otter's run as it would be from elsewhere."""
    (file,) = project.keys.glob("*/amber-otter.running")
    note = json.loads(file.read_bytes())
    machine = {field: changes.pop(field) for field in list(changes) if field in note["machine"]}
    file.write_text(json.dumps({**note, **changes, "machine": {**note["machine"], **machine}}))


@pytest.mark.parametrize(
    "elsewhere",
    [{"host": "another"}, {"boot": "earlier"}, {"pid_namespace": "pid:[1]"}, {"epoch": 7}],
    ids=lambda changes: next(iter(changes)),
)
def test_from_another_machine_boot_or_namespace_nobody_is_gone(
    project: Project, elsewhere: dict[str, object]
) -> None:
    crash(project)
    rewrite_note(project, **elsewhere)
    assert otter(project)["evidence"] is None
    assert project.refused(*as_("teal-crane", "reserve", "src")) == ("reservation_conflict", 1)
    assert held(project) == [("src", "amber-otter")]


@pytest.mark.parametrize("note", [b"", b"{", b"[]", b"\xff" * 9_000])
def test_a_note_that_cannot_be_read_proves_nothing(project: Project, note: bytes) -> None:
    crash(project)
    (file,) = project.keys.glob("*/amber-otter.running")
    file.write_bytes(note)
    assert otter(project)["evidence"] is None
    assert project.refused(*as_("teal-crane", "reserve", "src")) == ("reservation_conflict", 1)


def test_on_a_network_disk_nobody_is_gone(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None can be mounted here: the table of mounts is another."""
    crash(project)
    table = tmp_path / "mountinfo"
    place = str(project.keys.resolve()).replace(" ", "\\040")
    table.write_text(
        "22 1 0:21 / / rw - ext4 /dev/sda1 rw\n"
        f"23 22 0:22 / {place} rw,relatime shared:1 - nfs4 server:/home rw\n"
    )
    monkeypatch.setattr("moot.system.this_host.MOUNTS", table)
    assert otter(project)["evidence"] is None
    assert "nfs4" in project.ok("agent", "show", "amber-otter")["process"]
    assert project.refused(*as_("teal-crane", "reserve", "src")) == ("reservation_conflict", 1)
    monkeypatch.undo()
    project.ok(*as_("teal-crane", "reserve", "src"))


def test_without_git_nobody_knows_what_is_committed(bare: Project) -> None:
    bare.ok("init")
    bare.ok("join", "--register", "teal-crane")
    crash(bare)
    done = bare.json(*as_("teal-crane", "reserve", "src"))
    assert (done.code, done.error["code"]) == (1, "reservation_conflict")
    assert "not known" in done.error["hint"]


# A person's way


def test_a_person_at_a_terminal_releases_by_force(project: Project, passphrase: str) -> None:
    project.ok("agent", "register", "ada-l", "--human", MOOT_PASSPHRASE_FILE=passphrase)
    crash(project, uncommitted=True)
    words = ("release", "src", "--force")
    secret = Path(passphrase).read_text().strip()
    events = project.ok("status")["record"]["events"]
    unattended = {"MOOT_PASSPHRASE_FILE": passphrase}
    assert project.refused(*words, "--reason", "x", **unattended) == ("human_key_required", 1)
    assert project.refused(*as_("teal-crane", *words)) == ("human_key_required", 1)
    assert "reason_required" in on_a_terminal(project, *words, typed=[secret])
    assert project.ok("status")["record"]["events"] == events
    seen = on_a_terminal(project, *words, "--reason", "I saved it", typed=[secret])
    assert "ada-l released by force src" in seen
    assert held(project) == []
    (freed,) = events_of(project, "scope_freed")
    assert (freed["why"], freed["reason"]) == ("person", "I saved it")
    assert project.ok("verify")["verdict"] == "valid"
