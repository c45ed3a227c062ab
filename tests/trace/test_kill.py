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

from moot.core.errors import Refused
from moot.flows.trace import execution, run_lock, tracing
from moot.protocols.trace.events import ToolExecutionFailed
from moot.protocols.trace.model import FailureKind, Stage
from moot.system.program import Program
from tests.trace.workshop import EXECUTOR, Workshop, reopened, workshop

PAUSE = threading.Event()
# Where the runner kills itself: before or after one of its steps.
MOMENTS = {
    "before the start is on record": ("execution", "_start", "before"),
    "after the start is on record": ("execution", "_start", "after"),
    "before the command": ("execution", "run_program", "before"),
    "after the command": ("execution", "run_program", "after"),
    "before the outputs are stored": ("execution", "store_outputs", "before"),
    "after the outputs are stored": ("execution", "store_outputs", "after"),
    "before the end is on record": ("execution", "_end", "before"),
    "after the end is on record": ("execution", "_end", "after"),
}
RUNNER = """
    import os, signal, sys
    from pathlib import Path
    from moot.flows.trace import execution
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


def mark(shop: Workshop) -> Path:
    return shop.root.parent / "ran"


def times_run(shop: Workshop) -> int:
    try:
        return len(mark(shop).read_text())
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
    with workshop(tmp_path) as shop:
        shop.begin()
        intent = shop.script(f"open({str(mark(shop))!r}, 'a').write('x')")
        before = shop.types()
    words = [sys.executable, "-c", textwrap.dedent(RUNNER), str(shop.root), str(shop.keys)]
    words += [shop.stream, intent, EXECUTOR, name, when]
    killed = subprocess.run(words, env={**os.environ}, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    ran = times_run(shop)
    shop = reopened(shop)
    try:
        recovered = execution.recover(shop.space, shop.stream)
        after = shop.types()[len(before) :]
        if moment == "before the start is on record":
            assert (after, ran, recovered) == ([], 0, [])
            assert not shop.execute(intent).failed  # it never began: it may still run
            assert times_run(shop) == 1
            return
        if moment == "after the end is on record":
            assert after == ["tool_execution_started", "tool_execution_completed"]
            assert recovered == []
        else:
            assert after == ["tool_execution_started", "tool_execution_failed"]
            end = shop.last()
            assert end.recovered
            assert end.failure.kind is FailureKind.DIED
            assert end.failure.evidence[0] == "the process that ran it is gone"
            assert shop.state.stage is Stage.EXECUTING
        length = shop.length
        with pytest.raises(Refused):
            shop.execute(intent)
        assert execution.recover(shop.space, shop.stream) == []
        assert (shop.length, times_run(shop)) == (length, ran)
        assert ran <= 1
    finally:
        shop.space.close()


@pytest.mark.requirement("TRC-061")
def test_what_outlives_its_killed_runner_is_ended_before_it_is_called_failed(
    tmp_path: Path,
) -> None:
    with workshop(tmp_path) as shop:
        shop.begin()
        intent = shop.script(
            f"import os, signal; open({str(mark(shop))!r}, 'w').write(str(os.getpid()));"
            " signal.pause()"
        )
        words = [sys.executable, "-c", textwrap.dedent(RUNNER), str(shop.root), str(shop.keys)]
        words += [shop.stream, intent, EXECUTOR, "store_outputs", "after"]
        runner = subprocess.Popen(words)
        wait_until(lambda: mark(shop).exists() and mark(shop).read_text())
        place = run_lock._place(shop.space.path, shop.stream, intent)
        note = run_lock._note(place)  # until it is there nobody knows which process it is
        wait_until(lambda: note.exists() and note.read_bytes())
        pid = int(mark(shop).read_text())
        assert run_lock.is_running(shop.space.path, shop.stream, intent)
        assert execution.recover(shop.space, shop.stream) == []  # it lives: nothing to recover
        with pytest.raises(Refused):
            shop.execute(intent)
        runner.kill()
        runner.wait(timeout=120)
        assert not run_lock.is_running(shop.space.path, shop.stream, intent)
        assert Path(f"/proc/{pid}").exists()
        (outcome,) = execution.recover(shop.space, shop.stream)
        evidence = outcome.newest(ToolExecutionFailed).event.failure.evidence
        assert evidence[1] == f"its command, process {pid}, was still there and was ended"
        wait_until(lambda: _gone(pid))
        assert list((shop.space.path / run_lock.FOLDER).iterdir()) == []


@pytest.mark.requirement("TRC-061")
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no environments are shown")
def test_a_command_that_nobody_could_note_is_ended_too(tmp_path: Path) -> None:
    """Killed between the command's first moment and the note of its process."""
    with workshop(tmp_path) as shop:
        shop.begin()
        intent = shop.script(
            f"import os, signal; open({str(mark(shop))!r}, 'w').write(str(os.getpid()));"
            " signal.pause()"
        )
        dies = "from moot.flows.trace import run_lock; import os, signal;"
        dies += " run_lock.RunLock.note_process = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        words = [sys.executable, "-c", dies + textwrap.dedent(RUNNER), str(shop.root)]
        words += [str(shop.keys), shop.stream, intent, EXECUTOR, "store_outputs", "after"]
        killed = subprocess.run(words, capture_output=True, check=False)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        wait_until(lambda: mark(shop).exists() and mark(shop).read_text())
        pid = int(mark(shop).read_text())
        (outcome,) = execution.recover(shop.space, shop.stream)
        assert outcome.newest(ToolExecutionFailed).event.failure.evidence == (
            "the process that ran it is gone",
            "it is not known whether its command had begun",
            "what it had started was still there and was ended",
        )
        wait_until(lambda: _gone(pid))


def died(shop: Workshop, intent: str) -> None:
    """A start on record whose process is gone: nobody holds its lock."""
    event = tracing.read_intent(shop.space, shop.stream, intent)
    execution._start(shop.space, shop.stream, event, EXECUTOR, shop.root, Program())


@pytest.mark.requirement("TRC-061")
def test_the_next_run_records_what_died_before_it(tmp_path: Path) -> None:
    with workshop(tmp_path) as shop:
        shop.begin()
        died(shop, shop.script("print(1)"))
        before = len(shop.types())
        assert not shop.execute(shop.script("print(2)")).failed
        assert [name for name in shop.types()[before:] if name.startswith("tool_execution")] == [
            *("tool_execution_failed", "tool_execution_started", "tool_execution_completed")
        ]


@pytest.mark.requirement("TRC-061")
def test_what_died_holds_up_nobody_who_lacks_the_executors_key(tmp_path: Path) -> None:
    with workshop(tmp_path) as shop:
        shop.begin()
        died(shop, shop.script("print(1)"))
        length = shop.length
        for file in shop.keys.rglob(f"*{EXECUTOR}*"):
            file.unlink()
    shop = reopened(shop)
    try:
        assert execution.recover(shop.space, shop.stream) == []
        assert (shop.length, len(shop.state.running)) == (length, 1)
    finally:
        shop.space.close()


def _gone(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return text.rpartition(")")[2].split()[0] in ("Z", "X")


def test_a_process_of_the_same_number_is_left_alone(tmp_path: Path) -> None:
    """A number is given again; only the one that began at the noted moment is meant."""
    with workshop(tmp_path) as shop:
        shop.begin()
        intent = shop.script("print(1)")
        other = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
        try:
            held = run_lock.RunLock(shop.space.path, shop.stream, intent)
            with held:
                held.note_process(other.pid)
                note = next((shop.space.path / run_lock.FOLDER).glob("*.json"))
                note.write_text(note.read_text().replace('"mark":"', '"mark":"9'))
                copy = note.read_bytes()
            note.write_bytes(copy)
            seen = run_lock.end_leftovers(shop.space.path, shop.stream, intent)
            assert seen[1].endswith("is gone too")
            assert other.poll() is None
        finally:
            other.kill()
            other.wait(timeout=120)


def test_a_run_in_flight_does_not_keep_others_from_working(tmp_path: Path) -> None:
    """TRC-048: another intent runs meanwhile; the trace moves on when nothing is in flight."""
    with workshop(tmp_path) as shop:
        shop.begin()
        proposal = shop.approved()
        first = shop.intend(proposal, sys.executable, "-c", "import signal; signal.pause()")
        second = shop.intend(proposal, sys.executable, "-c", "print(2)")
        words = [sys.executable, "-c", textwrap.dedent(RUNNER), str(shop.root), str(shop.keys)]
        runner = subprocess.Popen([*words, shop.stream, first, EXECUTOR, "store_outputs", "after"])
        try:
            wait_until(lambda: len(shop.state.running) == 1)
            assert not shop.execute(second).failed
            assert shop.stage() is Stage.EXECUTING
        finally:
            runner.kill()
            runner.wait(timeout=120)
        execution.recover(shop.space, shop.stream)
        assert shop.stage() is Stage.CLAIMING
