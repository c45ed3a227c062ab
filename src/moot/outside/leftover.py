"""What a command has left behind: the same process as was noted, and not another of its number."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from moot.outside.running import KILL, kill_group


def alive(pid: int, mark: str) -> bool:
    """Is the process that was noted with `mark` still there? A number alone may be another's."""
    return mark != "" and mark_of(pid) == mark


def kill_left(pid: int, mark: str) -> bool:
    """Kill the group of a process whose runner died, if it is still the one that was noted."""
    if not alive(pid, mark):
        return False
    kill_group(pid, KILL)
    return True


def mark_of(pid: int) -> str:
    """When a process began, by the system's own account; empty where it cannot be asked."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        return text.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return _asked(pid)


def _asked(pid: int) -> str:
    """Systems without /proc answer `ps`."""
    if sys.platform in ("win32", "linux"):
        return ""
    with suppress(OSError):
        done = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        return done.stdout.strip()
    return ""
