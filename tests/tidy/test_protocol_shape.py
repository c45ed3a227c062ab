"""Every protocol is found the same way, and ARCHITECTURE.md names only files that are there."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from tests.tidy.source import FIVE, ROOT, protocols

PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
PARTS = ("MACHINE", "TRANSITIONS", "decide", "evolve", "agenda", "index")


@pytest.mark.parametrize("protocol", sorted(protocols()))
def test_the_machine_module_names_all_that_a_machine_is_made_of(protocol: str) -> None:
    machine = vars(import_module(f"moot.protocols.{protocol}.machine"))
    assert [name for name in PARTS if name not in machine] == []


def test_the_manifests_that_the_page_names_are_there() -> None:
    named = re.findall(r"`(\w+\.toml)`", PAGE)
    assert len(named) == len(FIVE)
    assert all((ROOT / "tests" / "requirements" / name).is_file() for name in named)


def test_every_file_that_the_page_names_is_there() -> None:
    """Paths such as `engine/batch.py` or `tests/store/contract.py`, from package or root."""
    named = set(re.findall(r"`([\w.]+(?:/[\w.]+)*/\w+\.py)`", PAGE))
    package = ROOT / "src" / "moot"
    machines = (package / "protocols" / protocol for protocol in protocols())
    places = (ROOT, package, package / "protocols", *machines)
    real = {name for name in named if "NAME" not in name}
    gone = [name for name in real if not any((place / name).is_file() for place in places)]
    assert sorted(gone) == []
    assert len(named) > 15


def test_the_picture_shows_every_top_level_package() -> None:
    picture = PAGE.split("```")[1]
    packages = (folder.parent.name for folder in (ROOT / "src" / "moot").glob("*/__init__.py"))
    assert [name for name in packages if not re.search(rf"\b{name}\b", picture)] == []
