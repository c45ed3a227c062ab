"""Running a command: an argument vector, no shell, nothing inherited, everything bounded.

The command gets a process group of its own, a standard input that is given or closed, the folder
and the environment that were asked for, and no open file of ours. When it has ended, or its time is
up, or we are interrupted ourselves, whatever is left of that group is killed, and with it what has
left the group and still carries the command's tag (`running.py`). Output is kept up to a limit and
counted beyond it: a command that prints too much is not stopped, and the record says how much it
was.

Not a jail: the command may do what its user may do.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO, Any, Final, NamedTuple, NoReturn

from moot.system.programs import wait_for_end

# Processes that a command left behind are found by number and start time, since the system gives a
# number again; or by the tag of their run in their environment, where the system shows it (/proc).

TAG: Final = "MOOT_EXECUTION"
# A process may start another before it is killed; so they are looked for again, this often.
_ROUNDS: Final = 20
_PROC: Final = "/proc"


def is_same_process(pid: int, mark: str) -> bool:
    """Is the process that was noted with `mark` still there? A number alone may be another's."""
    return mark != "" and start_mark_of(pid) == mark


def kill_leftover(pid: int, mark: str) -> bool:
    """Kill the group of a process whose runner died, if it is still the same process."""
    if not is_same_process(pid, mark):
        return False
    kill_group(pid, KILL)
    return True


def kill_tagged(tag: str) -> bool:
    """Kill every process that carries the tag; True if there was any."""
    if not tag:
        return False
    found = False
    for _ in range(_ROUNDS):
        carrying = list(_find_tagged(tag))
        if not carrying:
            break
        found = True
        for pid in carrying:
            with suppress(OSError):
                os.kill(pid, KILL)
    return found


def _find_tagged(tag: str) -> Iterator[int]:
    """The numbers of living processes that carry the tag; ended ones show no environment."""
    wanted = f"\0{TAG}={tag}\0".encode()
    with suppress(OSError):
        for name in os.listdir(_PROC):
            if name.isdigit():
                with suppress(OSError), open(f"{_PROC}/{name}/environ", "rb") as file:
                    if wanted in b"\0" + file.read():
                        yield int(name)


def start_mark_of(pid: int) -> str:
    """When a process started, as the system tells it; empty if it cannot be asked."""
    try:
        text = Path(f"{_PROC}/{pid}/stat").read_text("utf-8", "replace")
        return text.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return _start_by_ps(pid)


def _start_by_ps(pid: int) -> str:
    """Systems without /proc answer `ps`."""
    if sys.platform in ("win32", "linux"):
        return ""
    with suppress(OSError):
        done = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        return done.stdout.strip()
    return ""


if sys.platform == "win32":
    KILL: Final = signal.SIGTERM

    def kill_group(pid: int, _number: int) -> None:
        """The tree below a process; Windows has no group to signal."""
        with suppress(OSError):
            subprocess.run(
                ["taskkill", "/T", "/F", "/PID", str(pid)], capture_output=True, check=False
            )

else:
    KILL: Final = signal.SIGKILL

    def kill_group(pid: int, number: int) -> None:
        with suppress(OSError):
            os.killpg(pid, number)


GRACE_SECONDS: Final = 2.0
# A process that left the group may hold our pipe for ever; its output is not waited for.
LINGER_SECONDS: Final = 1.0
# How long its last words may take on a busy machine before someone else must be holding the pipe.
LAST_WORDS_SECONDS: Final = 0.25
# How often a writer that is held up looks whether the command has ended.
LOOK_UP_SECONDS: Final = 0.05
PIECE: Final = 65_536
# Signals that end this process in an orderly way; the command is ended first.
INTERRUPTIONS: Final = ("SIGINT", "SIGTERM", "SIGHUP")

# Never passed on to a command, even if its name was asked for.
WITHHELD: Final = frozenset({"MOOT_PASSPHRASE_FILE"})


class RunOrder(NamedTuple):
    """What to run and within which bounds; `most_bytes` counts for each of the two outputs.

    `program` is the file to run, if it was looked for before; `tag` marks all that it starts.
    """

    words: tuple[str, ...]
    folder: Path
    env: Mapping[str, str]
    seconds: float
    most_bytes: int
    standard_input: bytes = b""
    program: str = ""
    tag: str = ""


class CapturedOutput(NamedTuple):
    """The beginning of one output, and how many bytes there were in all."""

    beginning: bytes
    size: int

    @property
    def truncated(self) -> bool:
        return self.size > len(self.beginning)


class ProgramResult(NamedTuple):
    """How it ended. One of `exit_status` and `signal` is set; the rest says why.

    `interrupted` is the signal that ended us meanwhile, `left_running` says that processes of the
    command outlived it and were killed.
    """

    exit_status: int | None
    signal: int | None
    stdout: CapturedOutput
    stderr: CapturedOutput
    nanos: int
    timed_out: bool = False
    interrupted: int | None = None
    left_running: bool = False


class ProgramNotStarted(Exception):
    """It could not be started; the message says why, in one line."""


Started = Callable[[int], None]


def _nobody(_pid: int) -> None:
    """Nobody needs to know which process it is."""


def allowed_environment(everything: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Only what was named, and never what unlocks a person's key."""
    allowed = set(names) - WITHHELD
    return {name: value for name, value in everything.items() if name in allowed}


def run_program(order: RunOrder, started: Started = _nobody) -> ProgramResult:
    """Run it to its end; `started` is told the process id as soon as there is one."""
    began = time.monotonic_ns()
    with _Interruptions() as interruptions:
        child = _start(order)
        ending = _Ending(child, order.seconds)
        readers = [_Reader(pipe, order.most_bytes) for pipe in (child.stdout, child.stderr)]
        feeder = _Feeder(child.stdin, order.standard_input)
        try:
            with interruptions.raised():
                started(child.pid)
                ending.watch()
                wait_for_end(child)
        except _Interrupted:
            ending.kill()
        except BaseException:
            ending.kill()
            child.wait()
            raise
        finally:
            ending.over()
            feeder.over()
        ended = time.monotonic_ns()
        left = any(reader.is_held_open() for reader in readers)
        left = kill_tagged(order.tag) or left
        kill_group(child.pid, KILL)
        child.wait()
        out, err = (reader.finish() for reader in readers)
    code = child.returncode
    return ProgramResult(
        exit_status=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        stdout=out,
        stderr=err,
        nanos=ended - began,
        timed_out=ending.timed_out,
        interrupted=interruptions.by,
        left_running=left and not ending.timed_out and interruptions.by is None,
    )


def _start(order: RunOrder) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            order.words,
            executable=order.program or None,
            cwd=order.folder,
            env={**order.env, **({TAG: order.tag} if order.tag else {})},
            stdin=subprocess.PIPE if order.standard_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            close_fds=True,
            start_new_session=True,
            creationflags=_FLAGS,
        )
    except FileNotFoundError:
        missing = order.words[0] if order.folder.is_dir() else order.folder
        raise ProgramNotStarted(f"{missing}: not found") from None
    except (OSError, ValueError) as error:
        raise ProgramNotStarted(
            f"{order.words[0]}: {getattr(error, 'strerror', None) or error}"
        ) from None


class _Feeder:
    """Writes the standard input in a separate thread. A command that does not read it is no error,
    and a process that it left with the other end of the pipe does not block us."""

    def __init__(self, pipe: IO[bytes] | None, data: bytes) -> None:
        self._pipe = pipe
        self._data = data
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._write, name="moot-input", daemon=True)
        if pipe is not None:
            self._thread.start()

    def _write(self) -> None:
        assert self._pipe is not None
        with suppress(OSError):
            _write_until(self._over, self._pipe.fileno(), memoryview(self._data))
        with suppress(OSError):
            self._pipe.close()

    def over(self) -> None:
        """Stop writing: the command has exited and will read no more."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(LINGER_SECONDS)


class _Ending:
    """Stops the command at its timeout: first SIGTERM, then SIGKILL after a grace period."""

    def __init__(self, child: subprocess.Popen[bytes], seconds: float) -> None:
        self._pid = child.pid
        self._over = threading.Event()
        self._seconds = seconds
        self._thread = threading.Thread(target=self._watch, name="moot-timeout", daemon=True)
        self.timed_out = False

    def watch(self) -> None:
        self._thread.start()

    def _watch(self) -> None:
        if self._over.wait(self._seconds):
            return
        self.timed_out = True
        kill_group(self._pid, _TERM)
        if not self._over.wait(GRACE_SECONDS):
            kill_group(self._pid, KILL)

    def kill(self) -> None:
        kill_group(self._pid, KILL)

    def over(self) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()


class _Reader:
    """Reads one output in a separate thread: keeps the beginning, counts the rest."""

    def __init__(self, pipe: IO[bytes] | None, most: int) -> None:
        assert pipe is not None
        self._pipe = pipe
        self._most = most
        self._kept = bytearray()
        self._size = 0
        self._thread = threading.Thread(target=self._read, name="moot-output", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._pipe, suppress(OSError):
            while piece := os.read(self._pipe.fileno(), PIECE):
                self._kept += piece[: max(0, self._most - len(self._kept))]
                self._size += len(piece)

    def is_held_open(self) -> bool:
        """Return whether another process holds the output open after the command exited."""
        self._thread.join(LAST_WORDS_SECONDS)
        return self._thread.is_alive()

    def finish(self) -> CapturedOutput:
        self._thread.join(LINGER_SECONDS)
        return CapturedOutput(bytes(self._kept), self._size)


class _Interrupted(Exception):
    """A signal asked this process to exit; the command must be stopped first."""


class _Interruptions:
    """Holds signals that would end this process back until the command has ended. While it runs
    they raise `_Interrupted`, so that it can be ended first."""

    def __init__(self) -> None:
        self.by: int | None = None
        self._waiting: list[int] = []
        self._armed = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Interruptions:
        if threading.current_thread() is threading.main_thread():
            known = [getattr(signal, name) for name in INTERRUPTIONS if hasattr(signal, name)]
            heard = [one for one in known if signal.getsignal(one) is not signal.SIG_IGN]
            self._before = {one: signal.signal(one, self._on_signal) for one in heard}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Inside, the first interruption raises `_Interrupted`, even one that came earlier."""
        self._armed = True
        try:
            if self._waiting:
                self._raise(self._waiting[0])
            yield
        finally:
            self._armed = False

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._waiting.append(number)
        if self._armed:
            self._raise(number)

    def _raise(self, number: int) -> NoReturn:
        self._armed = False
        self.by = number
        raise _Interrupted


if sys.platform == "win32":
    _TERM: Final = signal.SIGTERM
    _FLAGS: Final = subprocess.CREATE_NEW_PROCESS_GROUP

    def _write_until(over: threading.Event, pipe: int, data: memoryview) -> None:
        while data and not over.is_set():
            data = data[os.write(pipe, data[:PIECE]) :]

else:
    _TERM: Final = signal.SIGTERM
    _FLAGS: Final = 0

    def _write_until(over: threading.Event, pipe: int, data: memoryview) -> None:
        """Write all data, or stop when `over` is set, even if the pipe is full."""
        os.set_blocking(pipe, False)
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_WRITE)
            while data and not over.is_set():
                if selector.select(LOOK_UP_SECONDS):
                    with suppress(BlockingIOError):
                        data = data[os.write(pipe, data[:PIECE]) :]
