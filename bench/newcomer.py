"""A new process that opens a workspace and executes one command; says how long that took, in ms.

python -m bench.newcomer WORKSPACE
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from bench.ground import AGENT, STREAM, opened
from moot.protocols.example.model import Ask


def main(place: str) -> None:
    start = time.perf_counter()
    with opened(Path(place)) as space:
        space.engine.execute(STREAM, Ask(title="look in", of=AGENT), AGENT)
        spent = time.perf_counter() - start
    print(spent * 1_000)


if __name__ == "__main__":
    main(*sys.argv[1:])
