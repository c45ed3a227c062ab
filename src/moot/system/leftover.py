"""Processes that a command has left behind: found by number and start time, or by tag.

The system gives a process number again once it is free, so the start time is noted with it: only
both together say that it is still the same process. A process that leaves its group keeps its
environment, so whatever carries the tag of a run was started by it. That works only where the
system shows environments (/proc), and not if the process has emptied its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

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
