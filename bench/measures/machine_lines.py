"""How often a joined machine waits for its line: what a long line multiplies, whatever is fast.

Counted at a proxy between machine and keeper, so that these figures do not depend on what else runs
here. A round trip is each time the machine has to wait for the other end: once to connect, once to
agree on secrets, and once for each exchange of a question and its answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tests.hosts.proxy import CutLine

from bench.figure import Figure, at_most, value
from bench.ground import Errands, Ground, executor, opened
from bench.shared import shared

AGENT = "coral-finch"
TO_CONNECT = 2  # round trips before the first question: TCP, then TLS
UNIT = "round trips"


def measure(ground: Ground) -> Iterator[Figure]:
    with shared(ground.new("lines-kept")) as kept:
        place = kept.join("distant", [AGENT])
        line = _put_between(place)
        try:
            with opened(place) as space:
                command = executor(space, Errands("example/distant", AGENT))
                command()
                name = "a joined machine's command on a new connection"
                yield value(name, UNIT, line.round_trips, target=at_most(4))
                before = line.round_trips
                command()
                name = "a joined machine's command on an open connection"
                yield value(name, UNIT, line.round_trips - before, target=at_most(2))
                before, line.swallow_answers = line.round_trips, True
                command()
                exchanges = line.round_trips - before - TO_CONNECT
                name = "a broken exchange is resolved"
                yield value(name, "exchanges", exchanges, target=at_most(3))
        finally:
            line.close()


def _put_between(place: Path) -> CutLine:
    """Let a machine reach its keeper through a proxy."""
    file = place / ".moot" / "joined.json"
    said = json.loads(file.read_text("utf-8"))
    line = CutLine(int(said["address"].rpartition(":")[2]))
    file.write_text(json.dumps({**said, "address": f"127.0.0.1:{line.port}"}), "utf-8")
    return line
