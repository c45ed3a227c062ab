"""A hook answers in time, or ends, whatever its process is stuck in; and a runner goes on.

To a tool the end of the hook is a refusal: the settings' line makes exit 2 of it before an edit.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.api.guard.shell.acts import UNREAD
from moot.coding_tools.hook_command import Workspace, hook_command, hook_words
from moot.surfaces.hooks.thin import TOO_LATE
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, MOOT, Project

LIMIT = 120
SLOW_PATTERN = "import re; re.match(r'(?:a+)+b', 'a' * 200)"
LONG_COUNT = "sum(range(1 << 62))"
# Short commands, and an honest one, that once took for ever or all of the memory.
COMMANDS = {
    "lists": "ls;\n" * 27 + "x",
    "echo lines": "".join(f'echo "== {i} =="\n\n' for i in range(28)) + "pytest -q",
    "doubled": "if false; then A=aaaaaaaa;" + "A=$A$A;" * 29 + ">$A; fi; rm a.txt",
    "find": "find . -exec " * 60 + "rm a.txt",
    "cases": "case x in " * 8_000 + "rm a.txt",
}


def bash(project: Project, command: str, name: str = "claude-bash") -> dict[str, Any]:
    said = call(name, project.root)
    said["tool_input"] = {"command": command}
    return said


def stuck_hook(code: str, prepare: str = "") -> list[str]:
    """A hook whose main thread runs `code`, a call in C that holds the interpreter, when it should
    look at the call."""
    program = f"""
import sys
{prepare}
from moot.surfaces.hooks import moments
def stuck(*_):
    {code}
moments.HANDLERS[moments.HookMoment.BEFORE] = stuck
from moot.surfaces.hooks.entry import main
main("claude")
"""
    return [sys.executable, "-c", program]


@pytest.mark.requirement("GRD-034")
@pytest.mark.parametrize("code", [SLOW_PATTERN, LONG_COUNT])
@pytest.mark.parametrize(
    "prepare",
    [
        "",
        "import signal; signal.signal(14, signal.SIG_IGN)",
        "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {14})",
    ],
)
def test_a_hook_that_is_stuck_in_c_is_ended_by_the_system(
    project: Project, code: str, prepare: str
) -> None:
    done = subprocess.run(
        stuck_hook(code, prepare),
        cwd=project.root,
        env={**project.env, "MOOT_HOOK_SECONDS": "0.5"},
        input=json.dumps(bash(project, "rm a.txt")).encode(),
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (-signal.SIGALRM, b"")


@pytest.mark.parametrize(("event", "code"), [("PreToolUse", 2), ("PostToolUse", 0)])
def test_the_settings_make_a_refusal_of_that_before_a_command(
    project: Project, tmp_path: Path, event: str, code: int
) -> None:
    """The line as it is installed, with the stuck hook in place of ours."""
    stuck = tmp_path / "stuck.py"
    stuck.write_text(stuck_hook(SLOW_PATTERN)[2])
    line = hook_command("claude", event, Workspace(project.root / ".moot", "0" * 32))
    _python, _isolated, _no_site, thin, _tool = hook_words("claude")
    line = line.replace(f"-I -S {thin}", str(stuck)).replace(thin, str(stuck))
    assert str(stuck) in line
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=project.root,
        env={**project.env, "MOOT_HOOK_SECONDS": "0.5", "PYTHONPATH": os.getcwd()},
        input=json.dumps(bash(project, "rm a.txt")).encode(),
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert (b"moot hook failed" in done.stderr) is (code == 2)


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_that_once_hung_the_hook_are_answered(project: Project, name: str) -> None:
    """In a process with 1 GiB, which is ended if it takes half a minute."""
    project.reserve(CRANE, "a.txt")
    bounds = "import resource as r; r.setrlimit(r.RLIMIT_AS, (1 << 30,) * 2);"
    bounds += " r.setrlimit(r.RLIMIT_CPU, (30, 30))"
    program = f"{bounds}\nfrom moot.surfaces.cli.entry import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "hook", "claude"],
        cwd=project.root,
        env={**project.env, "MOOT_AGENT": "amber-otter", "MOOT_HOOK_SECONDS": "60"},
        input=json.dumps(bash(project, COMMANDS[name])).encode(),
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    if "a.txt" in COMMANDS[name]:
        assert CRANE in json.loads(done.stdout)["reason"]
    else:
        assert done.stdout == b""


def test_what_is_too_long_to_be_read_is_refused_where_others_hold_something(
    project: Project,
) -> None:
    long = bash(project, "true;" * 6_000)
    assert project.hook("claude", long).out == ""
    project.reserve(CRANE, "a.txt")
    assert UNREAD.name in reason(project.hook("claude", long))
    assert project.owners() == {"a.txt": CRANE}


@pytest.mark.parametrize("name", [".moot", ".git"])
def test_and_where_it_names_the_record_or_gits_files(project: Project, name: str) -> None:
    said = reason(project.hook("claude", bash(project, "true;" * 6_000 + f"rm -r {name}")))
    assert "[not_for_agents]" in said


class _Silent:
    """A socket like that of a run which hears and never answers."""

    def __init__(self, place: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(place))
        self._socket.listen()
        self._held: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        try:
            while True:
                line, _ = self._socket.accept()
                self._held.append(line)
                line.sendall(b"+")
        except OSError:
            return

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(LIMIT)
        for line in self._held:
            line.close()


def test_the_client_refuses_by_itself_if_the_run_does_not_answer(
    project: Project, tmp_path: Path
) -> None:
    run = _Silent(tmp_path / "s")
    try:
        done = subprocess.run(
            list(hook_words("claude")),
            cwd=project.root,
            env={**project.env, "MOOT_SOCKET": str(tmp_path / "s"), "MOOT_HOOK_SECONDS": "0.5"},
            input=json.dumps(bash(project, "rm a.txt")).encode(),
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )
    finally:
        run.close()
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", TOO_LATE)


# Asks its hooks about each command, tells the answers, and stays until it is ended.
ASKING = """
import json, subprocess, sys, time
words, calls = json.loads(sys.stdin.readline())
for said in calls:
    done = subprocess.run(words, input=json.dumps(said).encode(), capture_output=True, timeout=110)
    print(json.dumps([done.returncode, done.stdout.decode(), done.stderr.decode()]), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def asking(project: Project) -> Iterator[subprocess.Popen[str]]:
    run = subprocess.Popen(
        [*MOOT, "run", "--", sys.executable, "-c", ASKING],
        cwd=project.root,
        env={**project.env, "MOOT_HOOK_SECONDS": "30"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    yield run
    if run.poll() is None:
        run.kill()
    run.communicate(timeout=LIMIT)


def test_a_run_survives_all_of_it(project: Project, asking: subprocess.Popen[str]) -> None:
    """Its hooks are answered, so are later ones, and SIGTERM ends it."""
    project.reserve(CRANE, "a.txt")
    calls = [
        bash(project, each, name)
        for each in COMMANDS.values()
        for name in ("claude-bash", "claude-bash-done")
    ]
    calls.append(bash(project, "rm a.txt"))
    assert asking.stdin is not None
    assert asking.stdout is not None
    asking.stdin.write(json.dumps([list(hook_words("claude")), calls]) + "\n")
    asking.stdin.flush()
    answers = [json.loads(asking.stdout.readline()) for _ in calls]
    assert [answer[0] for answer in answers] == [0] * len(calls), answers
    assert CRANE in json.loads(answers[-1][1])["reason"]
    asking.send_signal(signal.SIGTERM)
    asking.wait(LIMIT)
