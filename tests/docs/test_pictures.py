"""The pictures in our pages are small, run nothing, and are the ones that our tools draw today.

That the demonstration draws its own is in cli/test_demo.py.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from tools.make_state_pictures import pictures

from moot.protocols.debate.checker import check_session
from tests.docs.test_console_blocks import ROOT
from tests.tidy.source import protocols
from tools import make_debate_picture, make_demo_picture, make_page_picture, make_state_pictures

DRAWN = {"svg", "style", "rect", "text", "tspan", "title", "desc", "g", "line", "path"}


def tags(file: Path) -> set[str]:
    return {one.tag.rpartition("}")[2] for one in ElementTree.fromstring(file.read_bytes()).iter()}


def test_the_published_picture_is_what_the_report_draws() -> None:
    drawn = make_debate_picture.picture(make_debate_picture.session())
    assert make_debate_picture.FILE.read_text(encoding="utf-8") == drawn


def test_it_is_a_drawing_of_a_valid_session_and_runs_nothing() -> None:
    assert check_session(make_debate_picture.session()).valid
    assert tags(make_debate_picture.FILE) <= DRAWN
    assert "script" not in make_debate_picture.FILE.read_text(encoding="utf-8")


def test_it_is_a_small_drawing_and_runs_nothing() -> None:
    assert tags(make_demo_picture.FILE) <= DRAWN
    assert len(make_demo_picture.FILE.read_bytes()) < 20_000


def test_the_readme_shows_the_page_in_a_small_picture() -> None:
    file = make_page_picture.FILE
    data = file.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) <= make_page_picture.MOST_BYTES
    size = (int.from_bytes(data[16:20]), int.from_bytes(data[20:24]))
    expected = (make_page_picture.WIDTH, make_page_picture.HEIGHT)
    assert size == expected, "run `python -m tools.make_page_picture`"
    assert f"](docs/pictures/{file.name})" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("file", pictures(), ids=lambda file: file.name)
def test_the_picture_is_the_one_the_table_gives(file: Path) -> None:
    assert file.read_text("utf-8") == pictures()[file], "run `python -m tools.make_state_pictures`"


def test_every_protocol_has_a_picture() -> None:
    assert make_state_pictures.TABLES.keys() == protocols()


def test_every_transition_is_drawn() -> None:
    arrows = list(make_state_pictures.arrows_of(make_state_pictures.table_of("parliament")))
    picture = make_state_pictures.draw("parliament")
    assert len(arrows) > 10
    assert picture.count('class="h"') == len(arrows)
    assert all(arrow.label.replace("_", " ") in picture for arrow in arrows)
