"""The thin client: the same answers as the whole hook, from the run that lives beside the tool."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from moot.coding_tools.hook_command import hook_words
from tests.hooks.tool_calls import CALLS, call
from tests.project import CRANE, MOOT, OTTER, Project
from tests.sampling import quarter
from tests.scenarios.lending_process import LendingProcess

LIMIT = 60
NOON = "2026-03-01T12:00:00Z"


@pytest.fixture
def still(bare: Project) -> Project:
    """A project in which the time stands still, so that two answers can be compared."""
    bare.env["MOOT_CLOCK"] = NOON
    bare.init_git()
    bare.init(OTTER, CRANE)
    return bare


class OttersProcess(LendingProcess):
    """A process that has lent `OTTER` its folder, and listens."""

    def __init__(self, project: Project) -> None:
        super().__init__(project.root, project.keys, OTTER, project.env.get("MOOT_CLOCK", ""))

    @property
    def env(self) -> dict[str, str]:
        return {**self.settings, "MOOT_AGENT": OTTER, "MOOT_EPOCH": "1"}


@pytest.fixture
def lending(still: Project) -> Iterator[OttersProcess]:
    made = OttersProcess(still)
    yield made
    made.end()


def ask(
    project: Project, words: list[str], said: dict[str, Any] | bytes, **settings: str
) -> tuple[bytes, bytes, int]:
    """What a process printed, said aside, and ended with."""
    done = subprocess.run(
        words,
        cwd=project.root,
        env={**project.env, **settings},
        input=said if isinstance(said, bytes) else json.dumps(said).encode(),
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    return done.stdout, done.stderr, done.returncode


def directly(project: Project, tool: str, said: dict[str, Any] | bytes, **settings: str) -> Any:
    return ask(project, [*MOOT, "hook", tool], said, MOOT_AGENT=OTTER, MOOT_EPOCH="1", **settings)


def thinly(project: Project, tool: str, said: dict[str, Any] | bytes, **settings: str) -> Any:
    return ask(project, list(hook_words(tool)), said, **settings)


NAMES = sorted(path.stem for path in CALLS.glob("*.json"))


@pytest.mark.parametrize("name", quarter(NAMES))
def test_the_answer_is_the_same_to_the_byte(
    still: Project, lending: OttersProcess, name: str
) -> None:
    """Each way has a file of its own, held by another: an incursion is told once."""
    still.ok("--as", CRANE, "join")
    still.ok("--as", CRANE, "reserve", "1.txt", "2.txt", "3.txt", "--work", "T-7")
    tool = name.partition("-")[0]
    first = directly(still, tool, call(name, still.root, "1.txt"))
    second = directly(still, tool, call(name, still.root, "2.txt"), **lending.settings)
    third = thinly(still, tool, call(name, still.root, "3.txt"), **lending.env)
    assert (first[1:], second[1:], third[1:]) == ((b"", 0),) * 3
    texts = {re.sub(rb"[123]\.txt", b"N.txt", answer[0]) for answer in (first, second, third)}
    assert len(texts) == 1, texts


@pytest.mark.parametrize("said", [b"", b"no json", b"[]", b"{" * 10_000, b"\xff\xfe"])
def test_so_is_what_cannot_be_read(still: Project, lending: OttersProcess, said: bytes) -> None:
    whole = directly(still, "claude", said)
    assert whole[2] == 2
    assert thinly(still, "claude", said, **lending.env) == whole


def test_the_run_itself_answers(still: Project, lending: OttersProcess) -> None:
    """With a Python that cannot start anything else, the edit is reserved all the same."""
    words = list(hook_words("claude"))
    code = f"import sys, runpy; sys.executable = '/nowhere'; sys.argv = {words[3:]!r};"
    code += f" runpy.run_path({words[3]!r}, run_name='__main__')"
    said = call("claude-write", still.root)
    assert ask(still, [sys.executable, "-c", code], said, **lending.env) == (b"", b"", 0)
    assert still.owners() == {"a.txt": OTTER}


def test_many_at_once_are_all_answered(still: Project, lending: OttersProcess) -> None:
    patient = {"MOOT_HOOK_SECONDS": "60"}  # how soon the watchdog answers is asked elsewhere
    children = []
    for number in range(24):
        child = subprocess.Popen(
            list(hook_words("claude")),
            cwd=still.root,
            env={**still.env, **lending.env, **patient},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert child.stdin is not None
        child.stdin.write(json.dumps(call("claude-write", still.root, f"f{number}.txt")).encode())
        child.stdin.close()
        child.stdin = None
        children.append(child)
    assert [child.communicate(timeout=LIMIT) for child in children] == [(b"", b"")] * 24
    assert still.owners() == {f"f{number}.txt": OTTER for number in range(24)}


def test_with_nobody_listening_it_goes_directly(still: Project, lending: OttersProcess) -> None:
    still.reserve(CRANE, "a.txt")
    said = call("claude-write", still.root)
    whole = directly(still, "claude", said)
    assert b"teal-crane" in whole[0]
    lending.kill()
    assert thinly(still, "claude", said, **lending.env) == whole
    nobody = {**lending.env, "MOOT_SOCKET": str(still.root / "nothing")}
    assert thinly(still, "claude", said, **nobody) == whole
    without = {name: value for name, value in lending.env.items() if name != "MOOT_SOCKET"}
    assert thinly(still, "claude", said, **without) == whole


def test_a_run_that_was_stopped_is_as_good_as_away(still: Project, lending: OttersProcess) -> None:
    said = call("claude-write", still.root)
    os.kill(lending.pid, signal.SIGSTOP)
    try:
        assert thinly(still, "claude", said, **lending.env) == (b"", b"", 0)
    finally:
        os.kill(lending.pid, signal.SIGCONT)
    assert still.owners() == {"a.txt": OTTER}


def test_the_hook_of_another_agent_is_not_answered_by_it(
    still: Project, lending: OttersProcess
) -> None:
    """It goes directly, and may not use another key folder than the one that was lent: the socket
    lends nobody a name."""
    said = call("claude-write", still.root)
    other = {"MOOT_SOCKET": lending.settings["MOOT_SOCKET"], "MOOT_AGENT": CRANE}
    out, _, code = thinly(still, "claude", said, **other)
    assert (code, json.loads(out)["decision"]) == (0, "block")
    assert "[key_folder_not_lent]" in json.loads(out)["reason"]
    assert still.owners() == {}
    later = {**lending.env, "MOOT_EPOCH": "2"}
    replaced, _, code = thinly(still, "claude", call("claude-write", still.root, "b"), **later)
    assert (code, json.loads(replaced)["decision"]) == (0, "block")
    assert "b" not in still.owners()


FRAMES = {
    "nothing": b"",
    "no lengths": b"hello\n",
    "no end of lengths": b"1 " * 2_000,
    "lengths beyond every limit": b"4 99999999999\nhook",
    "fewer bytes than said": b"4 10\nhook",
    "too few fields": b"4 6\nhookclaude",
    "a name nobody has": b"5\nother",
    "an operation that is none": b"9 2\noperation{}",
    "an operation that names code": b'9 42\noperation{"!":"made","c":"os:system","v":{"a":"b"}}',
    "no text": b"6 2\nsettle\xff\xfe",
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_what_is_no_question_changes_nothing(
    still: Project, lending: OttersProcess, frame: bytes
) -> None:
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(LIMIT)
        line.connect(lending.settings["MOOT_SOCKET"])
        line.sendall(frame)
        line.shutdown(socket.SHUT_WR)
        answer = b""
        while part := line.recv(4096):
            answer += part
    assert not answer or answer.startswith((b"+7 ", b"+8\nnot_mine"))
    said = call("claude-write", still.root)
    assert thinly(still, "claude", said, **lending.env) == (b"", b"", 0)
    assert still.owners() == {"a.txt": OTTER}


def test_it_loads_next_to_nothing(still: Project, lending: OttersProcess) -> None:
    python, *words = hook_words("claude")
    said = call("claude-write", still.root)
    done = ask(still, [python, "-X", "importtime", *words], said, **lending.env)
    loaded = {line.rpartition(b"|")[2].strip().decode() for line in done[1].splitlines()}
    assert "_socket" in loaded
    assert not loaded & {"socket", "json", "re", "enum", "msgspec", "tempfile", "subprocess"}
    assert not [name for name in loaded if name.startswith("moot")]


# Sends the hook's input twice; before the second time it waits for a line, which comes when the
# run has been killed.
TWICE = """
import json, os, subprocess, sys
words, first, second = json.loads(sys.argv[1])
for said in (first, second):
    done = subprocess.run(words, input=json.dumps(said).encode(), capture_output=True, timeout=60)
    print(json.dumps([os.environ["MOOT_AGENT"], done.stdout.decode(), done.returncode]), flush=True)
    sys.stdin.readline()
"""


def test_under_a_real_run_and_after_it_was_killed(project: Project) -> None:
    project.ok("--as", CRANE, "reserve", "held.txt")
    said = [call("claude-write", project.root, name) for name in ("a.txt", "held.txt")]
    words = json.dumps([list(hook_words("claude")), *said])
    run = subprocess.Popen(
        [*MOOT, "run", "--", sys.executable, "-c", TWICE, words],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert run.stdin is not None
    assert run.stdout is not None
    name, out, code = json.loads(run.stdout.readline())
    assert (out, code) == ("", 0)
    assert project.owners() == {"a.txt": name, "held.txt": CRANE}
    run.kill()
    run.wait(LIMIT)
    run.stdin.write("\n\n")
    run.stdin.flush()
    _, out, code = json.loads(run.stdout.readline())
    assert (json.loads(out)["decision"], code) == ("block", 0)
    assert f"held by {CRANE}" in json.loads(out)["reason"]
    run.stdin.close()
    run.stdout.close()
