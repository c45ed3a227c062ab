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

from tests.cli.founding import found
from tests.cli.project import MOOT, Project
from tests.cli.terminal import on_a_terminal
from tests.cli.test_presence import as_, git, held

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
def running(shop: Project, *words: str) -> Iterator[Started]:
    runner = subprocess.Popen(
        [*MOOT, "run", *words, "--", PYTHON, "-c", WORKING],
        cwd=shop.root,
        env=shop.env,
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
def shop(bare: Project) -> Project:
    git(bare.root, "init", "-q", "-b", "main")
    git(bare.root, "commit", "-q", "--allow-empty", "-m", "first")
    found(bare)
    bare.ok("join", "--register", "teal-crane")
    return bare


def leave_file(shop: Project) -> None:
    (shop.root / "src").mkdir(exist_ok=True)
    (shop.root / "src" / "a.py").write_text("half done")


def crash(shop: Project, *, uncommitted: bool = False) -> None:
    """amber-otter held src and is gone, with a file that is not committed if so wanted."""
    with running(shop, "--name", "amber-otter", "--reserve", "src") as started:
        if uncommitted:
            leave_file(shop)
        started.kill_all()


def otter(shop: Project) -> dict[str, str]:
    (view,) = (one for one in shop.ok("status", "--all")["agents"] if one["agent"] == "amber-otter")
    return {field: view[field] for field in ("status", "liveness", "evidence")}


def events_of(shop: Project, kind: str) -> list[dict[str, object]]:
    log = shop.ok("ledger", "log", "presence", "--type", f"presence.{kind}")["events"]
    return [one["data"] for one in log]


def test_a_living_run_is_running_and_one_that_ended_is_just_that(shop: Project) -> None:
    with running(shop, "--name", "amber-otter"):
        assert otter(shop) == {"status": "active", "liveness": "active", "evidence": "running"}
    assert otter(shop)["status"] == "retired"
    assert not list(shop.keys.glob("*/*.running"))


def test_gone_is_seen_at_once_and_liveness_stays_what_time_says(shop: Project) -> None:
    crash(shop, uncommitted=True)
    assert otter(shop) == {"status": "active", "liveness": "active", "evidence": "gone"}
    assert "have ended" in shop.ok("agent", "show", "amber-otter")["process"]
    row = next(line for line in shop.run("status").out.splitlines() if "amber-otter" in line)
    assert "Gone" in row


def test_a_reader_ends_nobody_and_the_next_writing_command_does(shop: Project) -> None:
    crash(shop)
    for words in (("status",), ("agent", "list"), ("scope", "list"), ("guard", "check", "x")):
        shop.ok(*words)
    assert held(shop) == [("src", "amber-otter")]
    shop.ok(*as_("teal-crane", "reserve", "docs"))
    assert held(shop) == [("docs", "teal-crane")]
    assert otter(shop)["status"] == "retired"
    (gone,) = events_of(shop, "agent_gone")
    assert (gone["agent"], gone["observer"]) == ("amber-otter", "teal-crane")
    (freed,) = events_of(shop, "scope_freed")
    assert (freed["owner"], freed["scope"], freed["why"]) == ("amber-otter", "src", "gone")
    assert shop.ok("verify")["verdict"] == "valid"


def test_what_it_held_is_free_for_whoever_asks_next(shop: Project) -> None:
    crash(shop)
    shop.ok(*as_("teal-crane", "reserve", "src"))
    assert held(shop) == [("src", "teal-crane")]
    assert shop.ok("event", "list")["events"] == []  # nobody reached into anything


def test_uncommitted_work_stays_held_and_the_refusal_says_what_to_do(shop: Project) -> None:
    crash(shop, uncommitted=True)
    done = shop.json(*as_("teal-crane", "reserve", "src"))
    assert (done.code, done.error["code"]) == (1, "reservation_conflict")
    hint = done.error["hint"]
    assert "src/a.py" in hint
    assert "moot run --adopt amber-otter -- COMMAND" in hint
    assert "moot release :/src --force --reason TEXT" in hint
    part = shop.json(*as_("teal-crane", "reserve", "src/a.py")).error["hint"]
    assert "moot release :/src --force --reason TEXT" in part  # what is held, not what was asked
    assert [one["code"] for one in done.error["findings"]][-1] == "holder_gone"
    assert held(shop) == [("src", "amber-otter")]
    assert otter(shop)["status"] == "active"


def test_committed_work_lets_it_go(shop: Project) -> None:
    crash(shop, uncommitted=True)
    git(shop.root, "add", "src")
    git(shop.root, "commit", "-q", "-m", "saved")
    shop.ok(*as_("teal-crane", "reserve", "src"))
    assert held(shop) == [("src", "teal-crane")]


def test_the_hint_of_the_refusal_works(shop: Project) -> None:
    crash(shop, uncommitted=True)
    with running(shop, "--adopt", "amber-otter"):
        assert otter(shop)["evidence"] == "running"
        assert held(shop) == [("src", "amber-otter")]


def test_a_program_that_outlives_its_run_is_not_gone(shop: Project) -> None:
    """The lock ends with the last of them."""
    with running(shop, "--name", "amber-otter", "--reserve", "src") as started:
        leave_file(shop)
        started.runner.kill()
        started.runner.wait(timeout=60)
        assert otter(shop)["evidence"] == "running"
        assert shop.refused(*as_("teal-crane", "reserve", "src")) == ("reservation_conflict", 1)
        words = ("run", "--adopt", "amber-otter", "--", PYTHON, "-c", "pass")
        assert shop.refused(*words) == ("agent_alive", 1)
        assert held(shop) == [("src", "amber-otter")]
    assert otter(shop)["evidence"] == "gone"


def test_an_edit_is_let_through_what_a_gone_session_held(shop: Project) -> None:
    crash(shop)
    assert _edit(shop) == ""
    assert held(shop) == [("src/a.py", "teal-crane")]


def test_an_edit_over_uncommitted_work_is_held_back_with_the_tools_own_line(shop: Project) -> None:
    with running(shop, "--name", "amber-otter", "--reserve", "src") as started:
        leave_file(shop)
        _hook(shop, "amber-otter", "SessionStart", "5d6c8e82")
        started.kill_all()
    reason = _edit(shop)
    assert "src/a.py" in reason
    assert "moot run --adopt amber-otter -- claude --resume 5d6c8e82" in reason
    assert "takeover" not in reason


def _edit(shop: Project) -> str:
    """Why teal-crane may not edit src/a.py; empty if it may."""
    written = {"file_path": str(shop.root / "src" / "a.py"), "content": "x"}
    answer = _hook(shop, "teal-crane", "PreToolUse", "s-2", tool_name="Write", tool_input=written)
    if not answer.strip():
        return ""
    reason: str = json.loads(answer)["hookSpecificOutput"]["permissionDecisionReason"]
    return reason


def _hook(shop: Project, agent: str, event: str, session: str, **more: object) -> str:
    call = {"hook_event_name": event, "session_id": session, "cwd": str(shop.root), **more}
    done = subprocess.run(
        [*MOOT, "hook", "claude"],
        cwd=shop.root,
        env={**shop.env, "MOOT_AGENT": agent},
        input=json.dumps(call).encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout.decode()


def test_an_agents_own_command_lets_its_run_end_the_gone(shop: Project) -> None:
    """It has no key of the ledger's; its `moot run` has, and looks for itself."""
    crash(shop)
    inner = (*MOOT, "reserve", "src", "--json")
    call = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    words = ("run", "--name", "coral-finch", "--", PYTHON, "-c", call, *inner)
    assert shop.spawn(*words, MOOT_CLOCK="").code == 0
    (gone,) = events_of(shop, "agent_gone")
    assert gone["agent"] == "amber-otter"


# What it owed and was owed

BLOCKED = (
    *("--subject", "the port", "--blocker", "none is named", "--work", "T-1"),
    *("--requested-action", "name it"),
)


def crash_owing(shop: Project, *, uncommitted: bool = False) -> None:
    """amber-otter is gone, with an answer that it owed to teal-crane."""
    with running(shop, "--name", "amber-otter", "--reserve", "src") as started:
        shop.ok(*as_("teal-crane", "blocked", "amber-otter", *BLOCKED))
        if uncommitted:
            leave_file(shop)
        started.kill_all()


def owed(shop: Project) -> list[tuple[str, str]]:
    return [(item["who"], item["what"]) for item in shop.ok("agenda")["due"]]


def told(shop: Project, name: str) -> list[str]:
    return [each["subject"] for each in shop.ok(*as_(name, "inbox"))["messages"]]


def test_what_the_gone_owed_lapses_with_the_command_that_ends_it(shop: Project) -> None:
    crash_owing(shop)
    assert owed(shop) == [("amber-otter", "give input")]
    shop.ok(*as_("teal-crane", "reserve", "docs"))
    lapsed = shop.ok("ledger", "log", "presence", "--type", "presence.answer_lapsed")["events"]
    assert [one["data"]["ended"] for one in lapsed] == ["amber-otter"]
    assert told(shop, "teal-crane") == ["INFO: not answered: amber-otter ended"]
    assert owed(shop) == []
    assert shop.ok("verify")["verdict"] == "valid"


def test_what_the_gone_owed_lapses_by_an_edit_too(shop: Project) -> None:
    crash_owing(shop)
    assert _edit(shop) == ""
    assert told(shop, "teal-crane") == ["INFO: not answered: amber-otter ended"]


def test_while_it_can_still_be_adopted_nothing_lapses(shop: Project) -> None:
    crash_owing(shop, uncommitted=True)
    shop.ok(*as_("teal-crane", "reserve", "docs"))
    assert owed(shop) == [("amber-otter", "give input")]
    assert told(shop, "teal-crane") == []


def test_an_agents_own_command_lets_what_the_gone_owed_lapse(shop: Project) -> None:
    crash_owing(shop)
    inner = (*MOOT, "reserve", "docs", "--json")
    call = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    words = ("run", "--name", "coral-finch", "--", PYTHON, "-c", call, *inner)
    assert shop.spawn(*words, MOOT_CLOCK="").code == 0
    assert told(shop, "teal-crane") == ["INFO: not answered: amber-otter ended"]


def test_what_an_agents_own_run_owed_lapses_at_its_end(shop: Project) -> None:
    """Its end is signed by the `moot run` around it, which alone has the key."""
    inner = (*MOOT, "run", "--name", "coral-finch", "--", *MOOT, "blocked", "teal-crane", *BLOCKED)
    call = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    words = ("run", "--name", "amber-otter", "--", PYTHON, "-c", call, *inner)
    assert shop.spawn(*words).code == 0
    assert owed(shop) == []


# Where the lock is no evidence


def rewrite_note(shop: Project, **changes: object) -> None:
    """The note of amber-otter's run as it would be from elsewhere."""
    (file,) = shop.keys.glob("*/amber-otter.running")
    note = json.loads(file.read_bytes())
    machine = {field: changes.pop(field) for field in list(changes) if field in note["machine"]}
    file.write_text(json.dumps({**note, **changes, "machine": {**note["machine"], **machine}}))


@pytest.mark.parametrize(
    "elsewhere",
    [{"host": "another"}, {"boot": "earlier"}, {"pid_namespace": "pid:[1]"}, {"epoch": 7}],
    ids=lambda changes: next(iter(changes)),
)
def test_from_another_machine_boot_or_namespace_nobody_is_gone(
    shop: Project, elsewhere: dict[str, object]
) -> None:
    crash(shop)
    rewrite_note(shop, **elsewhere)
    assert otter(shop)["evidence"] is None
    assert shop.refused(*as_("teal-crane", "reserve", "src")) == ("reservation_conflict", 1)
    assert held(shop) == [("src", "amber-otter")]


@pytest.mark.parametrize("note", [b"", b"{", b"[]", b"\xff" * 9_000])
def test_a_note_that_cannot_be_read_proves_nothing(shop: Project, note: bytes) -> None:
    crash(shop)
    (file,) = shop.keys.glob("*/amber-otter.running")
    file.write_bytes(note)
    assert otter(shop)["evidence"] is None
    assert shop.refused(*as_("teal-crane", "reserve", "src")) == ("reservation_conflict", 1)


def test_on_a_network_disk_nobody_is_gone(
    shop: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None can be mounted here: the table of mounts is another."""
    crash(shop)
    table = tmp_path / "mountinfo"
    place = str(shop.keys.resolve()).replace(" ", "\\040")
    table.write_text(
        "22 1 0:21 / / rw - ext4 /dev/sda1 rw\n"
        f"23 22 0:22 / {place} rw,relatime shared:1 - nfs4 server:/home rw\n"
    )
    monkeypatch.setattr("moot.system.this_machine.MOUNTS", table)
    assert otter(shop)["evidence"] is None
    assert "nfs4" in shop.ok("agent", "show", "amber-otter")["process"]
    assert shop.refused(*as_("teal-crane", "reserve", "src")) == ("reservation_conflict", 1)
    monkeypatch.undo()
    shop.ok(*as_("teal-crane", "reserve", "src"))


def test_without_git_nobody_knows_what_is_committed(bare: Project) -> None:
    bare.ok("init")
    bare.ok("join", "--register", "teal-crane")
    crash(bare)
    done = bare.json(*as_("teal-crane", "reserve", "src"))
    assert (done.code, done.error["code"]) == (1, "reservation_conflict")
    assert "not known" in done.error["hint"]


# A person's way


def test_a_person_at_a_terminal_releases_by_force(shop: Project, passphrase: str) -> None:
    shop.ok("agent", "register", "ada-l", "--human", MOOT_PASSPHRASE_FILE=passphrase)
    crash(shop, uncommitted=True)
    words = ("release", "src", "--force")
    secret = Path(passphrase).read_text().strip()
    events = shop.ok("status")["record"]["events"]
    unattended = {"MOOT_PASSPHRASE_FILE": passphrase}
    assert shop.refused(*words, "--reason", "x", **unattended) == ("human_key_required", 1)
    assert shop.refused(*as_("teal-crane", *words)) == ("human_key_required", 1)
    assert "reason_required" in on_a_terminal(shop, *words, typed=[secret])
    assert shop.ok("status")["record"]["events"] == events
    seen = on_a_terminal(shop, *words, "--reason", "I saved it", typed=[secret])
    assert "ada-l released by force src" in seen
    assert held(shop) == []
    (freed,) = events_of(shop, "scope_freed")
    assert (freed["why"], freed["reason"]) == ("person", "I saved it")
    assert shop.ok("verify")["verdict"] == "valid"
