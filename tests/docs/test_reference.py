"""The reference is made from the code, and the pages in docs/ are the ones it makes."""

from __future__ import annotations

import re

import pytest
from tools.reference.configuration import VARIABLES
from tools.reference.pages import FOLDER, PAGES, pages

from moot.flows.codes.raised_codes import raised_codes
from tests.tidy.source import modules

VARIABLE = re.compile(r"\b(?:MOOT|BB)_[A-Z][A-Z_]*[A-Z]\b")
# Not read by us: completion is click's own, the others are written into files of other tools.
NOT_OURS = {"MOOT_COMPLETE", "MOOT_SESSION"}


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_the_one_the_code_gives(name: str) -> None:
    file = FOLDER / name
    assert file.is_file()
    assert file.read_text("utf-8") == pages()[name], "run `python -m tools.reference`"


def test_every_variable_is_explained() -> None:
    read = {name for module in modules() for name in VARIABLE.findall(module.text)} - NOT_OURS
    assert sorted(read - VARIABLES.keys()) == []
    assert sorted(VARIABLES.keys() - read - {"NO_COLOR"}) == []


def test_every_code_is_lower_snake() -> None:
    assert len(raised_codes()) > 100
    assert [
        each for each in raised_codes() if not re.fullmatch(r"[a-z][a-z0-9_]*", each.code)
    ] == []
