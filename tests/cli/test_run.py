"""`moot run`: a name, a heartbeat, signals, the exit code, and a clean end in every case."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.signalling import ON_LINUX, signal_another_thread, signal_process
from tests.project import MOOT, Project

PYTHON = sys.executable


@pytest.fixture
def project(bare: Project) -> Project:
    bare.init()
    return bare


def status_of(project: Project, name: str) -> str:
    everyone = project.ok("status", "--all")["agents"]
    agents: dict[str, str] = {one["agent"]: one["status"] for one in everyone}
    return agents[name]


@pytest.mark.requirement("LAU-001")
def test_the_program_knows_its_name_and_its_workspace(project: Project) -> None:
    code = "import os; print(os.environ['MOOT_AGENT'], os.environ['MOOT_HOME'])"
    done = project.spawn("run", "--name", "amber-otter", "--", PYTHON, "-c", code)
    assert done.out == f"amber-otter {project.root / '.moot'}\n"
    assert done.code == 0


def test_a_name_is_made_up_and_retired_at_the_end(project: Project) -> None:
    done = project.spawn("run", "--", PYTHON, "-c", "import os; print(os.environ['MOOT_AGENT'])")
    name = done.out.strip()
    assert name.count("-") == 1
    assert status_of(project, name) == "retired"


@pytest.mark.requirement("LAU-002")
@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_the_exit_code_is_passed_on_and_everything_is_released(project: Project, code: int) -> None:
    script = f"import sys; sys.exit({code})"
    words = ("--name", "amber-otter", "--reserve", "src", "--", PYTHON, "-c", script)
    assert project.spawn("run", *words).code == code
    assert project.ok("scope", "list")["reservations"] == []
    assert status_of(project, "amber-otter") == "retired"


@pytest.mark.requirement("LAU-002")
def test_a_crash_of_the_program_is_a_clean_end_too(project: Project) -> None:
    script = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    words = ("--name", "amber-otter", "--reserve", "src", "--", PYTHON, "-c", script)
    assert project.spawn("run", *words).code == 128 + signal.SIGKILL
    assert project.ok("scope", "list")["reservations"] == []
    assert status_of(project, "amber-otter") == "retired"


@pytest.mark.requirement("LAU-003")
def test_a_program_that_is_not_there_registers_nobody(project: Project) -> None:
    done = project.spawn("run", "--name", "amber-otter", "--json", "--", "no-such-program-here")
    assert done.code == 4
    assert done.error["code"] == "command_not_run"
    assert project.ok("status")["agents"] == []


def test_the_option_that_left_hooks_out_is_gone_and_says_so(project: Project) -> None:
    done = project.spawn("run", "--json", "--no-hooks", "--", PYTHON, "-c", "print(1)")
    assert (done.code, done.error["code"]) == (2, "usage")
    assert "--unguarded" in done.error["message"]
    assert project.ok("status")["agents"] == []


def test_of_another_program_edits_are_watched_and_that_is_said_in_one_line(
    project: Project,
) -> None:
    done = project.spawn("run", "--name", "amber-otter", "--", PYTHON, "-c", "print(1)")
    (line,) = done.err.splitlines()
    assert line.endswith("its edits are watched, not checked")


@pytest.mark.requirement("LAU-004")
def test_what_is_reserved_first_is_held_while_it_runs(project: Project) -> None:
    code = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    inner = (*MOOT, "scope", "list", "--json")
    words = ("--name", "amber-otter", "--reserve", "src/*", "--", PYTHON, "-c", code, *inner)
    done = project.spawn("run", *words)
    (held,) = done.data["reservations"]
    assert (held["scope"], held["owner"]) == ("src/*", "amber-otter")


def test_the_programs_own_json_option_is_its_own(project: Project) -> None:
    code = "import sys; print(sys.argv[1:])"
    done = project.spawn("run", "--", PYTHON, "-c", code, "--json", "--as", "x")
    assert done.out == "['--json', '--as', 'x']\n"


@pytest.mark.requirement("LAU-005")
def test_the_passphrase_of_a_person_is_withheld(project: Project, passphrase: str) -> None:
    code = "import os; print('MOOT_PASSPHRASE_FILE' in os.environ)"
    done = project.spawn("run", "--", PYTHON, "-c", code, MOOT_PASSPHRASE_FILE=passphrase)
    assert done.out == "False\n"


@pytest.mark.requirement("LAU-006")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    "signalled", [signal_process, pytest.param(signal_another_thread, marks=ON_LINUX)]
)
def test_signals_reach_the_program(
    project: Project, number: signal.Signals, signalled: Callable[[int, signal.Signals], None]
) -> None:
    """Whichever of our threads the system gives them to: after a stop it may be any."""
    script = (
        "import signal, sys\n"
        f"signal.signal({int(number)}, lambda *_: sys.exit(42))\n"
        "print('ready', flush=True)\n"
        "signal.pause()\n"
    )
    words = [*MOOT, "run", "--name", "amber-otter", "--", PYTHON, "-c", script]
    running = subprocess.Popen(words, cwd=project.root, env=project.env, stdout=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    signalled(running.pid, number)
    assert running.wait(60) == 42
    running.stdout.close()
    assert status_of(project, "amber-otter") == "retired"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_ctrl_c_and_ctrl_backslash_at_the_terminal_are_the_programs_to_judge(
    project: Project, number: signal.Signals
) -> None:
    script = (
        "import signal, sys\n"
        f"signal.signal({int(number)}, lambda *_: sys.exit(9))\n"
        "print('ready', flush=True)\n"
        "signal.pause()\n"
    )
    words = [*MOOT, "run", "--name", "amber-otter", "--", PYTHON, "-c", script]
    running = subprocess.Popen(
        words, cwd=project.root, env=project.env, stdout=subprocess.PIPE, start_new_session=True
    )
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    os.killpg(running.pid, number)
    assert running.wait(60) == 9
    running.stdout.close()
    assert status_of(project, "amber-otter") == "retired"


@pytest.mark.requirement("LAU-007")
@pytest.mark.parametrize("set_for", ["run", "workspace"])
def test_it_beats_while_the_program_lives(bare: Project, set_for: str) -> None:
    """The stale time is made so short that only heartbeats can keep the agent alive."""
    short = {"BB_AGENT_STALE_MINUTES": "0.01"}
    bare.ok("init", **(short if set_for == "workspace" else {}))
    script = (
        "import subprocess, sys, json, os\n"
        "seen = set()\n"
        "while len(seen) < 3:\n"
        "    out = subprocess.run(sys.argv[1:], capture_output=True).stdout\n"
        "    seen.add(json.loads(out)['data']['last_seen_at'])\n"
        "print(len(seen))\n"
    )
    inner = (*MOOT, "agent", "show", "amber-otter", "--json")
    words = ("--name", "amber-otter", "--", PYTHON, "-c", script, *inner)
    done = bare.spawn("run", *words, **(short if set_for == "run" else {}))
    assert done.out == "3\n"


@pytest.mark.requirement("LAU-007")
def test_an_agent_that_is_run_cannot_be_adopted(project: Project) -> None:
    code = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    inner = (*MOOT, "--json", "join", "--adopt", "amber-otter", "--non-interactive")
    words = ("--name", "amber-otter", "--", "env", "-u", "MOOT_AGENT", PYTHON, "-c", code, *inner)
    done = project.spawn("run", *words)
    assert (done.code, done.error["code"]) == (1, "agent_alive")


def test_an_unknown_option_is_wrong_usage_and_nothing_runs(project: Project) -> None:
    done = project.spawn("run", "--json", "--nmae", "amber-otter", "--", PYTHON, "-c", "print(1)")
    assert (done.code, done.error["code"]) == (2, "usage")
    assert project.ok("status")["agents"] == []


def test_with_json_one_envelope_stands_on_stdout(project: Project) -> None:
    done = project.spawn("run", "--json", "--", PYTHON, "-c", "print('hello'); raise SystemExit(3)")
    assert (done.code, done.data["exit_status"]) == (3, 3)
    assert "hello\n" in done.err


def test_a_run_inside_a_run_has_a_name_of_its_own(project: Project) -> None:
    show = "import os; print(os.environ['MOOT_AGENT'])"
    inner = (*MOOT, "run", "--name", "teal-crane", "--reserve", "src", "--", PYTHON, "-c", show)
    done = project.spawn("run", "--name", "amber-otter", "--", *inner)
    assert (done.code, done.out) == (0, "teal-crane\n")
    assert [status_of(project, name) for name in ("amber-otter", "teal-crane")] == ["retired"] * 2
    assert project.ok("scope", "list")["reservations"] == []


def test_closed_streams_are_the_programs_to_judge(project: Project) -> None:
    words = [*MOOT, "run", "--name", "amber-otter", "--", PYTHON, "-c", "raise SystemExit(5)"]
    script = 'exec "$@" <&- >&- 2>&-'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *words], cwd=project.root, env=project.env, check=False
    )
    assert done.returncode == 5
    assert status_of(project, "amber-otter") == "retired"


def test_a_signal_that_comes_early_waits_for_the_program(project: Project) -> None:
    """Sent as soon as the name is given, before or after the program starts: never lost."""
    words = [*MOOT, "run", "--name", "amber-otter", "--", PYTHON, "-c", "input()"]
    running = subprocess.Popen(
        words, cwd=project.root, env=project.env, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert running.stderr is not None
    assert b"amber-otter works here" in running.stderr.readline()
    running.send_signal(signal.SIGTERM)
    assert running.wait(60) == 128 + signal.SIGTERM
    running.communicate(timeout=120)
    assert status_of(project, "amber-otter") == "retired"


def test_hooks_are_installed_only_for_a_tool_that_is_there(
    project: Project, tmp_path: Path
) -> None:
    before = sorted(project.root.iterdir())
    settings = {"PATH": str(tmp_path / "empty")}
    done = project.spawn("run", "--json", "--", "claude", **settings)
    assert (done.code, done.error["code"]) == (4, "command_not_run")
    assert sorted(project.root.iterdir()) == before
