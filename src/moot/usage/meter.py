"""What a run has used so far, in a file beside it: read by others of its user while it lives.

It is `usage.json` in the key folder that was lent to the run's program, and goes with it. It needs
no answer from the run, so that one that was stopped keeps nobody waiting. On record it comes when
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


# The sum of what one run's tools say they have used; None as long as none has said anything.


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


FILE: Final = "usage.json"
MOST_BYTES: Final = 4_096


class LiveUsage(msgspec.Struct, frozen=True):
    """The sum so far, and the work item that the run was started for."""

    usage: RunUsage
    work: str | None


def write_live_usage(folder: Path, live: LiveUsage) -> None:
    """Replace the file as a whole: whoever reads finds the sum before, or this one."""
    fresh = folder / f".{FILE}"
    fresh.write_bytes(msgspec.json.encode(live))
    os.replace(fresh, folder / FILE)


def read_live_usage(workspace: Workspace) -> dict[str, LiveUsage]:
    """By agent, what the runs of this user that live now have used in this workspace so far."""
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
