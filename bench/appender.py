"""One process of a crowd: says it is ready, waits for the word, appends until its time is over.

python -m bench.appender ours WORKSPACE AGENT SECONDS [STREAM]
python -m bench.appender raw FILE SIZE SECONDS
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path


def main(kind: str, place: str, what: str, seconds: str, stream: str = "") -> None:
    if kind == "raw":
        from bench.raw import RawCommits

        raw = RawCommits(Path(place), int(what))
        count = _appended(raw.one, float(seconds))
        raw.close()
    else:
        from bench.ground import STREAM, Errands, executor, opened
        from moot.protocols.example.machine import MACHINE as EXAMPLE

        with opened(Path(place)) as space:
            space.engine.state(EXAMPLE, stream or STREAM)
            count = _appended(executor(space, Errands(stream or STREAM, what)), float(seconds))
    print(count)


def _appended(one: Callable[[], None], seconds: float) -> int:
    print("ready", flush=True)
    sys.stdin.readline()
    count, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        one()
        count += 1
    return count


if __name__ == "__main__":
    main(*sys.argv[1:])
