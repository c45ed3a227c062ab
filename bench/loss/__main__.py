"""`python -m bench.loss`: take the steps, show the table, keep the page, picture, figures, rows."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec

from bench.loss import page
from bench.loss.simulation import Row, Simulation, run_steps
from bench.loss.tally import MOST_NEEDLESS, Figures, add_up
from bench.loss.truth import Truth
from bench.loss.world import World
from moot.pages import to_html, to_markdown

BUILD = Path(__file__).parents[2] / "build" / "loss"
DOCS = Path(__file__).parents[2] / "docs"
_TOLD_EVERY = 250


def run_seed(
    folder: Path,
    steps: int,
    seed: int,
    *,
    seconds: float = 0,
    process_every: int = 25,
    tell: Callable[[Row], None] = lambda _row: None,
) -> list[Row]:
    """One course of events in a fresh world below `folder`."""
    world = World(folder, Random(seed))
    with Truth(world) as truth:
        simulation = Simulation(world, truth, seed, process_every)
        try:
            return run_steps(simulation, steps, seconds, tell)
        finally:
            simulation.record.close()


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="moot-loss-") as folder:
        rows = run_seed(
            Path(folder).resolve() / "world",
            options.steps,
            options.seed,
            seconds=options.seconds,
            process_every=options.process_every,
            tell=_tell,
        )
    figures = add_up(rows, options.seed)
    _keep(figures, rows)
    if options.docs:
        _keep_docs(figures)
    print(*page.lines(figures), f"\nkept in {BUILD.parent.name}/{BUILD.name}", sep="\n")
    missed = figures.lost or figures.unrecorded or figures.misnamed or figures.causeless
    return 1 if options.check and (missed or figures.needless_share >= MOST_NEEDLESS) else 0


def _tell(row: Row) -> None:
    """What went wrong, at once; and now and then how far it is."""
    wrong = {
        "lost": row.lost_files,
        "not on record": row.unrecorded,
        "under a wrong name": row.misnamed,
        "without cause": row.causeless,
        "not brought back": row.not_undone,
        "needless": (row.reason,) if row.is_needless and not row.is_unseen_read else (),
    }
    for what, details in wrong.items():
        for detail in details:
            who = f"step {row.step}, {row.agent} ({row.tool}), {row.kind} `{row.command}`"
            print(f"  {who}: {what}: {detail}", file=sys.stderr, flush=True)
    if row.step % _TOLD_EVERY == 0:
        print(f"  {row.step} steps ...", file=sys.stderr, flush=True)


def _keep(figures: Figures, rows: list[Row]) -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    report = page.build_report(figures)
    for name, text in (
        ("loss.html", to_html(report)),
        ("loss.md", to_markdown(report)),
        ("loss.svg", page.draw_picture(figures)),
    ):
        (BUILD / name).write_text(text, encoding="utf-8")
    (BUILD / "figures.json").write_bytes(msgspec.json.format(msgspec.json.encode(figures)))
    (BUILD / "rows.json").write_bytes(msgspec.json.encode(rows))


def _keep_docs(figures: Figures) -> None:
    """The page of the documentation, from this very run."""
    text = to_markdown(page.build_report(figures))
    picture = "![Harmful acts held back beforehand, by kind](pictures/loss.svg)"
    (DOCS / "loss.md").write_text(f"{text.rstrip()}\n\n{picture}\n", encoding="utf-8")
    (DOCS / "pictures" / "loss.svg").write_text(page.draw_picture(figures), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.loss", description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000, help="how many (default 10,000)")
    parser.add_argument("--seed", type=int, default=1, help="another course of events")
    parser.add_argument("--seconds", type=float, default=0, help="end after so long")
    parser.add_argument(
        "--process-every",
        type=int,
        default=25,
        metavar="N",
        help="each Nth hook is the installed command as a process; 1: all, 0: none",
    )
    parser.add_argument("--docs", action="store_true", help="write docs/loss.md and its picture")
    parser.add_argument("--check", action="store_true", help="exit 1 if an aim is missed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
