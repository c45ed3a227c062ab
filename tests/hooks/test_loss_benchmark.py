"""Eight agents and a person work at the same time, each as a process: nobody's work is lost, and
nobody is blamed for what somebody else did. The whole of it is `make bench-loss`.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from bench.loss.__main__ import run_course
from bench.loss.page import build_report, draw_picture, lines

from moot.pages import to_html

STEPS, SEED, MOST_SECONDS = 96, 5, 300


@pytest.mark.thorough
def test_nothing_is_lost_and_nobody_is_blamed_wrongly(tmp_path: Path) -> None:
    figures = run_course(tmp_path.resolve() / "world", STEPS, SEED, in_runs=2, most=MOST_SECONDS)
    assert figures.missed == ()
    assert figures.agents == 8
    assert figures.calls >= STEPS
    assert figures.writes > 20
    assert figures.refused > 5
    assert figures.harmless_commands > 10
    assert figures.saved_bytes > 0, "something was overwritten, and can be brought back"
    assert "0 wrong names" in to_html(build_report(figures))
    assert draw_picture(figures).count("<text") > 4


@pytest.mark.thorough
def test_a_missed_aim_is_named(tmp_path: Path) -> None:
    figures = run_course(tmp_path.resolve() / "world", 8, SEED, in_runs=0, most=MOST_SECONDS)
    wrong = msgspec.structs.replace(figures, wrong_names=("amber-otter did not",), lost=("12 b",))
    assert wrong.missed[0] == "amber-otter did not"
    shown = "\n".join(lines(wrong))
    assert "INCURSIONs under a wrong name" in shown
    assert "12 (aim 0)" in shown
