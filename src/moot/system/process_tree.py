"""The processes below one: their words, and a variable of their environment.

From /proc where there is one, else from `ps`, which shows no environments. A process that ends
while it is looked at is left out; one that left the tree keeps its environment and is found by it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

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
