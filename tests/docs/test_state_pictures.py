"""The pictures of states are drawn from the tables that decide."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.make_state_pictures import TABLES, arrows_of, draw, pictures, table_of

from tests.tidy.source import protocols


@pytest.mark.parametrize("file", pictures(), ids=lambda file: file.name)
def test_the_picture_is_the_one_the_table_gives(file: Path) -> None:
    assert file.read_text("utf-8") == pictures()[file], "run `python -m tools.make_state_pictures`"


def test_every_protocol_has_a_picture() -> None:
    assert TABLES.keys() == protocols()


def test_every_transition_is_drawn() -> None:
    arrows = list(arrows_of(table_of("parliament")))
    picture = draw("parliament")
    assert len(arrows) > 10
    assert picture.count('class="h"') == len(arrows)
    assert all(arrow.label.replace("_", " ") in picture for arrow in arrows)
