"""`python -m bench.collisions`: run every cell with every seed, and keep page, picture and rows."""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import msgspec

from bench.collisions import page, tally
from bench.collisions.course import Course, Row, make_template
from bench.collisions.tally import Cell
from moot.pages import Fact, to_html, to_markdown

BUILD: Final = Path(__file__).parents[2] / "build" / "collisions"
DOCS: Final = Path(__file__).parents[2] / "docs"
# Agents mostly sleep, so several courses disturb each other little; with Moot a bit more, and the
# tools themselves much. By whether they are real, and under Moot.
_AT_ONCE: Final = {(False, False): 3, (False, True): 2, (True, False): 1, (True, True): 1}
_ROWS: Final = BUILD / "rows.jsonl"
_ABOUT: Final = BUILD / "about.json"
_SCALE, _REAL_SCALE = 60.0, 15.0  # the tools themselves take their time


def main() -> int:
    options = _options()
    listed = tally.list_real_cells() if options.real else tally.list_cells()
    cells = [cell for cell in listed if _is_wanted(cell, options)]
    if options.real:
        _require_tools()
    if not options.again:
        _measure(cells, options)
    rows, facts = _read_kept()
    report = page.build_report(rows, facts)
    pages = {"collisions.html": to_html(report), "collisions.md": to_markdown(report)}
    _keep(BUILD, BUILD / "pictures", rows, pages)
    if options.docs:
        text = _with_picture(to_markdown(report))
        _keep(DOCS, DOCS / "pictures", rows, {"collisions.md": text})
    print(to_markdown(report), f"\nkept in {BUILD.parent.name}/{BUILD.name}", sep="\n")
    return 0


def _measure(cells: Sequence[Cell], options: argparse.Namespace) -> None:
    """Each row is kept as soon as it is there: a run that is stopped was not in vain."""
    began = time.monotonic()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    BUILD.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="moot-collisions-") as folder,
        _ROWS.open("ab" if options.more or options.real else "wb") as kept,
    ):
        top = Path(folder).resolve()
        make_template(top / "template")
        for row in run_all(top, cells, seeds, options.scale):
            kept.write(msgspec.json.encode(row) + b"\n")
            kept.flush()
            if not options.real or not _ABOUT.exists():
                facts = _describe_run(options, (time.monotonic() - began) / 60)
                _ABOUT.write_bytes(msgspec.json.encode(facts))


def _read_kept() -> tuple[list[Row], list[Fact]]:
    """The rows of the last run, and what is to be said about it."""
    lines = [msgspec.json.decode(line, type=Row) for line in _ROWS.read_bytes().splitlines()]
    rows = list({(row.arm, row.agents, row.overlap, row.seed): row for row in lines}.values())
    rows.sort(key=lambda row: (row.agents, row.overlap, row.arm, row.seed))
    return rows, msgspec.json.decode(_ABOUT.read_bytes(), type=list[Fact])


def run_all(top: Path, cells: Sequence[Cell], seeds: range, scale: float) -> Iterator[Row]:
    """Each seed through all cells, so that a machine that changes its pace disturbs all arms."""
    for seed, (kind, at_once) in itertools.product(seeds, _AT_ONCE.items()):
        chosen = [cell for cell in cells if (cell.arm.is_real, cell.arm.has_moot) == kind]
        with ThreadPoolExecutor(at_once) as pool:
            yield from pool.map(lambda cell: run_cell(top, cell, seed, scale), chosen)  # noqa: B023


def run_cell(top: Path, cell: Cell, seed: int, scale: float) -> Row:
    folder = top / f"{cell.arm.name}-{cell.agents}-{cell.overlap}-{seed}"
    folder.mkdir()
    place = {"agents": cell.agents, "seed": seed}
    course = _kind_of_course(cell)(
        folder, top / "template", cell.arm, overlap=cell.overlap, **place
    )
    row = course.run(scale)
    shutil.rmtree(folder)
    told = f"lost {row.lost}, conflicts {row.conflicts}, {row.wall:.0f} s"
    print(f"  seed {seed}, {cell.arm.name}, {place} {cell.overlap}: {told}", file=sys.stderr)
    return row


def _require_tools() -> None:
    """Check that the tools are installed before anything is measured, or say what is missing."""
    from tests.real_tools.tools import cache, installed

    try:
        installed()
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            f"the four coding tools are not in {cache()} and could not be installed ({error}):"
            " that takes npm, the network and 1.1 GB; MOOT_AGENT_TOOLS names a folder that has them"
        ) from None


def _kind_of_course(cell: Cell) -> type[Course]:
    if not cell.arm.is_real:
        return Course
    from bench.collisions.real_tools import ToolCourse  # what tests of the tools need, too

    return ToolCourse


def _is_wanted(cell: Cell, options: argparse.Namespace) -> bool:
    return (
        options.agents in (None, cell.agents)
        and options.overlap in (None, cell.overlap)
        and (options.arm is None or cell.arm.name.startswith(options.arm))
    )


def _describe_run(options: argparse.Namespace, minutes: float) -> list[Fact]:
    machine = f"{os.cpu_count()} processors, {platform.system()}, Python {sys.version.split()[0]}"
    facts = [
        Fact("Command", "make bench-collisions"),
        Fact("Machine", machine),
        Fact("Took", f"{minutes:.0f} minutes"),
        Fact("Seeds", f"{options.first_seed} to {options.first_seed + options.seeds - 1}"),
        Fact("Thinking", f"20 to 60 s a change, slept {options.scale:.0f} times shorter"),
        Fact("Rows", "every course, one line each: collisions.csv beside this page"),
    ]
    return facts + ([Fact("Note", options.note)] if options.note else [])


def _with_picture(text: str) -> str:
    """The picture stands above the first section."""
    head, mark, rest = text.partition("\n## ")
    pictures = (
        "![Changes lost, merge conflicts and time, by arm](pictures/collisions.svg)",
        "![Changes lost, by how often a lock is heeded](pictures/collisions-lock.svg)",
    )
    return "\n\n".join((head.rstrip(), *pictures)) + f"\n{mark}{rest}"


def _keep(folder: Path, pictures: Path, rows: Sequence[Row], pages: dict[str, str]) -> None:
    pictures.mkdir(parents=True, exist_ok=True)
    for name, text in page.draw_pictures(rows).items():
        (pictures / name).write_text(text, encoding="utf-8")
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    lines = io.StringIO()
    table = csv.DictWriter(lines, Row.__struct_fields__, lineterminator="\n")
    table.writeheader()
    table.writerows(msgspec.to_builtins(row) for row in rows)
    (folder / "collisions.csv").write_text(lines.getvalue(), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.collisions", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="how many (default 5)")
    parser.add_argument("--first-seed", type=int, default=1, metavar="N")
    parser.add_argument("--agents", type=int, choices=tally.AGENTS, help="only so many")
    parser.add_argument("--overlap", type=float, choices=tally.OVERLAPS, help="only this one")
    parser.add_argument("--arm", help="only arms whose name begins like this")
    parser.add_argument(
        "--scale", type=float, help="divides thinking (default 60, of the tools themselves 15)"
    )
    parser.add_argument(
        "--real",
        action="store_true",
        help="the four coding tools themselves (npm, 1.1 GB), beside the last run",
    )
    parser.add_argument("--note", default="", help="a line about this run, for the page")
    parser.add_argument("--more", action="store_true", help="add to the rows of the last run")
    parser.add_argument("--again", action="store_true", help="only the page, from the last run")
    parser.add_argument("--docs", action="store_true", help="write docs/collisions.md and its like")
    options = parser.parse_args()
    options.scale = options.scale or (_REAL_SCALE if options.real else _SCALE)
    return options


if __name__ == "__main__":
    sys.exit(main())
