"""`cmd:`: real programs, good and bad; whatever one does is contained and named."""

from __future__ import annotations

import json
import os
import shlex
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from moot.agents.brief import AuthorTrust, QuotedText
from moot.agents.command import CommandParticipant
from moot.agents.outcome import CallEnding, NoAnswer
from moot.agents.participant import read_spec
from moot.agents.recipes import call_for, read_command, read_output, recipe_for
from moot.core.errors import Malformed, Unavailable
from tests.participants.scripted_participants import brief
from tests.wait_readable import is_readable

PYTHON = shlex.quote(sys.executable)


def program(folder: Path, source: str, name: str = "agent.py") -> str:
    """A program as a command; what it is told is on its standard input."""
    file = folder / name
    file.write_text(source, encoding="utf-8")
    return f"cmd:{PYTHON} {shlex.quote(str(file))}"


def participant(folder: Path, text: str, **env: str) -> CommandParticipant:
    spec = read_spec(text)
    settings = {"PATH": os.environ["PATH"], **env}
    return CommandParticipant(spec, "amber-otter", folder, settings)


def failing(folder: Path, source: str, seconds: float = 20) -> NoAnswer:
    with pytest.raises(NoAnswer) as caught:
        participant(folder, program(folder, source)).reply(brief(), seconds)
    return caught.value


@pytest.mark.requirement("AGT-030")
def test_a_program_reads_its_brief_and_prints_its_reply(tmp_path: Path) -> None:
    source = """
import json, os, sys
told = json.load(sys.stdin)
print("thinking ...", file=sys.stderr)
print("```json")
print(json.dumps({"you": told["you"], "said": told["quoted"][0]["text"], "schema":
    sorted(told["reply_schema"]), "me": os.environ["MOOT_AGENT"],
    "secret": os.environ.get("MOOT_PASSPHRASE_FILE"), "cwd": os.getcwd()}))
print("```")
"""
    made = participant(
        tmp_path, program(tmp_path, source), MOOT_PASSPHRASE_FILE="/x", MOOT_AGENT="someone"
    )
    quotes = (QuotedText(author="teal-crane", trust=AuthorTrust.AGENT, text="Grüße\n```"),)
    answer = made.reply(brief(quotes=quotes), 20)
    assert answer.reply == {
        "you": "amber-otter",
        "said": "Grüße\n```",
        "schema": ["properties", "required", "type"],
        "me": "amber-otter",
        "secret": None,
        "cwd": str(tmp_path),
    }
    assert answer.cost.calls == 1


@pytest.mark.requirement("AGT-031")
@pytest.mark.parametrize(
    ("source", "ending", "said"),
    [
        ("print('approve, of course')", CallEnding.MALFORMED, "no JSON object"),
        ("import os; os.write(1, bytes(range(256)))", CallEnding.MALFORMED, "not UTF-8"),
        ("pass", CallEnding.SILENT, "printed nothing"),
        ("import sys; print('{}'); sys.exit('out of cheese')", CallEnding.CRASHED, "out of cheese"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", CallEnding.CRASHED, "signal 9"),
    ],
)
def test_a_program_that_gives_no_reply_is_named(
    tmp_path: Path, source: str, ending: CallEnding, said: str
) -> None:
    none = failing(tmp_path, source)
    assert none.ending is ending
    assert said in none.detail
    assert none.cost.calls == 1
    assert bool(none.findings) is (ending is CallEnding.MALFORMED)


@pytest.mark.requirement("AGT-031")
def test_a_hundred_megabytes_are_contained(tmp_path: Path) -> None:
    source = "import os\npiece = b'x' * (1 << 20)\nfor _ in range(100): os.write(1, piece)"
    none = failing(tmp_path, source)
    assert none.ending is CallEnding.TOO_LONG
    assert "104,857,600 bytes" in none.detail


@pytest.mark.requirement("AGT-031")
def test_a_program_that_hangs_is_ended_with_all_its_children(tmp_path: Path) -> None:
    """Both hold a pipe open: it ends when the last of them has died."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    source = f"""
import signal, subprocess, sys
kept = open({str(pipe)!r}, "wb", buffering=0)
pause = [sys.executable, "-S", "-c", "import signal; signal.pause()"]
subprocess.Popen(pause, pass_fds=[kept.fileno()])
kept.write(b"x")
signal.pause()
"""
    none = failing(tmp_path, source, seconds=2)
    assert none.ending is CallEnding.TIMED_OUT
    read = b""
    while is_readable(end, 20) and (piece := os.read(end, 10)):
        read += piece
    assert piece == b"", "someone still lives"
    assert read == b"x"
    os.close(end)


@pytest.mark.requirement("AGT-031")
@pytest.mark.parametrize("name", ["no-such-program", "./no-such-program", "/no/such/program"])
def test_a_program_that_is_not_there_is_said_before_anyone_is_asked(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(Unavailable) as caught:
        participant(tmp_path, f"cmd:{name} --x")
    assert caught.value.code == "program_missing"


@pytest.mark.requirement("AGT-031")
def test_a_program_that_is_gone_when_it_is_asked_is_named(tmp_path: Path) -> None:
    file = tmp_path / "here"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    made = participant(tmp_path, "cmd:./here")
    file.unlink()
    with pytest.raises(NoAnswer) as caught:
        made.reply(brief(), 5)
    assert caught.value.ending is CallEnding.NOT_FOUND


def test_a_program_may_leave_its_brief_unread(tmp_path: Path) -> None:
    long = (QuotedText(author="teal-crane", trust=AuthorTrust.AGENT, text="x" * 19_000),) * 40
    made = participant(tmp_path, program(tmp_path, "print('{\"x\": 1}')"))
    assert made.reply(brief(quotes=long), 20).reply == {"x": 1}


def test_stop_ends_what_is_running(tmp_path: Path) -> None:
    note = tmp_path / "began"
    os.mkfifo(note)
    source = f"import signal; open({str(note)!r}, 'w').close(); signal.pause()"
    made = participant(tmp_path, program(tmp_path, source))
    ended: list[NoAnswer] = []

    def ask() -> None:
        try:
            made.reply(brief(), 600)
        except NoAnswer as none:
            ended.append(none)

    thread = threading.Thread(target=ask)
    thread.start()
    note.read_bytes()  # returns once the program has opened it
    made.stop()
    thread.join(20)
    assert [one.ending for one in ended] == [CallEnding.CRASHED]


def test_a_program_that_starts_while_all_are_stopped_is_stopped_too(tmp_path: Path) -> None:
    made = participant(tmp_path, program(tmp_path, "import signal; signal.pause()"))
    made.stop()
    with pytest.raises(NoAnswer) as caught:
        made.reply(brief(), 60)
    assert caught.value.ending is CallEnding.CRASHED


@pytest.mark.requirement("AGT-032")
def test_a_prompt_goes_where_the_command_says(tmp_path: Path) -> None:
    source = 'import json, sys; print(json.dumps({"told": sys.argv[1], "stdin": sys.stdin.read()}))'
    made = participant(tmp_path, program(tmp_path, source) + " {prompt}")
    said = made.reply(brief(), 20).reply
    assert said["told"].startswith("You are amber-otter, a participant.")
    assert said["stdin"] == ""
    long = (QuotedText(author="teal-crane", trust=AuthorTrust.AGENT, text="x" * 19_000),) * 10
    with pytest.raises(NoAnswer) as caught:
        made.reply(brief(quotes=long), 20)
    assert caught.value.ending is CallEnding.TOO_LONG


@pytest.mark.parametrize("text", ['prog "open', "''", " "])
def test_a_command_that_is_none_is_malformed(text: str) -> None:
    if text == "''":
        assert read_command(text) == ("",)
        return
    with pytest.raises(Malformed):
        read_command(text)


# What the usual coding agents print ---------------------------------------------------------------

CLAUDE = {
    "type": "result",
    "result": 'Here:\n```json\n{"x": 1}\n```',
    "total_cost_usd": 0.0123,
    "usage": {"input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 7},
    "modelUsage": {"claude-opus": {}},
}
CODEX = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "item.completed", "item": {"type": "reasoning", "text": "hm"}},
    {"type": "item.completed", "item": {"type": "agent_message", "text": '{"x": 1}'}},
    {"type": "turn.completed", "usage": {"input_tokens": 11, "output_tokens": 3}},
]
GEMINI = {
    "response": '{"x": 1}',
    "stats": {"models": {"gemini-pro": {"tokens": {"prompt": 9, "candidates": 2}}}},
}
PRINTED: dict[str, tuple[str, tuple[int, int, int], str | None]] = {
    "claude -p": (json.dumps(CLAUDE), (105, 7, 12_300), "claude-opus"),
    "codex exec": ("\n".join(map(json.dumps, CODEX)), (11, 3, 0), None),
    "gemini -p": ("Loaded.\n" + json.dumps(GEMINI), (9, 2, 0), "gemini-pro"),
    "opencode run": ('{"x": 1}\n', (0, 0, 0), None),
    "ollama run llama3": ('Sure! {"x": 1}', (0, 0, 0), None),
}
CALLED = {
    "claude -p": ["-p", "--output-format", "json"],
    "codex exec": ["exec", "-", "--skip-git-repo-check", "--json"],
    "gemini -p": ["-p", "Do what the text on standard input asks.", "-o", "json"],
    "opencode run": ["run", "Do what the text on standard input asks."],
    "ollama run llama3": ["run", "llama3"],
}


@pytest.mark.requirement("AGT-033")
@pytest.mark.parametrize("command", PRINTED)
def test_a_known_tool_is_called_and_heard_in_its_own_way(tmp_path: Path, command: str) -> None:
    """A program of that name on the PATH, which keeps how it was called."""
    printed, (read, wrote, micros), model = PRINTED[command]
    (tmp_path / "printed").write_text(printed, encoding="utf-8")
    tool = tmp_path / command.split()[0]
    kept = tmp_path / "called.json"
    source = f"""#!{sys.executable}
import json, sys
json.dump([sys.argv[1:], sys.stdin.read()], open({str(kept)!r}, "w"))
sys.stdout.write(open({str(tmp_path / "printed")!r}).read())
"""
    tool.write_text(source, encoding="utf-8")
    tool.chmod(0o755)
    made = participant(tmp_path, f"cmd:{tool} {' '.join(command.split()[1:])}")
    answer = made.reply(brief(), 20)
    called, told = json.loads(kept.read_text())
    assert called == CALLED[command]
    assert told.startswith("You are amber-otter, a participant.")
    assert answer.reply == {"x": 1}
    cost = answer.cost
    assert (cost.tokens_in, cost.tokens_out, cost.micros) == (read, wrote, micros)
    assert cost.unpriced == (0 if micros else 1)
    assert made.nature.model == model


MISSING = "Missing environment variable: `MY_KEY`."
FAILED: dict[str, list[dict[str, Any]]] = {
    "claude -p": [{"type": "result", "is_error": True, "result": "Credit balance is too low"}],
    "codex exec": [
        {"type": "turn.started"},
        {"type": "error", "message": MISSING},
        {"type": "turn.failed", "error": {"message": MISSING}},
    ],
    "gemini -p": [{"error": {"type": "Error", "message": "No key was given", "code": 41}}],
}


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("claude -p", "exit status 1: Credit balance is too low"),
        ("codex exec", f"exit status 1: {MISSING} (`--env NAME` passes a variable on)"),
        ("gemini -p", "exit status 1: No key was given"),
        ("opencode run", "exit status 1: a warning about something else"),
    ],
)
def test_a_tool_that_failed_is_quoted_with_its_own_reason(
    tmp_path: Path, command: str, reason: str
) -> None:
    """Not with whatever it warned of last on the standard error."""
    tool = tmp_path / command.split()[0]
    printed = "\n".join(map(json.dumps, FAILED.get(command, [])))
    tool.write_text(
        f"#!{sys.executable}\nimport sys\nprint({printed!r})\n"
        "print('a warning about something else', file=sys.stderr)\nsys.exit(1)\n",
        encoding="utf-8",
    )
    tool.chmod(0o755)
    made = participant(tmp_path, f"cmd:{tool} {' '.join(command.split()[1:])}")
    with pytest.raises(NoAnswer) as failed:
        made.reply(brief(), 20)
    assert (failed.value.ending, str(failed.value)) == (CallEnding.CRASHED, reason)


@pytest.mark.parametrize("command", PRINTED)
@pytest.mark.parametrize(
    "raw",
    [b"", b"null", b"{", b'{"result": 1}', b'{"response": []}', b"\xff{}", b'{"item": 3}\n[]'],
)
def test_output_of_an_unknown_shape_is_taken_as_it_is(command: str, raw: bytes) -> None:
    assert read_output(read_command(command), raw).text == raw


def test_options_of_ones_own_are_kept(tmp_path: Path) -> None:
    words = read_command("/opt/bin/claude --model opus -p --output-format text")
    assert call_for(words, brief(), 1).words == words
    assert recipe_for(read_command("claude")) is None
    assert recipe_for(read_command("claude.cmd -p")) is not None
    codex = tmp_path / "codex"
    codex.write_text("#!/bin/sh\n")
    codex.chmod(0o755)
    assert participant(tmp_path, f"cmd:{codex} exec -m gpt-5").nature.model == "gpt-5"


def test_a_command_without_a_recipe_gets_json() -> None:
    told: dict[str, Any] = json.loads(call_for(("prog",), brief(), 2).standard_input)
    assert told["you"] == "amber-otter"
