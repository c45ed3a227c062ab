"""`python -m tools.mutants [PATH ...]`: change one thing at a time, and see whether a test notices.

Without a path: the modules that differ from the branch `main`, committed or not. A path is a module
or a folder below `src/moot`, such as `protocols/mail`. What was tried is remembered in
`build/mutants.jsonl` until the module changes, so a run that was stopped goes on. Tests that start
programs of ours or take longer than a tenth of a second are seldom the only ones to notice: they
are run with `--again` alone.
"""

from __future__ import annotations

import argparse
import random
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.mutants.nearest import find_package
from tools.mutants.results import Results
from tools.mutants.sites import KINDS, Mutant, list_mutants
from tools.mutants.trial import set_up

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "moot"


def find_changed_modules() -> list[Path]:
    command = ["git", "diff", "--name-only", "main", "--", "src/moot"]
    names = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()
    return [ROOT / name for name in names if name.endswith(".py") and (ROOT / name).exists()]


def find_modules(names: list[str]) -> list[Path]:
    if not names:
        return find_changed_modules()
    paths = [SOURCE / name for name in names]
    found = (sorted(path.rglob("*.py")) if path.is_dir() else [path] for path in paths)
    return [module for heap in found for module in heap]


def find_mistakes(names: list[str], kinds: list[str], tests: list[Path]) -> Iterator[str]:
    """What was asked for and is not there: a run without it would say that all is well."""
    yield from (f"there is no src/moot/{name}" for name in names if not (SOURCE / name).exists())
    known = ", ".join(KINDS)
    yield from (
        f"there is no kind {kind!r}; choose of {known}" for kind in kinds if kind not in KINDS
    )
    yield from (f"there is no {test}" for test in tests if not (ROOT / test).exists())


def choose(offered: list[Mutant], kinds: Iterable[str], sample: int, seed: int) -> list[Mutant]:
    """All rows, fields and transitions; of the lines a sample for each package."""
    chosen = [one for one in offered if one.kind in kinds and one.kind != "line"]
    if "line" not in kinds:
        return chosen
    packages: dict[str, list[Mutant]] = {}
    for one in offered:
        if one.kind == "line":
            packages.setdefault(find_package(one.path, SOURCE), []).append(one)
    for package, lines in sorted(packages.items()):
        draw = random.Random(f"{seed} {package}")
        chosen += draw.sample(lines, min(sample, len(lines)))
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("path", nargs="*", help="below src/moot; none: what differs from main")
    parser.add_argument("--kinds", default=",".join(KINDS), help="of " + ", ".join(KINDS))
    parser.add_argument("--sample", type=int, default=300, help="lines drawn from each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60, help="seconds that a test may wait")
    parser.add_argument("--most", type=int, default=None, help="stop after so many trials")
    parser.add_argument("--again", action="store_true", help="try the survivors again")
    parser.add_argument("--tests", type=Path, nargs="+", default=[], help="only these")
    parser.add_argument("--table", action="store_true", help="only print what is known")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "mutants.jsonl")
    asked = parser.parse_args()
    for wrong in find_mistakes(asked.path, asked.kinds.split(","), asked.tests):
        parser.error(wrong)
    modules = find_modules(asked.path)
    offered = [one for module in modules for one in list_mutants(module, ROOT)]
    results = Results(asked.results, ROOT)
    chosen = choose(offered, asked.kinds.split(","), asked.sample, asked.seed)
    waits = results.survived if asked.again else lambda one: not results.knows(one)
    waiting = list(filter(waits, chosen))[: asked.most]
    print(f"{len(modules)} modules, {len(offered)} mutants, {len(waiting)} to try", flush=True)
    if waiting and not asked.table:
        tests = tuple(ROOT / test for test in asked.tests)
        with set_up(ROOT, asked.limit, with_slow=asked.again, tests=tests) as bench:
            for number, one in enumerate(waiting, start=1):
                ended = bench.try_mutant(one)
                results.add(one, ended)
                place = f"{one.path.relative_to(SOURCE)}:{one.line}"
                print(f"{number}/{len(waiting)} {ended}: {place}: {one.change}", flush=True)
    print("\n".join(["", results.make_table(offered), "", *results.list_survivors(offered)]))


if __name__ == "__main__":
    main()
