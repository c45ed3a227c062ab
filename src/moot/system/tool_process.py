"""The process of the coding tool that started us: the nearest one above that is no mere shell.

A tool starts its hooks and its MCP servers as children, some through a shell. So both find the same
process above them, and by its key they know that they belong together. The key is a hash of what
tells this process from every other one, also after a restart of the machine: a number alone is
given again.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final, NamedTuple

from moot.core.sha256 import sha256

MOST_STEPS: Final = 8
# Programs that only start others.
STARTERS: Final = frozenset(
    {"sh", "bash", "dash", "ash", "zsh", "ksh", "fish", "env", "uv", "uvx", "pipx", "timeout"}
)
_PS_SECONDS: Final = 5.0


class ProcessFacts(NamedTuple):
    """A process: its name, which one started it, and when."""

    name: str
    parent: int
    started: str


class ToolProcess(NamedTuple):
    """The number of a tool's process, and when it was started, as the system counts."""

    number: int
    started: str


def find_tool_process() -> str | None:
    """The key of the tool's process; None if it cannot be told."""
    tool = find_tool()
    if tool is None:
        return None
    text = f"{_machine()}:{tool.number}:{tool.started}"
    return f"process:{sha256(text.encode()).hexdigest()[:32]}"


def find_tool(program: int | None = None) -> ToolProcess | None:
    """The tool that started us, or another program: its process, in this start of the machine."""
    asked = None if program is None else read_process(program)
    number = os.getppid() if program is None else asked.parent if asked is not None else 0
    for _ in range(MOST_STEPS):
        facts = read_process(number) if number > 1 else None
        if facts is None:
            return None
        if facts.name not in STARTERS:
            return ToolProcess(number, facts.started)
        number = facts.parent
    return None


if sys.platform == "linux":

    def read_process(number: int) -> ProcessFacts | None:
        """From /proc, where the name stands in parentheses and may hold any character."""
        try:
            text = Path(f"/proc/{number}/stat").read_text("utf-8", "replace")
        except OSError:
            return None
        name = text[text.index("(") + 1 : text.rindex(")")]
        fields = text[text.rindex(")") + 2 :].split()
        return ProcessFacts(name, int(fields[1]), fields[19])

    def _machine() -> str:
        """Which start of which machine, and which of its rooms: containers count from 1 again."""
        try:
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
            return f"{boot}:{os.readlink('/proc/self/ns/pid')}"
        except OSError:
            return ""

else:

    def read_process(number: int) -> ProcessFacts | None:
        """From `ps`; where there is none, nothing is known."""
        import subprocess

        words = ("ps", "-o", "ppid=,lstart=,comm=", "-p", str(number))
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, timeout=_PS_SECONDS, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return None
        fields = done.stdout.split(None, 6)
        if len(fields) < 7 or not fields[0].isdigit():
            return None
        name = os.path.basename(fields[6].strip()).removeprefix("-")
        return ProcessFacts(name, int(fields[0]), " ".join(fields[1:6]))

    def _machine() -> str:
        """A start time with its date is enough."""
        return ""
