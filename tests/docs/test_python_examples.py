"""Every Python example in the documentation runs as it is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from moot.surfaces.cli.main import run

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
EXAMPLES = [
    pytest.param(code, id=f"{page.name}:{number}")
    for page in PAGES
    if page.exists()
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace in the current folder, with two agents whose keys are in the user's folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "MOOT_KEYS", "MOOT_AGENT", "MOOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "shop"
    root.mkdir()
    monkeypatch.chdir(root)
    for words in (
        ["init"],
        ["agent", "register", "amber-otter"],
        ["agent", "register", "teal-crane"],
    ):
        assert run(words) == 0
    return root


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("code", EXAMPLES)
def test_the_example_runs_as_printed(code: str) -> None:
    exec(compile(code, "example", "exec"), {})


def test_there_is_at_least_one_example() -> None:
    assert EXAMPLES


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
