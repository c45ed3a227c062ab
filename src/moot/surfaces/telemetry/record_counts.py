"""What this process has recorded and had refused, counted by type and code as the engine tells it.

The engine tells of a decision before it is durable: it counts once the store has committed, and is
dropped if that fails. Nothing of OpenTelemetry is needed here.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

from moot.api.debug_lines import read_decision

if TYPE_CHECKING:
    from moot.api.debug_lines import DebugLog


class RecordCounts:
    """A `DebugLog` that counts, and hands on to another one."""

    def __init__(self, beside: DebugLog | None = None) -> None:
        self._beside = beside
        self._lock = threading.Lock()
        self._pending: list[tuple[str | None, tuple[str, ...]]] = []
        self._events: Counter[str] = Counter()
        self._refusals: Counter[str] = Counter()

    def __call__(self, verb: str, detail: str) -> None:
        if self._beside is not None:
            self._beside(verb, detail)
        if verb == "decide":
            decision = read_decision(detail)
            self._pending.append((decision.refusal, decision.events))
        elif verb == "commit":
            self._count()
        elif verb == "rollback":
            self._pending.clear()

    def _count(self) -> None:
        with self._lock:
            for refusal, events in self._pending:
                self._events.update(events)
                if refusal is not None:
                    self._refusals[refusal] += 1
            self._pending.clear()

    def take(self) -> tuple[Counter[str], Counter[str]]:
        """Events by type and refusals by code since this was asked last."""
        with self._lock:
            taken = self._events, self._refusals
            self._events, self._refusals = Counter(), Counter()
        return taken
