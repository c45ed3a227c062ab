"""The processes below one: their words, and a variable of their environment.

From /proc where there is one, else from `ps`, which shows no environments. A process that ends
while it is looked at is left out; one that left the tree keeps its environment and is found by it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from moot.core.sha256 import sha256

_PROC: Final = Path("/proc")
_PS: Final = ("ps", "-axo", "pid=,ppid=,command=")
PS_SECONDS: Final = 5.0
_DEEPEST: Final = 200


class Process(NamedTuple):
    """One process: its number, its parent's, and the words it was started with."""

    pid: int
    parent: int
    words: tuple[str, ...]


def processes_of_run(root: int, variable: str, value: str) -> list[Process]:
    """The processes below `root`, and those that carry `variable` with this value.

    Those below it that carry another value are another run's, and left out.
    """
    if not (_PROC / "self" / "stat").exists():
        return list(_below(root, dict(_list_by_ps())))
    found = {process.pid: process for process in _below(root, dict(_list_by_proc()))}
    for pid in map(int, filter(str.isdigit, os.listdir(_PROC))):
        carried = _variable_of(pid, variable)
        if carried == value and pid != root and pid != os.getpid():
            found.setdefault(pid, Process(pid, 0, _words_of(pid)))
        elif carried not in (None, value):
            found.pop(pid, None)
    return [process for process in found.values() if process.words]


def list_processes() -> list[Process]:
    """All processes that can be seen, with their words."""
    if not (_PROC / "self" / "stat").exists():
        return [process for _pid, process in _list_by_ps()]
    return [process._replace(words=_words_of(pid)) for pid, process in _list_by_proc()]


def find_folder(pid: int) -> str | None:
    """The folder that a process works in; None if that cannot be told."""
    try:
        return os.readlink(_PROC / str(pid) / "cwd")
    except OSError:
        return None


def list_ancestors(pid: int) -> list[Process]:
    """The processes above this one, the nearest first, as far as they can be seen."""
    has_proc = (_PROC / "self" / "stat").exists()
    known = {} if has_proc else dict(_list_by_ps())
    above: list[Process] = []
    process = _read_process(pid) if has_proc else known.get(pid)
    while process is not None and process.parent not in (0, process.pid) and len(above) < _DEEPEST:
        parent = process.parent
        process = _read_process(parent) if has_proc else known.get(parent)
        if process is not None:
            above.append(process._replace(words=process.words or _words_of(process.pid)))
    return above


def _read_process(pid: int) -> Process | None:
    with suppress(OSError, ValueError, IndexError):
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
        return Process(pid, int(text.rpartition(")")[2].split()[1]), ())
    return None


def _below(root: int, processes: Mapping[int, Process]) -> Iterator[Process]:
    children: dict[int, list[Process]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process)
    waiting = [processes[root]] if root in processes else []
    while waiting:
        process = waiting.pop()
        yield process._replace(words=process.words or _words_of(process.pid))
        waiting += children.get(process.pid, [])


def _list_by_proc() -> Iterator[tuple[int, Process]]:
    """Words are read only of those that matter."""
    for name in filter(str.isdigit, os.listdir(_PROC)):
        with suppress(OSError, ValueError, IndexError):
            text = (_PROC / name / "stat").read_text("utf-8", "replace")
            yield int(name), Process(int(name), int(text.rpartition(")")[2].split()[1]), ())


def _words_of(pid: int) -> tuple[str, ...]:
    try:
        data = (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return ()
    return (
        tuple(os.fsdecode(word) for word in data.removesuffix(b"\0").split(b"\0")) if data else ()
    )


def _variable_of(pid: int, name: str) -> str | None:
    wanted = os.fsencode(f"{name}=")
    with suppress(OSError):
        for entry in (_PROC / str(pid) / "environ").read_bytes().split(b"\0"):
            if entry.startswith(wanted):
                return os.fsdecode(entry[len(wanted) :])
    return None


def _list_by_ps() -> Iterator[tuple[int, Process]]:
    try:
        done = subprocess.run(_PS, capture_output=True, text=True, timeout=PS_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return
    for line in done.stdout.splitlines():
        pid, parent, *words = line.split()
        yield int(pid), Process(int(pid), int(parent), tuple(words))


# The coding tool's process is the nearest one above that is no mere shell: its hooks and MCP
# servers both find it. Its key is a hash of what tells it from every other one, also after a
# restart of the machine: the system gives a number again.

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
