"""Workspaces that stay open from one call to the next, for a process that answers many.

Opening one costs more than most calls, and with many agents and reservations reading their state
costs more than that. Sessions that share these leave them open; whoever made this closes them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from moot.workspace.workspace import Workspace

# Which ledger file, and under which clock.
_Which = tuple[str, str]
_File = tuple[int, int]


class OpenWorkspaces:
    """One open workspace for each ledger, shared by the threads of this process."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._open: dict[_Which, tuple[_File, Workspace]] = {}

    def find(self, ledger: Path, clock: str, open_it: Callable[[], Workspace]) -> Workspace:
        """The one that is open, unless another file has taken the ledger's place meanwhile: what
        is written to the old one would be lost."""
        with self._turn:
            there = ledger.stat()
            file = (there.st_dev, there.st_ino)
            known = self._open.get((str(ledger), clock))
            if known is not None and known[0] == file:
                return known[1]
            workspace = open_it()
            self._open[str(ledger), clock] = (file, workspace)
            if known is not None:
                known[1].close(checkpoint=False)
            return workspace

    def drop(self) -> None:
        """Let go of all of them, as after a failure to read: the next one is opened anew."""
        with self._turn:
            for _, workspace in self._open.values():
                workspace.close(checkpoint=False)
            self._open.clear()

    def close(self) -> None:
        """Close all of them, each after a signature over what was written."""
        with self._turn:
            for _, workspace in self._open.values():
                workspace.close()
            self._open.clear()
