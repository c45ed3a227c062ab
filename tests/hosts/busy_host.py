"""A machine at work, as a process of its own: asks for COUNT errands on STREAM as NAME, each under
a key of its own, and again under the same key whenever it was not told that it is recorded.

    python -m tests.hosts.busy_host ROOT KEYS NAME STREAM COUNT

Prints `done NUMBER` for each that was acknowledged, `again CODE` for each that was not.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from moot.core.errors import MootError
from moot.keys.folder import KeyFolder
from moot.protocols.example.model import Ask
from moot.workspace.workspace import Workspace

NOT_KNOWN_TO_BE_RECORDED = {"keeper_away", "outcome_unknown", "too_busy", "moved_on"}
# What a keeper says whose own store is in trouble; nothing was recorded.
NOT_NOW = {"store_failed", "store_unreachable", "store_busy", "disk_full", "internal_error"}


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def ask_for_errands(workspace: Workspace, name: str, stream: str, count: int) -> None:
    pause = threading.Event()
    for number in range(count):
        command = Ask(title=f"{name} {number}", of=name, due_at=None)
        while True:
            try:
                workspace.engine.execute(stream, command, name, key=f"{name}-{number}")
            except MootError as error:
                if error.code not in NOT_KNOWN_TO_BE_RECORDED | NOT_NOW:
                    raise
                say(f"again {error.code}")
                pause.wait(0.05)
                continue
            break
        say(f"done {number}")


if __name__ == "__main__":
    root, keys, name, stream, count = sys.argv[1:]
    with Workspace(Path(root) / ".moot", KeyFolder(Path(keys))) as workspace:
        ask_for_errands(workspace, name, stream, int(count))
