"""One process that sends mail until its time is over, and says how long each message took.

python -m bench.letter_sender WORKSPACE FIRST_NUMBER SECONDS
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from bench.ground import opened
from bench.letters import sender


def main(place: str, first: str, seconds: str) -> None:
    latencies: list[float] = []
    with opened(Path(place)) as space:
        send = sender(space, int(first))
        send()
        print("ready", flush=True)
        sys.stdin.readline()
        end = time.perf_counter() + float(seconds)
        while (start := time.perf_counter()) < end:
            send()
            latencies.append((time.perf_counter() - start) * 1_000)
    print(json.dumps(latencies))


if __name__ == "__main__":
    main(*sys.argv[1:])
