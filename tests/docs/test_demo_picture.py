"""The picture at the top of our pages is what the demonstration's report draws today."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from tools.make_demo_picture import FILE, picture, play, played


def test_the_published_picture_is_what_the_demonstration_draws(tmp_path: Path) -> None:
    play(tmp_path / "stage")
    assert FILE.read_text(encoding="utf-8") == picture(played(tmp_path / "stage"))


def test_it_is_a_drawing_and_runs_nothing() -> None:
    drawn = ElementTree.fromstring(FILE.read_bytes())
    names = {one.tag.rpartition("}")[2] for one in drawn.iter()}
    assert names <= {"svg", "style", "rect", "text", "tspan", "title", "desc", "g", "line", "path"}
    assert len(FILE.read_bytes()) < 20_000
