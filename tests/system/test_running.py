"""A command is really run: bounded in time and output, with nothing of ours, and nothing left."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from moot.system import programs
from moot.system.programs import Program, find_program
from moot.system.running import (
    TAG,
    ProgramNotStarted,
    RunOrder,
    allowed_environment,
    is_same_process,
    kill_leftover,
    kill_tagged,
    run_program,
    start_mark_of,
)

PAUSE = threading.Event()
PYTHON = sys.executable


def order(folder: Path, *words: str, **settings: Any) -> RunOrder:
    env = {"PATH": os.environ["PATH"]}
    usual = RunOrder(words=words, folder=folder, env=env, seconds=30.0, most_bytes=1_000_000)
    return usual._replace(**settings)


def python(folder: Path, code: str, **settings: Any) -> RunOrder:
    return order(folder, PYTHON, "-c", textwrap.dedent(code), **settings)


def gone(pid: int) -> bool:
    """Not there any more, or only waiting to be buried by its parent."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except OSError:
        return True
    return text.rpartition(")")[2].split()[0] in ("Z", "X")


def wait_until(true: object, seconds: float = 10.0) -> bool:
    assert callable(true)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        PAUSE.wait(0.01)
    return False


@pytest.mark.requirement("TRC-034")
def test_a_command_runs_in_its_folder_and_its_outputs_are_kept_apart(tmp_path: Path) -> None:
    done = run_program(
        python(tmp_path, "import os, sys; print(os.getcwd()); print('oh', file=sys.stderr)")
    )
    assert (done.exit_status, done.signal) == (0, None)
    assert done.stdout.beginning.decode().strip() == str(tmp_path)
    assert done.stderr.beginning == b"oh\n"
    assert not done.stdout.truncated
    assert not any((done.timed_out, done.left_running, done.interrupted))


def test_there_is_no_shell(tmp_path: Path) -> None:
    done = run_program(order(tmp_path, "echo", "$HOME; touch x", "`touch y`", "*"))
    assert done.stdout.beginning == b"$HOME; touch x `touch y` *\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("status", [0, 1, 3, 127, 255])
def test_the_exit_status_is_told(tmp_path: Path, status: int) -> None:
    assert run_program(python(tmp_path, f"raise SystemExit({status})")).exit_status == status


def test_a_signal_is_told_apart_from_a_status(tmp_path: Path) -> None:
    done = run_program(python(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"))
    assert (done.exit_status, done.signal) == (None, signal.SIGSEGV)


def test_standard_input_is_closed_or_given(tmp_path: Path) -> None:
    reads = "import sys; print(repr(sys.stdin.read()))"
    assert run_program(python(tmp_path, reads)).stdout.beginning == b"''\n"
    assert (
        run_program(python(tmp_path, reads, standard_input=b"hello")).stdout.beginning
        == b"'hello'\n"
    )
    unread = python(tmp_path, "pass", standard_input=b"x" * 5_000_000)
    assert run_program(unread).exit_status == 0


def test_our_own_standard_input_is_not_the_commands(tmp_path: Path) -> None:
    code = """
        import sys
        from pathlib import Path
        from moot.system.running import RunOrder, run_program
        words = (sys.executable, "-c", "import sys; print(sys.stdin.read())")
        order = RunOrder(words, Path(sys.argv[1]), {}, 30.0, 1_000)
        print(run_program(order).stdout.beginning)
    """
    words = [PYTHON, "-c", textwrap.dedent(code), str(tmp_path)]
    done = subprocess.run(words, input=b"ours", capture_output=True, check=True)
    assert done.stdout == b"b'\\n'\n"


def test_nothing_of_ours_is_inherited(tmp_path: Path) -> None:
    """No environment but the given one, no open file, another session."""
    held = os.open(tmp_path / "held", os.O_CREAT | os.O_RDWR)
    os.set_inheritable(held, True)
    try:
        code = """
            import os
            print(sorted(os.environ))
            print(os.path.exists(f'/proc/self/fd/%d'), os.getsid(0) == os.getpid())
        """
        done = run_program(python(tmp_path, code % held, env={"ONLY": "this", "LC_ALL": "C.UTF-8"}))
    finally:
        os.close(held)
    names, rest = done.stdout.beginning.decode().splitlines()
    assert names == "['LC_ALL', 'ONLY']"
    assert rest == "False True"


def test_the_environment_is_an_allow_list() -> None:
    everything = {
        "PATH": "/bin",
        "AWS_SECRET_ACCESS_KEY": "s",
        "MOOT_PASSPHRASE_FILE": "p",
        "MOOT_KEYS": "k",
        "CI": "1",
    }
    assert allowed_environment(everything, ()) == {}
    assert allowed_environment(everything, ("PATH", "ABSENT")) == {"PATH": "/bin"}
    assert allowed_environment(everything, everything) == {
        name: value for name, value in everything.items() if name != "MOOT_PASSPHRASE_FILE"
    }


def test_too_much_output_is_cut_counted_and_told(tmp_path: Path) -> None:
    done = run_program(python(tmp_path, "print('x' * 300_000)", most_bytes=1000))
    assert done.exit_status == 0
    assert done.stdout.beginning == b"x" * 1000
    assert done.stdout.size == 300_001
    assert done.stdout.truncated
    assert not done.stderr.truncated


def test_output_of_exactly_the_limit_is_whole(tmp_path: Path) -> None:
    done = run_program(python(tmp_path, "print('x' * 999)", most_bytes=1000))
    assert len(done.stdout.beginning) == 1000
    assert not done.stdout.truncated


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("no-such-program-here",), "no-such-program-here: not found"),
        (("./plain",), "./plain: Permission denied"),
        (("echo", "a\0b"), "echo: embedded null byte"),
    ],
)
def test_what_cannot_be_started_says_why(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    (tmp_path / "plain").write_text("no program", encoding="utf-8")
    with pytest.raises(ProgramNotStarted, match=message):
        run_program(order(tmp_path, *words))


def test_a_folder_that_is_gone_says_so(tmp_path: Path) -> None:
    with pytest.raises(ProgramNotStarted, match="gone: not found"):
        run_program(order(tmp_path / "gone", "echo"))


SPAWNS = """
    import signal, subprocess, sys
    child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    print(child.pid, flush=True)
"""


def test_a_command_out_of_time_is_killed_with_its_whole_group(tmp_path: Path) -> None:
    done = run_program(python(tmp_path, SPAWNS + "    signal.pause()", seconds=0.5))
    assert done.timed_out
    assert done.signal == signal.SIGTERM
    assert wait_until(lambda: gone(int(done.stdout.beginning)))


def test_one_that_ignores_the_asking_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.system.running.GRACE_SECONDS", 0.1)
    code = """
        import signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.pause()
    """
    done = run_program(python(tmp_path, code, seconds=0.5))
    assert (done.timed_out, done.signal) == (True, signal.SIGKILL)


def test_what_a_command_leaves_running_is_killed_and_told(tmp_path: Path) -> None:
    done = run_program(python(tmp_path, SPAWNS))
    assert done.exit_status == 0
    assert done.left_running
    assert wait_until(lambda: gone(int(done.stdout.beginning)))


def test_one_that_left_the_group_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.system.running.LINGER_SECONDS", 0.05)
    code = SPAWNS.replace('pause()"]', 'pause()"], start_new_session=True')
    assert code != SPAWNS
    done = run_program(python(tmp_path, code))
    assert done.exit_status == 0
    assert done.left_running
    os.kill(int(done.stdout.beginning), signal.SIGKILL)


@pytest.mark.parametrize("size", [10, 1_000_000], ids=["fits", "more-than-a-pipe-holds"])
def test_anyone_who_is_left_with_its_standard_input_does_not_hold_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """A daemon that keeps all three pipes open and reads nothing: the command itself has ended."""
    monkeypatch.setattr("moot.system.running.LINGER_SECONDS", 0.05)
    code = SPAWNS.replace('pause()"]', 'pause()"], start_new_session=True')
    done = run_program(python(tmp_path, code, standard_input=b"x" * size))
    os.kill(int(done.stdout.beginning), signal.SIGKILL)
    assert (done.exit_status, done.timed_out, done.left_running) == (0, False, True)


def test_one_that_hangs_without_reading_is_ended_in_time(tmp_path: Path) -> None:
    code = "import signal; signal.pause()"
    done = run_program(python(tmp_path, code, standard_input=b"x" * 1_000_000, seconds=0.5))
    assert done.timed_out
    assert done.signal == signal.SIGTERM


def test_a_long_standard_input_arrives_whole(tmp_path: Path) -> None:
    code = "import sys; print(len(sys.stdin.buffer.read()))"
    done = run_program(python(tmp_path, code, standard_input=b"x" * 3_000_000))
    assert int(done.stdout.beginning) == 3_000_000


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_our_own_interruption_kills_the_command_and_is_told(tmp_path: Path, number: int) -> None:
    script = """
        import signal, sys
        from pathlib import Path
        from moot.system.running import RunOrder, run_program
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's `&` has it ignored
        code = "import os, signal; print(os.getpid(), flush=True); signal.pause()"
        words = (sys.executable, "-c", code)
        started = lambda pid: print(pid, flush=True)
        done = run_program(RunOrder(words, Path("."), {}, 600, 1000), started)
        print(done.interrupted, done.signal, flush=True)
    """
    ours = subprocess.Popen(
        [PYTHON, "-c", textwrap.dedent(script)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert ours.stdout is not None
    pid = int(ours.stdout.readline())
    ours.send_signal(number)
    said, _ = ours.communicate(timeout=120)
    assert said.split() == [str(int(number)), "9"]
    assert ours.returncode == 0
    assert wait_until(lambda: gone(pid))


def test_what_outlives_a_killed_runner_is_found_by_its_mark_and_ended() -> None:
    child = subprocess.Popen(
        [PYTHON, "-c", "import signal; signal.pause()"], start_new_session=True
    )
    mark = start_mark_of(child.pid)
    assert is_same_process(child.pid, mark)
    assert not kill_leftover(child.pid, "another beginning")
    assert not kill_leftover(child.pid, "")
    assert kill_leftover(child.pid, mark)
    assert child.wait(timeout=120) == -signal.SIGKILL
    assert not kill_leftover(child.pid, mark)


DAEMON = """
    import os, signal, sys
    told, mine = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            quiet = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(quiet, number)
            os.write(mine, b'%d' % os.getpid())
            signal.pause()
        os._exit(0)
    print(os.read(told, 20).decode(), flush=True)
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no environments are shown")
@pytest.mark.parametrize("ends", ["by itself", "out of time"])
def test_what_has_left_the_group_is_found_by_its_tag_and_ended(tmp_path: Path, ends: str) -> None:
    """A session of its own, its outputs closed: neither group nor pipe would tell."""
    waits = "    signal.pause()\n" if ends == "out of time" else ""
    seconds = 1.0 if waits else 30.0
    done = run_program(python(tmp_path, DAEMON + waits, tag="ab" * 16, seconds=seconds))
    pid = int(done.stdout.beginning)
    assert wait_until(lambda: gone(pid))
    assert done.timed_out is bool(waits)
    assert done.left_running is not done.timed_out


def test_another_tag_is_anothers(tmp_path: Path) -> None:
    other = subprocess.Popen([PYTHON, "-c", "import signal; signal.pause()"], env={TAG: "cd" * 16})
    try:
        assert not run_program(python(tmp_path, "pass", tag="ab" * 16)).left_running
        assert other.poll() is None
        assert not kill_tagged("")
        assert other.poll() is None
    finally:
        other.kill()
        other.wait(timeout=120)


def test_the_program_is_the_file_that_the_system_would_run(tmp_path: Path) -> None:
    for place in ("one", "two", "work/bin"):
        (tmp_path / place).mkdir(parents=True)
    for place in ("two", "work/bin"):
        tool = tmp_path / place / "tool"
        tool.write_text(f"#!/bin/sh\necho {place}\n")
        tool.chmod(0o755)
    (tmp_path / "one" / "tool").write_text("not to be run")
    work = tmp_path / "work"
    env = {"PATH": os.pathsep.join(str(tmp_path / place) for place in ("none", "one", "two"))}
    for word, variables in (("tool", env), ("bin/tool", env), ("tool", {"PATH": "bin"})):
        found = find_program(word, work, variables)
        done = run_program(order(work, word, env=variables, program=found.path))
        assert done.stdout == run_program(order(work, word, env=variables)).stdout
        assert Path(found.path).read_text().split()[-1] == done.stdout.beginning.decode().strip()
        assert found.sha256 == hashlib.sha256(Path(found.path).read_bytes()).hexdigest()
    assert find_program("absent", work, env) == Program()


def test_a_huge_program_is_known_by_its_path_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "MOST_BYTES", 10)
    tool = tmp_path / "tool"
    tool.write_bytes(b"x" * 11)
    tool.chmod(0o755)
    assert find_program("./tool", tmp_path, {}) == Program(f"{tmp_path}/./tool", "")
