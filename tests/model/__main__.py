"""`python -m tests.model [--states N] [MACHINE ...]`: explore, and print how far it came.

Ends with 1 and the counterexample, told as commands, if a promise is broken anywhere.
"""

from __future__ import annotations

import argparse
import sys

from tests.model.explorer import BrokenPromise, explore
from tests.model.worlds import WORLDS

ROW = "{:<12} {:>9} {:>11} {:>6}  {:<14} {:>8}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.model", description=__doc__)
    parser.add_argument("machine", nargs="*", help=", ".join(WORLDS))
    parser.add_argument("--states", type=int, default=100_000, help="at least so many, or all")
    asked = parser.parse_args()
    print(ROW.format("machine", "states", "decisions", "steps", "", "seconds"), flush=True)
    broken = 0
    for name in asked.machine or WORLDS:
        try:
            done = explore(WORLDS[name](), asked.states)
        except (BrokenPromise, AssertionError) as found:
            print(f"{name}: {found}", flush=True)
            broken += 1
            continue
        whole = "all states" if done.is_whole else "and more"
        line = ROW.format(
            name, done.states, done.decisions, done.depth, whole, f"{done.seconds:.0f}"
        )
        print(line, flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
