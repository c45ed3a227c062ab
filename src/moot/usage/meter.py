"""What a run has used so far, in a file that the user's other processes read while it is active.

The file is `usage.json` in the key folder of the run's program, and is removed with it. Readers
need no answer from the run, so a suspended run does not block them. The record gets the sum when
the run ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.agents.cost import NO_COST, Cost
from moot.keys.folder import LOANS_FOLDER, KeyFolder
from moot.keys.running_names import is_held
from moot.usage.tool_reports import ModelCall

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace


class RunUsage(msgspec.Struct, frozen=True):
    """What a run has used so far, and which tools reported it."""

    tools: tuple[str, ...]
    cost: Cost


class UsageMeter:
    """Adds up reported calls, from any thread; calls `on_change` with each new sum."""

    def __init__(self, on_change: Callable[[RunUsage], None]) -> None:
        self._on_change = on_change
        self._lock = threading.Lock()
        self._sum: RunUsage | None = None

    @property
    def total(self) -> RunUsage | None:
        """The sum so far; None if no tool has reported anything."""
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
            self._on_change(self._sum)


FILE: Final = "usage.json"
MOST_BYTES: Final = 4_096


class LiveUsage(msgspec.Struct, frozen=True):
    """The sum so far, and the work item that the run was started for."""

    usage: RunUsage
    work: str | None


def write_live_usage(folder: Path, live: LiveUsage) -> None:
    """Replace the file atomically: a reader finds the previous sum or this one."""
    fresh = folder / f".{FILE}"
    fresh.write_bytes(msgspec.json.encode(live))
    os.replace(fresh, folder / FILE)


def read_live_usage(workspace: Workspace) -> dict[str, LiveUsage]:
    """Return what this user's active runs in this workspace have used so far, by agent."""
    user, found = workspace.folder.user_folder, {}
    area = user.path / LOANS_FOLDER
    for file in sorted(area.glob(f"*/{FILE}")) if area.is_dir() else ():
        folder = KeyFolder(file.parent)
        if not folder.ledger_folder(workspace.trust.origin).is_dir():
            continue  # a run in another workspace
        live = _read(file)
        if live is not None and is_held(file.parent / "held"):
            found[file.parent.name.rpartition("-")[0]] = live
    return found


def _read(file: Path) -> LiveUsage | None:
    try:
        with file.open("rb") as opened:
            return msgspec.json.decode(opened.read(MOST_BYTES), type=LiveUsage)
    except (OSError, msgspec.DecodeError):
        return None
