"""The site leads to every page, and to none that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from tools.reference.pages import NOT_IN_GIT

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def targets(entry: Any) -> Iterator[str]:
    """The files of a part of the navigation."""
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, dict):
        yield from targets(list(entry.values()))
    else:
        for each in entry:
            yield from targets(each)


def test_the_navigation_and_the_pages_agree() -> None:
    settings = YAML(typ="safe").load((ROOT / "mkdocs.yml").read_text("utf-8"))
    listed = set(targets(settings["nav"]))
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    decisions = {page for page in pages if page.startswith("decisions/0")}  # listed on their page
    pages |= {f"reference/{name}" for name in NOT_IN_GIT}
    assert listed == pages - decisions - {"vectors/README.md"}


def test_nothing_on_the_site_is_loaded_from_elsewhere() -> None:
    settings = YAML(typ="safe").load((ROOT / "mkdocs.yml").read_text("utf-8"))
    assert settings["theme"]["highlightjs"] is False
    assert "search" in settings["plugins"]
