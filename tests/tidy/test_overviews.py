"""The overview of a package, in its `__init__.py`, names every module that is in it."""

from __future__ import annotations

import ast
import re

import pytest

from tests.tidy.source import PACKAGE, Module, modules

LISTED = re.compile(r"^ *(\w+(?:\.py|\/))(?=  |$)", re.MULTILINE)
OVERVIEWS = [m for m in modules() if m.path.name == "__init__.py" and m.path.parent != PACKAGE]


def parts_of(overview: Module) -> set[str]:
    """Name the modules and packages in the folder, as an overview does."""
    folder = overview.path.parent
    files = {file.name for file in folder.glob("*.py")} - {"__init__.py"}
    return files | {f"{inner.parent.name}/" for inner in folder.glob("*/__init__.py")}


@pytest.mark.parametrize("overview", OVERVIEWS, ids=lambda one: one.name)
def test_an_overview_names_what_is_in_its_package(overview: Module) -> None:
    named = LISTED.findall(ast.get_docstring(overview.tree) or "")
    assert sorted(named) == sorted(parts_of(overview))
