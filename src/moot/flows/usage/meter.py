"""The sum of what one run's tools say they have used; None as long as none has said anything."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

import msgspec

from moot.agents.cost import NO_COST, Cost
from moot.flows.usage.tool_reports import ModelCall


class RunUsage(msgspec.Struct, frozen=True):
    """What a run has used so far, and which tools said so."""

    tools: tuple[str, ...]
    cost: Cost


class UsageMeter:
    """Adds up calls as they are reported, from any thread; `changed` is told each new sum."""

    def __init__(self, changed: Callable[[RunUsage], None]) -> None:
        self._changed = changed
        self._lock = threading.Lock()
        self._sum: RunUsage | None = None

    @property
    def total(self) -> RunUsage | None:
        return self._sum

    def add(self, calls: Iterable[ModelCall]) -> None:
        with self._lock:
            before = self._sum or RunUsage((), NO_COST)
            cost, tools = before.cost, dict.fromkeys(before.tools)
            for call in calls:
                cost += call.cost
                tools[call.tool] = None
            if not tools:
                return
            self._sum = RunUsage(tuple(tools), cost)
            self._changed(self._sum)
