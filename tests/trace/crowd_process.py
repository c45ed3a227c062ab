"""One of many processes that propose.

python crowd_process.py WORKSPACE KEYS TRACE PLANNER COUNT
"""

from __future__ import annotations

import sys
from pathlib import Path

from moot.keys.folder import KeyFolder
from moot.protocols.trace.commands import CreateProposal
from moot.workspace.workspace import Workspace


def main(workspace: str, keys: str, trace: str, planner: str, count: str) -> None:
    command = CreateProposal(
        objective="run", required_tools=("make",), assumptions=(), expected_evidence=()
    )
    with Workspace(Path(workspace), KeyFolder(Path(keys))) as space:
        for _ in range(int(count)):
            space.engine.execute(trace, command, planner)


if __name__ == "__main__":
    main(*sys.argv[1:])
