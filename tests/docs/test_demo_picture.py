"""The picture at the top of our pages. That the demonstration draws it is in cli/test_demo.py."""

from __future__ import annotations

from xml.etree import ElementTree

from tools.make_demo_picture import FILE


def test_it_is_a_small_drawing_and_runs_nothing() -> None:
    drawn = ElementTree.fromstring(FILE.read_bytes())
    names = {one.tag.rpartition("}")[2] for one in drawn.iter()}
    assert names <= {"svg", "style", "rect", "text", "tspan", "title", "desc", "g", "line", "path"}
    assert len(FILE.read_bytes()) < 20_000
