"""A terminal for a program that draws one: it answers what programs ask a terminal, and waits."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.wait_readable import is_readable

ROWS, COLUMNS = 40, 120
# What programs ask, and what an ordinary terminal says.
ANSWERS = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[?u": b"\x1b[?0u",
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
}


def run_in_terminal(
    words: Sequence[str],
    folder: Path,
    env: Mapping[str, str],
    is_done: Callable[[], bool],
    seconds: float,
    answers: Mapping[bytes, bytes] | None = None,
) -> str:
    """Run a program in a terminal until `is_done` or it ends; all that it drew.

    `answers` is what a person types when a text appears. It is ended then, with everything that it
    started.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    program = subprocess.Popen(
        words,
        cwd=folder,
        env={**env, "TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    drawn, limit = b"", time.monotonic() + seconds
    try:
        while time.monotonic() < limit and not is_done() and program.poll() is None:
            drawn += _read_and_answer(ours, {**ANSWERS, **(answers or {})})
    finally:
        _end(program, ours)
    return drawn.decode("utf-8", "replace")


def _read_and_answer(terminal: int, answers: Mapping[bytes, bytes] = ANSWERS) -> bytes:
    ready = is_readable(terminal, 0.2)
    if not ready:
        return b""
    try:
        data = os.read(terminal, 65536)
    except OSError:  # nobody has it open any more
        return b""
    for question, answer in answers.items():
        os.write(terminal, answer * data.count(question))
    return data


def _end(program: subprocess.Popen[bytes], terminal: int) -> None:
    """Politely first, so that it can tell its hooks; what is drawn meanwhile is read away."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(OSError):
            os.killpg(program.pid, number)
        limit = time.monotonic() + 10
        while program.poll() is None and time.monotonic() < limit:
            _read_and_answer(terminal)
    program.wait(10)
    os.close(terminal)


def end_servants_of(home: Path) -> None:
    """End what a tool left running from its own folder: Codex installs itself there as a daemon."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            program = (folder / "cmdline").read_bytes().partition(b"\0")[0]
            if program.startswith(os.fsencode(f"{home}/")):
                os.kill(int(folder.name), signal.SIGKILL)
