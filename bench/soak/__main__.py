"""`python -m bench.soak [--minutes 30]`: everything at once, then what the record says about it.

Ends with 1 if anything that was acknowledged is missing, two held one file, or a check failed.
With `--picture` the curves are drawn into docs/pictures/soak.svg.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import moot
from bench.soak import keys_beside
from bench.soak.crew import Crew
from bench.soak.disturbances import Disturbances
from bench.soak.invariants import count_events, find_flaws
from bench.soak.picture import draw
from bench.soak.watch import Watch
from moot.core.clock import system_clock
from moot.keys.folder import KeyFolder
from moot.workspace.create import create_workspace

ROOT = Path(__file__).resolve().parents[2]
AGENTS = 4
SECONDS_BETWEEN = 5.0


def begin(folder: Path, seed: int) -> tuple[Crew, Disturbances]:
    place = folder / "project"
    (place / "src").mkdir(parents=True)
    create_workspace(place, KeyFolder(keys_beside(place)), system_clock)
    debate = place / "queue.md"
    crew = Crew(place, debate, seed)
    names = [crew.start() for _ in range(AGENTS)]
    with moot.open(place, keys=keys_beside(place)) as session:
        moot.api.debates.writing.new(
            session, debate, "Which queue?", names, max_rounds=100, max_turns_per_round=1
        )
    return crew, Disturbances(place, crew)


def run(folder: Path, minutes: float, seed: int) -> tuple[Watch, Crew, Disturbances]:
    crew, disturbances = begin(folder, seed)
    watch = Watch(crew.place / ".moot")
    turns = (
        disturbances.back_up,
        crew.kill_one,
        disturbances.verify,
        disturbances.jump_clock,
        disturbances.fill_disk,
        crew.kill_one,
        disturbances.export,
    )
    number = 0
    try:
        while watch.minutes() < minutes:
            crew.listen(SECONDS_BETWEEN)
            turns[number % len(turns)]()
            while len(crew.running) < AGENTS:
                crew.start()
            watch.look(crew.pids(), crew.latencies, count_events(crew.place))
            crew.latencies.clear()
            number += 1
    finally:
        crew.end_all()
    return watch, crew, disturbances


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", action="store_true", help="draw docs/pictures/soak.svg")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="moot-soak-") as folder:
        watch, crew, disturbances = run(Path(folder), asked.minutes, asked.seed)
        events = count_events(crew.place)
        flaws = list(find_flaws(crew.place, crew.acknowledged))
    told = {
        "minutes": round(watch.minutes(), 1),
        "events": events,
        "acknowledged": len(crew.acknowledged),
        "processes started": crew.started,
        "processes killed": crew.killed,
        **disturbances.counts,
        "refusals": dict(sorted(crew.refusals.items())),
        "last quarter against the second": {
            name: round(factor, 2) for name, factor in watch.tell_growth().items()
        },
        "flaws": flaws,
    }
    print(json.dumps(told, indent=2))
    if asked.picture and watch.samples:
        title = f"Soak: {told['minutes']} minutes, {AGENTS} agents, {events:,} events"
        (ROOT / "docs" / "pictures" / "soak.svg").write_text(draw(watch.samples, title))
    return 1 if flaws else 0


if __name__ == "__main__":
    sys.exit(main())
