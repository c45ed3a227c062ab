"""`python -m bench`: run the measures, show the table, keep the JSON."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path

from bench import results, table
from bench.figure import Figure
from bench.ground import Ground
from bench.measures import MEASURES, chosen


def main() -> int:
    options = _options()
    gc.set_threshold(100_000)  # as the command line does, for servers too
    # What is installed has its bytecode; here the first process of each kind may have to write it.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    figures: list[Figure] = []
    broken: list[str] = []
    with tempfile.TemporaryDirectory(prefix="moot-bench-") as folder:
        for figure in _measured(Ground(Path(folder), options.quick), options.only, broken):
            figures.append(figure)
            print(f"  {figure.name} ...", file=sys.stderr, flush=True)
    data = results.document(figures, options.quick)
    kept = results.keep(data)
    if options.json:
        print(data.decode())
    else:
        shown = table.markdown(figures) if options.markdown else table.lines(figures)
        print(*shown, f"\nkept in {kept.parent.name}/{kept.name}", sep="\n")
    missed = [figure.name for figure in figures if figure.met is False]
    if missed:
        print("missed:", *missed, sep="\n  ", file=sys.stderr)
    if broken:
        print("not measured to the end:", *broken, sep="\n  ", file=sys.stderr)
    return 1 if broken or (missed and options.check) else 0


def _measured(ground: Ground, only: str, broken: list[str]) -> Iterator[Figure]:
    """A measure that fails is named in `broken` and spoils only its own figures."""
    for name in chosen(only):
        try:
            yield from MEASURES[name]()(ground)
        except Exception as error:
            traceback.print_exc()
            broken.append(f"{name}: {error}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less work, wider spread")
    parser.add_argument("--only", default="", metavar="NAME", help=f"of {', '.join(MEASURES)}")
    parser.add_argument("--json", action="store_true", help="print the JSON instead of the table")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--check", action="store_true", help="exit 1 if a target is missed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
