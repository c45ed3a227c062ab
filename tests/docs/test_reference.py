"""The reference is made from the code, and the pages in docs/ are the ones it makes."""

from __future__ import annotations

import re

import pytest
from tools.reference.configuration import VARIABLES
from tools.reference.pages import FOLDER, NOT_IN_GIT, PAGES, pages

from moot.api.workspace.explaining import raised_codes
from tests.tidy.source import ROOT, modules

VARIABLE = re.compile(r"\b(?:MOOT|BB)_[A-Z][A-Z_]*[A-Z]\b")
# Not read by us: completion is click's own, the others are written into files of other tools.
NOT_OURS = {"MOOT_COMPLETE", "MOOT_SESSION"}


@pytest.mark.parametrize("name", [name for name in PAGES if name not in NOT_IN_GIT])
def test_the_page_is_the_one_the_code_gives(name: str) -> None:
    file = FOLDER / name
    assert file.is_file()
    assert file.read_text("utf-8") == pages()[name], "run `python -m tools.reference`"


@pytest.mark.parametrize("name", sorted(NOT_IN_GIT))
def test_a_page_that_only_the_site_has_is_made_and_ignored_by_git(name: str) -> None:
    assert len(pages()[name].splitlines()) > 100
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert (FOLDER / name).relative_to(ROOT).as_posix() in ignored


def test_every_variable_is_explained() -> None:
    read = {name for module in modules() for name in VARIABLE.findall(module.text)} - NOT_OURS
    assert sorted(read - VARIABLES.keys()) == []
    assert sorted(VARIABLES.keys() - read - {"NO_COLOR"}) == []


def test_every_code_is_lower_snake() -> None:
    assert len(raised_codes()) > 100
    assert [
        each for each in raised_codes() if not re.fullmatch(r"[a-z][a-z0-9_]*", each.code)
    ] == []
