"""How the command line behaves among other programs: pipes, signals, terminals, imports, help."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from moot.protocols.example.model import Ask
from moot.surfaces.cli.bb import bb
from moot.surfaces.cli.bb_commands import bb_init
from moot.surfaces.cli.main import cli
from tests.cli.command_tree import leaves
from tests.cli.terminal import on_a_terminal
from tests.cli.test_envelope import ALL
from tests.project import LIST, MOOT, Project

HEAVY = ["pydantic", "fastapi", "starlette", "mcp", "psycopg", "pydantic_ai", "rich"]
OUR_WORDS = re.compile(r"\b(streams?|registry|origins?|epochs?)\b", re.IGNORECASE)


def start(project: Project, *words: str, **settings: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*MOOT, *words],
        cwd=project.root,
        env={**project.env, "PYTHONUNBUFFERED": "1", **settings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


# Standard streams.


@pytest.mark.parametrize("redirection", ["<&-", "</dev/null"])
@pytest.mark.parametrize("words", ["init", "agent register operator --human"])
def test_without_a_terminal_nothing_is_asked(bare: Project, redirection: str, words: str) -> None:
    if words != "init":
        bare.ok("init")
    done = shell(bare, f"moot {words} --json {redirection}")
    assert "passphrase" not in done.stderr
    if words == "init":
        assert done.returncode == 0, done
    else:
        assert '"passphrase_required"' in done.stdout


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_survived(project: Project, closed: str) -> None:
    done = shell(project, f"moot agent list {closed}")
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_reader_that_goes_away_is_no_error(project: Project) -> None:
    many = [Ask(title=f"errand {number}", of="teal-crane") for number in range(300)]
    project.execute("amber-otter", *many)
    done = shell(project, f"moot ledger log {LIST} --limit 0 | head -1; echo ${{PIPESTATUS[0]}}")
    assert done.stdout.splitlines()[1] == "0"
    assert done.stderr == ""


@pytest.mark.parametrize(
    "words", ["agent list", "agent list --json", "--help", "verify", "agent show none --json"]
)
def test_a_pipe_that_is_closed_at_once_gives_no_traceback(project: Project, words: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*MOOT, *words.split()],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert done.stderr == b""
    assert done.returncode in (0, 1)


def shell(project: Project, script: str) -> subprocess.CompletedProcess[str]:
    moot = " ".join(MOOT)
    return subprocess.run(
        ["bash", "-c", script.replace("moot ", f"{moot} ", 1)],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


# Signals.


def test_an_interrupt_ends_with_130_and_no_traceback(project: Project) -> None:
    """The demonstration has begun when its first line is read: from then on we are inside."""
    process = start(project, "demo", "--out", "stage")
    assert process.stdout is not None
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.strip() == ""


def test_an_interrupt_while_waiting_is_quiet(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("moot.api.presence.agenda.time.sleep", interrupted)
    done = project.run("agenda", "--wait", "600")
    assert (done.code, done.out, done.err.strip()) == (130, "", "")


# Colour.


def test_colour_only_on_a_terminal_and_only_if_wanted(project: Project) -> None:
    assert "\x1b[32mINTACT\x1b[0m" in on_a_terminal(project, "verify")
    assert "\x1b" not in on_a_terminal(project, "verify", NO_COLOR="1")
    assert "\x1b" not in project.spawn("verify").out
    assert "\x1b" not in on_a_terminal(project, "verify", TERM="dumb")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_an_error_is_coloured_if_standard_error_is_the_terminal(
    project: Project, stream: str
) -> None:
    master, terminal = pty.openpty()
    done = subprocess.run(
        [*MOOT, "agent", "show", "nobody-here"],
        cwd=project.root,
        env={**project.env, "TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        check=False,
        stdout=terminal if stream == "stdout" else subprocess.PIPE,
        stderr=terminal if stream == "stderr" else subprocess.PIPE,
        timeout=60,
    )
    os.close(terminal)
    if stream == "stderr":
        assert os.read(master, 65_536).startswith(b"\x1b[31merror\x1b[0m")
    else:
        assert done.stderr.startswith(b"error [agent_not_found]")
    os.close(master)


def test_what_others_wrote_is_shown_and_never_obeyed(project: Project) -> None:
    evil = "\x1b[2Jgone \u202egnorw \x07\x00"
    project.execute("amber-otter", Ask(title=evil, of="teal-crane"))
    for words in (("agenda",), ("status",), ("ledger", "log", LIST)):
        out = project.run(*words).out
        assert not set(evil) & set(out) & set("\x1b\u202e\x07\x00")
        assert "\\x1b[2Jgone" in out


# Help.


def test_choices_are_named_on_one_line(bare: Project) -> None:
    said = bare.run("completion", "tcsh").err.splitlines()[0]
    assert said.endswith("'tcsh' is not one of 'bash', 'zsh', 'fish'.")


@pytest.mark.parametrize("command", ALL)
def test_every_help_has_an_example_that_names_the_command(bare: Project, command: str) -> None:
    words = ALL[command]
    done = bare.run(*words, "--help")
    assert done.code == 0
    _, _, examples = done.out.partition("Examples:\n")
    assert f"moot {' '.join(words)}" in examples.replace("MOOT_PASSPHRASE_FILE=~/.moot-pass ", "")


def test_examples_parse() -> None:
    """An example that no longer fits its options would be worse than none."""
    for path, command in leaves(cli):
        _, _, examples = (command.help or "").partition("Examples:\n")
        for line in examples.replace("\\\n", " ").splitlines():
            words = line.strip().partition(" ".join(("moot", *path)))
            if words[1]:
                arguments = _words(words[2])
                command.make_context(command.name, arguments, resilient_parsing=False)


def _words(text: str) -> list[str]:
    import shlex

    plain = shlex.split(re.sub(r" >>? .*|\)['\"].*", "", text))
    return [word for word in plain if word != "--json"]


def helps() -> list[str]:
    texts = [command.help or "" for _, command in leaves(cli)]
    texts += [bb.help or "", bb_init.help or ""]
    for _, command in leaves(cli):
        texts += [getattr(option, "help", "") or "" for option in command.params]
        texts += [option.metavar or "" for option in command.params]
    return texts


def test_help_speaks_no_words_of_ours() -> None:
    for text in helps():
        plain = text.replace("moot ledger log registry", "").replace("registry.key_added", "")
        assert not OUR_WORDS.search(plain), text


def test_the_root_help_is_short_enough_for_a_screen(bare: Project) -> None:
    assert len(bare.run("--help").out.splitlines()) <= 60


# Imports.


def imported_by(project: Project, *words: str, **settings: str) -> set[str]:
    code = (
        "import sys\n"
        "from moot.surfaces.cli.main import run\n"
        "code = run(sys.argv[1:])\n"
        "sys.stderr.write(' '.join({name.partition('.')[0] for name in sys.modules}))\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=project.root,
        env={**project.env, **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("--version",),
        ("agent", "list"),
        ("agent", "show", "amber-otter"),
        ("agent", "heartbeat", "--agent", "amber-otter"),
        ("status",),
        ("agenda",),
    ],
)
def test_light_commands_import_nothing_heavy(project: Project, words: tuple[str, ...]) -> None:
    assert not imported_by(project, *words) & set(HEAVY)


def test_the_help_imports_neither_keys_nor_a_database(project: Project) -> None:
    modules = imported_by(project, "--help")
    assert not modules & {"nacl", "sqlite3", "subprocess", "multiprocessing"}


# Completion.


def test_completion_of_a_word_imports_no_command(project: Project) -> None:
    settings = {"_MOOT_COMPLETE": "bash_complete", "COMP_WORDS": "moot ag", "COMP_CWORD": "1"}
    done = project.spawn(**settings)
    assert done.out.split() == ["plain,agenda", "plain,agent"]
    nested = {**settings, "COMP_WORDS": "moot ledger ", "COMP_CWORD": "2"}
    assert "plain,export" in project.spawn(**nested).out.split()


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed_for_three_shells(bare: Project, name: str) -> None:
    script = bare.ok("completion", name)["script"]
    assert f"_MOOT_COMPLETE={name}_complete" in script
    assert bare.run("completion", name).out.strip() == script.strip()


# Ways in.


def test_python_m_moot_is_moot(bare: Project) -> None:
    script = Path(sys.executable).with_name("moot")
    done = subprocess.run(
        [script, "--help"], env=bare.env, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout == bare.spawn("--help").out
