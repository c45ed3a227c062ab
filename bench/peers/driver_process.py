"""One driver as a process, held to time limits: one that crashes or hangs costs its row only."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Final

from bench.peers.environments import last_line
from bench.peers.rows import Failed, Line, Malformed, Offer, Offers, Ready, Value, parse_line

ROOT: Final = Path(__file__).parents[2]
_KEPT_OF_ERRORS: Final = 20_000
END_SECONDS: Final = 20.0


class DriverFailed(Exception):
    """Why there is no value: said by the driver, or seen from outside."""


class DriverProcess:
    """`command` prints lines of the protocol; everything it starts ends with it."""

    def __init__(self, command: list[str], folder: Path, end_seconds: float = END_SECONDS) -> None:
        self._end_seconds = end_seconds
        folder.mkdir(parents=True, exist_ok=True)
        self._errors = (folder / "errors.txt").open("w+b")
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=folder,
            env=_surroundings(folder),
            start_new_session=True,  # so that its children can be ended with it, and nobody else
        )
        assert self._process.stdout is not None
        reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        reader.start()
        self._reader = reader

    def _read(self, stdout: IO[bytes]) -> None:
        for line in stdout:
            self._lines.put(line)
        self._lines.put(None)

    def list_offers(self, seconds: float) -> list[Offer]:
        answer = self._receive(seconds)
        if isinstance(answer, Offers):
            return answer.offers
        raise DriverFailed(f"said {type(answer).__name__} instead of what it offers")

    def wait_until_ready(self, seconds: float) -> None:
        answer = self._receive(seconds)
        if not isinstance(answer, Ready):
            raise DriverFailed(f"said {type(answer).__name__} instead of being ready")

    def measure_round(self, seconds: float) -> float:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"go\n")
            self._process.stdin.flush()
        except OSError as error:
            raise DriverFailed(self._describe_end()) from error
        answer = self._receive(seconds)
        if not isinstance(answer, Value):
            raise DriverFailed(f"said {type(answer).__name__} instead of a value")
        return answer.value

    def _receive(self, seconds: float) -> Line:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty as error:
            raise DriverFailed(f"no answer within {seconds:.0f} s") from error
        if line is None:
            raise DriverFailed(self._describe_end())
        try:
            answer = parse_line(line)
        except Malformed as error:
            raise DriverFailed(str(error)) from error
        if isinstance(answer, Failed):
            raise DriverFailed(answer.reason[:300])
        return answer

    def _describe_end(self) -> str:
        try:
            code = self._process.wait(self._end_seconds)
        except subprocess.TimeoutExpired:
            return "it closed its output and went on"
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - _KEPT_OF_ERRORS))
        words = last_line(self._errors.read().decode("utf-8", "replace"))
        return f"ended with code {code}: {words}"

    def close(self) -> None:
        """Let it end by itself; if it does not, end it with all that it started."""
        assert self._process.stdin is not None
        with suppress(OSError):  # it may be gone already
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(self._end_seconds)
        with suppress(ProcessLookupError):  # if the whole group is gone
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(END_SECONDS)
        self._reader.join(END_SECONDS)
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()
        self._errors.close()

    def __enter__(self) -> DriverProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _surroundings(folder: Path) -> dict[str, str]:
    """A home of its own: nothing that a peer keeps there comes from, or stays for, anyone else."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    wanted = ("PATH", "LANG", "LC_ALL", "TMPDIR")
    env = {name: os.environ[name] for name in wanted if name in os.environ}
    return env | {"HOME": str(home), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
