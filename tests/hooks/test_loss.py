"""Simulated agents and a person in one repository: nobody's work is lost, and whoever reached into
another's is on record under the right name. The whole of it is `make bench-loss`.
"""

from __future__ import annotations

from pathlib import Path

from bench.loss.__main__ import run_seed
from bench.loss.page import build_report, draw_picture
from bench.loss.tally import add_up

from moot.pages import to_html

STEPS, SEED = 110, 5


def test_nothing_is_lost_and_whoever_reached_into_others_work_is_on_record(tmp_path: Path) -> None:
    rows = run_seed(tmp_path.resolve() / "world", STEPS, SEED, process_every=40)
    assert [row.lost_files for row in rows if row.lost] == []
    assert [(row.step, row.unrecorded) for row in rows if row.unrecorded] == []
    assert [(row.step, row.misnamed) for row in rows if row.misnamed] == []
    assert [(row.step, row.causeless) for row in rows if row.causeless] == []
    figures = add_up(rows, SEED)
    assert figures.steps == STEPS
    assert figures.held_back > 10
    assert figures.saved > 0, "something got past, and can be had back"
    assert figures.due > 10
    page = to_html(build_report(figures))
    assert "0 bytes of others cannot be had back" in page
    assert draw_picture(figures).count("<text") > 4
