"""The page of dependencies lists every library that we require, and we use each of them."""

from __future__ import annotations

import re
import tomllib

from tests.tidy.source import ROOT, modules

PAGE = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NOT_DESCRIBED = {"all", "dev"}
# Where the name of the module is not that of the package.
MODULES = {"markdown-it-py": "markdown_it", "PyNaCl": "nacl"}


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^\w.-]", each)[0] for each in requirements}


def test_the_page_has_a_row_for_every_required_library() -> None:
    assert set(re.findall(r"^\| ([\w.-]+) \| .* MB \|", PAGE, re.MULTILINE)) == names(
        PROJECT["dependencies"]
    )


def test_the_page_has_a_row_for_every_extra() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", PAGE, re.MULTILINE))
    extras = {
        name: names(required)
        for name, required in PROJECT["optional-dependencies"].items()
        if name not in NOT_DESCRIBED
    }
    assert {name: set(row.split(", ")) for name, row in rows.items()} == extras


def test_every_required_library_is_imported() -> None:
    text = "\n".join(module.text for module in modules())
    for name in names(PROJECT["dependencies"]):
        module = MODULES.get(name, name)
        assert re.search(rf"^\s*(import|from) {module}\b", text, re.MULTILINE), name


def test_the_sdk_whose_internals_we_import_has_an_upper_bound() -> None:
    (bound,) = [each for each in PROJECT["dependencies"] if each.startswith("mcp")]
    assert bound == "mcp>=2,<3"
