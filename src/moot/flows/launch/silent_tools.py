"""Coding tools among the processes of a run whose hook has not spoken, although it had the time.

Pure: who is alive, how many sessions hooks have begun and the time are arguments.
A tool below another one of its kind is that one's own: tools restart themselves, and start helpers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from moot.flows.launch.program_wrappers import program_name
from moot.flows.launch.started_tools import tool_of_paths
from moot.system.process_tree import Process

PATIENCE_SECONDS: Final = 10.0
# Programs whose first plain word is the script that they really are.
_INTERPRETERS: Final = ("node", "nodejs", "bun", "deno", "python", "sh", "bash", "dash", "zsh")


class SilentTools:
    """Remembers since when each tool was seen, and which were reported."""

    def __init__(self, patience_seconds: float) -> None:
        self._patience = patience_seconds
        self._first_seen: dict[tuple[int, str], float] = {}
        self._reported: dict[str, int] = {}

    @property
    def told(self) -> set[str]:
        """Every tool that was found silent once."""
        return set(self._reported)

    @property
    def seen(self) -> set[str]:
        """Every tool that was seen at all."""
        return {tool for _, tool in self._first_seen}

    def look(
        self, processes: Iterable[Process], count_spoken: Callable[[str], int], now: float
    ) -> list[str]:
        """The tools that are newly found silent: more of them live than hooks have spoken for."""
        outermost = dict(_outermost_tools({each.pid: each for each in processes}))
        for pid, tool in outermost.items():
            self._first_seen.setdefault((pid, tool), now)
        silent = []
        for tool in sorted(set(outermost.values())):
            waited = sum(
                1
                for pid, known in outermost.items()
                if known == tool and now - self._first_seen[pid, tool] >= self._patience
            )
            if waited > max(self._reported.get(tool, 0), count_spoken(tool)):
                self._reported[tool] = waited
                silent.append(tool)
        return silent


def tool_of_process(words: tuple[str, ...]) -> str | None:
    """The coding tool that a process is; none for a program that only starts one."""
    if not words:
        return None
    candidates = [words[0]]
    if program_name(words[0]).rstrip("0123456789.") in _INTERPRETERS:
        candidates += [word for word in words[1:] if not word.startswith("-")][:1]
    return tool_of_paths(candidates)


def _outermost_tools(processes: Mapping[int, Process]) -> Iterator[tuple[int, str]]:
    for pid, process in processes.items():
        tool = tool_of_process(process.words)
        if tool is not None and tool not in _tools_above(process, processes):
            yield pid, tool


def _tools_above(process: Process, processes: Mapping[int, Process]) -> set[str | None]:
    above, passed = set(), {process.pid}
    while process.parent in processes and process.parent not in passed:
        process = processes[process.parent]
        passed.add(process.pid)
        above.add(tool_of_process(process.words))
    return above
