"""Processes that a command left behind: began while it ran, and still there when it has ended.

Linux counts processes up, so that those which began after a moment have higher numbers; elsewhere
nothing is found. Another program's process may be among them: then a command only counts as being
at work for longer than it is.
"""

from __future__ import annotations

import os
from typing import Final

_PROC: Final = "/proc"
MOST_MARKS: Final = 64
_ENDED_STATES: Final = "ZX"
_DEEPEST: Final = 30
_ADOPTING: Final = frozenset({"systemd", "init", "tini", "dumb-init", "docker-init", "catatonit"})


def read_last_number() -> int:
    """Return the pid of the newest process; 0 if the system does not tell."""
    try:
        with open(f"{_PROC}/loadavg", encoding="ascii") as file:
            return int(file.read().split()[-1])
    except (OSError, ValueError, IndexError):
        return 0


def find_left_processes(last_before: int, folders: tuple[str, ...]) -> list[tuple[int, str]]:
    """Number and start of each process that began after `last_before`, lives, is this user's and
    works in one of the folders; but for what other programs have started."""
    if not last_before:
        return []
    last, ours = read_last_number(), _list_ours()
    found = []
    for number in map(int, filter(str.isdigit, os.listdir(_PROC))):
        has_wrapped = last < last_before
        is_later = number > last_before or (has_wrapped and number <= last)
        if not is_later or number in ours or not _works_in(number, folders):
            continue
        started = read_start(number)
        if started and _may_be_below(number, ours):
            found.append((number, started))
    return found[:MOST_MARKS]


def read_start(number: int) -> str:
    """Return the start time of a live process in system ticks; empty if it has exited."""
    fields = _read_stat(number)
    return "" if not fields or fields[0] in _ENDED_STATES else fields[19]


def _works_in(number: int, folders: tuple[str, ...]) -> bool:
    try:
        if os.stat(f"{_PROC}/{number}").st_uid != os.getuid():
            return False
        place = os.readlink(f"{_PROC}/{number}/cwd")
    except OSError:
        return False
    return any(place == folder or place.startswith(f"{folder}/") for folder in folders)


def _list_ours() -> set[int]:
    """This process and those above it up to the coding tool: the nearest that is no mere shell."""
    from moot.system.process_tree import MOST_STEPS, STARTERS, read_process

    number, ours = os.getpid(), {os.getpid()}
    for _ in range(MOST_STEPS):
        facts = read_process(number)
        if facts is None or facts.parent <= 1:
            break
        number = facts.parent
        ours.add(number)
        above = read_process(number)
        if above is None or above.name not in STARTERS:
            break
    return ours


def _may_be_below(number: int, ours: set[int]) -> bool:
    """Was it started by one of ours? One whose parent has ended was taken over by the system, and
    may be anybody's."""
    for _ in range(_DEEPEST):
        fields = _read_stat(number)
        parent = int(fields[1]) if fields else 0
        if parent in ours or parent <= 1 or _is_adopting(parent):
            return True
        number = parent
    return True


def _is_adopting(number: int) -> bool:
    """Return whether this process adopts orphans, as init does."""
    try:
        with open(f"{_PROC}/{number}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip() in _ADOPTING
    except OSError:
        return True


def _read_stat(number: int) -> list[str]:
    """The fields behind the name, which may hold any character."""
    try:
        with open(f"{_PROC}/{number}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []
