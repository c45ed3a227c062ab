"""`python -m bench.loss`: let them work, compare, show the figures, keep page and picture."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Final

import msgspec

from bench.loss import page
from bench.loss.agent import STOP
from bench.loss.repository import MOOT
from bench.loss.score import Figures, score
from bench.loss.world import AGENTS, CAST, PERSON, World
from moot.pages import to_html, to_markdown

ROOT: Final = Path(__file__).parents[2]
BUILD: Final = ROOT / "build" / "loss"
DOCS: Final = ROOT / "docs"
_TOLD_EVERY: Final = 10.0


def run_course(
    top: Path, steps: int, seed: int, *, in_runs: int = 4, process_every: int = 20, most: float = 0
) -> Figures:
    """Let eight agents take `steps` together, `in_runs` of them below `moot run`.

    Raises RuntimeError if an agent's process fails, or if all are not done after `most` seconds.
    """
    world, began = World(top, Random(seed)), time.monotonic()
    each = -(-steps // len(AGENTS))
    started = {
        agent.name: _start(world, agent.name, seed, each, process_every, is_run=number < in_runs)
        for number, agent in enumerate(reversed(CAST))
    }
    person = _start(world, PERSON, seed, 0, 0, is_run=False)
    try:
        _wait(top, started, began + most if most else float("inf"))
    finally:
        (top / STOP).touch()
        for child in (*started.values(), person):
            if child.poll() is None and child is not person:
                child.kill()
            child.wait(60)
    return score(top, seed, time.monotonic() - began, in_runs)


def _start(
    world: World, name: str, seed: int, steps: int, process_every: int, *, is_run: bool
) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-P", "-m", "bench.loss.agent", str(world.top)]
    words += [name, str(seed), str(steps), str(process_every)]
    folder = next((world.root(agent.worktree) for agent in CAST if agent.name == name), world.main)
    if is_run:
        words = [*MOOT, "run", "--name", name, "--", *words]
    with (world.top / f"{name.replace(' ', '-')}.out").open("wb") as output:
        return subprocess.Popen(
            words,
            cwd=folder,
            env={**world.env, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def _wait(top: Path, started: dict[str, subprocess.Popen[bytes]], until: float) -> None:
    told = time.monotonic()
    while any(child.poll() is None for child in started.values()):
        now = time.monotonic()
        if now > until:
            raise RuntimeError("the agents were not done in time")
        if now - told > _TOLD_EVERY:
            told = now
            done = sum(
                file.read_bytes().count(b'"moment":"before"')
                for file in (top / "truth").glob("*.jsonl")
            )
            print(f"  {done} steps ...", file=sys.stderr, flush=True)
        time.sleep(0.1)
    for name, child in started.items():
        if child.returncode:
            said = (top / f"{name}.out").read_text("utf-8", "replace")
            raise RuntimeError(f"{name} ended with {child.returncode}: {said[-2_000:]}")


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="moot-loss-") as folder:
        top = Path(options.folder or folder).resolve() / "world"
        figures = run_course(
            top,
            options.steps,
            options.seed,
            in_runs=options.in_runs,
            process_every=options.process_every,
        )
    BUILD.mkdir(parents=True, exist_ok=True)
    report = page.build_report(figures)
    (BUILD / "loss.html").write_text(to_html(report), encoding="utf-8")
    (BUILD / "figures.json").write_bytes(msgspec.json.format(msgspec.json.encode(figures)))
    if options.docs:
        text = to_markdown(report).rstrip()
        picture = "![What became of overwritten files](pictures/loss.svg)"
        (DOCS / "loss.md").write_text(f"{text}\n\n{picture}\n", encoding="utf-8")
        (DOCS / "pictures" / "loss.svg").write_text(page.draw_picture(figures), encoding="utf-8")
    print(*page.lines(figures), f"\nkept in {BUILD.parent.name}/{BUILD.name}", sep="\n")
    for case in figures.missed[:40]:
        print(f"  missed: {case}", file=sys.stderr)
    return 1 if options.check and figures.missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.loss", description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000, help="how many (default 10,000)")
    parser.add_argument("--seed", type=int, default=1, help="another choice of acts")
    parser.add_argument("--in-runs", type=int, default=4, help="agents below `moot run` (0 to 8)")
    parser.add_argument(
        "--process-every",
        type=int,
        default=20,
        metavar="N",
        help="each Nth hook is the installed command as a process; 1: all, 0: none",
    )
    parser.add_argument("--folder", help="keep the repository in this folder, to look at it")
    parser.add_argument("--docs", action="store_true", help="write docs/loss.md and its picture")
    parser.add_argument("--check", action="store_true", help="exit 1 if an aim is missed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
