"""Killed at any moment of a run: nothing acknowledged is lost, nothing is run again by itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from moot.api.traces import running, tracing
from moot.core.errors import Refused
from moot.protocols.trace.events import ToolExecutionFailed
from moot.protocols.trace.model import FailureKind, Stage
from moot.system.programs import Program
from tests.trace.trace_project import EXECUTOR, TraceProject, open_trace_project, reopened

PAUSE = threading.Event()
# Where the runner kills itself: before or after one of its steps.
MOMENTS = {
    "before the start is on record": ("execution", "_start", "before"),
    "after the start is on record": ("execution", "_start", "after"),
    "before the command": ("execution", "run_program", "before"),
    "after the command": ("execution", "run_program", "after"),
    "before the outputs are stored": ("execution", "store_outputs", "before"),
    "after the outputs are stored": ("execution", "store_outputs", "after"),
    "before the end is on record": ("execution", "_record_end", "before"),
    "after the end is on record": ("execution", "_record_end", "after"),
}
RUNNER = """
    import os, signal, sys
    from pathlib import Path
    from moot.api.traces import running as execution
    from moot.keys.folder import KeyFolder
    from moot.workspace.workspace import Workspace

    root, keys, stream, intent, actor, name, when = sys.argv[1:]
    real = getattr(execution, name)
    def dying(*args, **kwargs):
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        real(*args, **kwargs)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(execution, name, dying)
    space = Workspace(Path(root) / ".moot", KeyFolder(Path(keys)))
    env = {"PATH": os.environ["PATH"]}
    execution.execute(space, stream, intent, actor, env, Path(root))
"""


def mark(project: TraceProject) -> Path:
    return project.root.parent / "ran"


def times_run(project: TraceProject) -> int:
    try:
        return len(mark(project).read_text())
    except FileNotFoundError:
        return 0


def wait_until(true: object, seconds: float = 20.0) -> None:
    assert callable(true)
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        PAUSE.wait(0.01)


@pytest.mark.requirement("TRC-059", "TRC-061")
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_runner_killed_at_any_moment_leaves_one_clear_account(
    tmp_path: Path, moment: str
) -> None:
    _, name, when = MOMENTS[moment]
    with open_trace_project(tmp_path) as project:
        project.begin()
        intent = project.script(f"open({str(mark(project))!r}, 'a').write('x')")
        before = project.types()
    words = [sys.executable, "-c", textwrap.dedent(RUNNER), str(project.root), str(project.keys)]
    words += [project.stream, intent, EXECUTOR, name, when]
    killed = subprocess.run(words, env={**os.environ}, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    ran = times_run(project)
    project = reopened(project)
    try:
        recovered = running.recover(project.space, project.stream)
        after = project.types()[len(before) :]
        if moment == "before the start is on record":
            assert (after, ran, recovered) == ([], 0, [])
            assert not project.execute_intent(intent).failed  # it never began: it may still run
            assert times_run(project) == 1
            return
        if moment == "after the end is on record":
            assert after == ["tool_execution_started", "tool_execution_completed"]
            assert recovered == []
        else:
            assert after == ["tool_execution_started", "tool_execution_failed"]
            end = project.last()
            assert end.recovered
            assert end.failure.kind is FailureKind.DIED
            assert end.failure.evidence[0] == "the process that ran it is gone"
            assert project.state.stage is Stage.EXECUTING
        length = project.length
        with pytest.raises(Refused):
            project.execute_intent(intent)
        assert running.recover(project.space, project.stream) == []
        assert (project.length, times_run(project)) == (length, ran)
        assert ran <= 1
    finally:
        project.space.close()


@pytest.mark.requirement("TRC-061")
def test_what_outlives_its_killed_runner_is_ended_before_it_is_called_failed(
    tmp_path: Path,
) -> None:
    with open_trace_project(tmp_path) as project:
        project.begin()
        intent = project.script(
            f"import os, signal; open({str(mark(project))!r}, 'w').write(str(os.getpid()));"
            " signal.pause()"
        )
        words = [
            sys.executable,
            "-c",
            textwrap.dedent(RUNNER),
            str(project.root),
            str(project.keys),
        ]
        words += [project.stream, intent, EXECUTOR, "store_outputs", "after"]
        runner = subprocess.Popen(words)
        wait_until(lambda: mark(project).exists() and mark(project).read_text())
        place = running._place(project.space.path, project.stream, intent)
        note = running._note_file(place)  # until it is there nobody knows which process it is
        wait_until(lambda: note.exists() and note.read_bytes())
        pid = int(mark(project).read_text())
        assert running.is_running(project.space.path, project.stream, intent)
        assert running.recover(project.space, project.stream) == []  # it lives: nothing to recover
        with pytest.raises(Refused):
            project.execute_intent(intent)
        runner.kill()
        runner.wait(timeout=120)
        assert not running.is_running(project.space.path, project.stream, intent)
        assert Path(f"/proc/{pid}").exists()
        (outcome,) = running.recover(project.space, project.stream)
        evidence = outcome.newest(ToolExecutionFailed).event.failure.evidence
        assert evidence[1] == f"its command, process {pid}, was still there and was ended"
        wait_until(lambda: _gone(pid))
        assert list((project.space.path / running.FOLDER).iterdir()) == []


@pytest.mark.requirement("TRC-061")
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no environments are shown")
def test_a_command_that_nobody_could_note_is_ended_too(tmp_path: Path) -> None:
    """Killed between the command's first moment and the note of its process."""
    with open_trace_project(tmp_path) as project:
        project.begin()
        intent = project.script(
            f"import os, signal; open({str(mark(project))!r}, 'w').write(str(os.getpid()));"
            " signal.pause()"
        )
        dies = "from moot.api.traces import running as run_lock; import os, signal;"
        dies += " run_lock.RunLock.note_process = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        words = [sys.executable, "-c", dies + textwrap.dedent(RUNNER), str(project.root)]
        words += [str(project.keys), project.stream, intent, EXECUTOR, "store_outputs", "after"]
        killed = subprocess.run(words, capture_output=True, check=False)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        wait_until(lambda: mark(project).exists() and mark(project).read_text())
        pid = int(mark(project).read_text())
        (outcome,) = running.recover(project.space, project.stream)
        assert outcome.newest(ToolExecutionFailed).event.failure.evidence == (
            "the process that ran it is gone",
            "it is not known whether its command had begun",
            "what it had started was still there and was ended",
        )
        wait_until(lambda: _gone(pid))


def died(project: TraceProject, intent: str) -> None:
    """A start on record whose process is gone: nobody holds its lock."""
    event = tracing.read_intent(project.space, project.stream, intent)
    running._start(project.space, project.stream, event, EXECUTOR, project.root, Program())


@pytest.mark.requirement("TRC-061")
def test_the_next_run_records_what_died_before_it(tmp_path: Path) -> None:
    with open_trace_project(tmp_path) as project:
        project.begin()
        died(project, project.script("print(1)"))
        before = len(project.types())
        assert not project.execute_intent(project.script("print(2)")).failed
        assert [name for name in project.types()[before:] if name.startswith("tool_execution")] == [
            *("tool_execution_failed", "tool_execution_started", "tool_execution_completed")
        ]


@pytest.mark.requirement("TRC-061")
def test_what_died_holds_up_nobody_who_lacks_the_executors_key(tmp_path: Path) -> None:
    with open_trace_project(tmp_path) as project:
        project.begin()
        died(project, project.script("print(1)"))
        length = project.length
        for file in project.keys.rglob(f"*{EXECUTOR}*"):
            file.unlink()
    project = reopened(project)
    try:
        assert running.recover(project.space, project.stream) == []
        assert (project.length, len(project.state.running)) == (length, 1)
    finally:
        project.space.close()


def _gone(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return text.rpartition(")")[2].split()[0] in ("Z", "X")


def test_a_process_of_the_same_number_is_left_alone(tmp_path: Path) -> None:
    """A number is given again; only the one that began at the noted moment is meant."""
    with open_trace_project(tmp_path) as project:
        project.begin()
        intent = project.script("print(1)")
        other = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
        try:
            held = running.RunLock(project.space.path, project.stream, intent)
            with held:
                held.note_process(other.pid)
                note = next((project.space.path / running.FOLDER).glob("*.json"))
                note.write_text(note.read_text().replace('"mark":"', '"mark":"9'))
                copy = note.read_bytes()
            note.write_bytes(copy)
            seen = running.end_leftovers(project.space.path, project.stream, intent)
            assert seen[1].endswith("is gone too")
            assert other.poll() is None
        finally:
            other.kill()
            other.wait(timeout=120)


def test_a_run_in_flight_does_not_keep_others_from_working(tmp_path: Path) -> None:
    """TRC-048: another intent runs meanwhile; the trace moves on when nothing is in flight."""
    with open_trace_project(tmp_path) as project:
        project.begin()
        proposal = project.approved()
        first = project.intend(proposal, sys.executable, "-c", "import signal; signal.pause()")
        second = project.intend(proposal, sys.executable, "-c", "print(2)")
        words = [
            sys.executable,
            "-c",
            textwrap.dedent(RUNNER),
            str(project.root),
            str(project.keys),
        ]
        runner = subprocess.Popen(
            [*words, project.stream, first, EXECUTOR, "store_outputs", "after"]
        )
        try:
            wait_until(lambda: len(project.state.running) == 1)
            assert not project.execute_intent(second).failed
            assert project.stage() is Stage.EXECUTING
        finally:
            runner.kill()
            runner.wait(timeout=120)
        running.recover(project.space, project.stream)
        assert project.stage() is Stage.CLAIMING
