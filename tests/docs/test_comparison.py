"""What is said of others can be repeated: who is compared, with which release, by which command."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from bench.peers.__main__ import with_picture
from bench.peers.page import build_report
from bench.peers.peers import MOOT, MOOT_MCP, PEERS
from bench.peers.questions import BY_NAME
from bench.peers.rows import Run

from moot.pages import to_markdown

DOCS = Path(__file__).parents[2] / "docs"
COMPARISON = (DOCS / "comparison.md").read_text("utf-8")
MEASURED = (DOCS / "peers.md").read_text("utf-8")
OTHERS = [peer.name for peer in PEERS if peer.name not in (MOOT, MOOT_MCP)]


@pytest.mark.parametrize("name", OTHERS)
def test_everyone_is_compared_and_said_to_be_better_somewhere(name: str) -> None:
    sections = re.split(r"^## ", COMPARISON, flags=re.MULTILINE)
    (section,) = [each for each in sections if name in each.partition("\n")[0].split(", ")]
    assert re.search(r"\*\*Where (it is|they are) better\.\*\*", section)
    assert "See it" in section


@pytest.mark.parametrize("name", OTHERS)
def test_the_release_that_is_compared_is_the_one_that_was_measured(name: str) -> None:
    (said,) = re.findall(rf"\b{re.escape(name)} (\d[\w.]*\w)", COMPARISON)
    row = next(line for line in MEASURED.splitlines() if line.startswith(f"| {name} |"))
    assert row.split("|")[2].strip() in (said, "not installed")


@pytest.mark.parametrize("page", [COMPARISON, MEASURED], ids=["comparison", "peers"])
def test_every_command_that_measures_again_names_a_question(page: str) -> None:
    asked = re.findall(r'make bench-peers ARGS="--measure ([^"]+)"', page)
    assert asked
    assert set(asked) <= set(BY_NAME)


def test_the_picture_of_the_measured_page_is_there() -> None:
    assert "(pictures/peers.svg)" in MEASURED
    assert (DOCS / "pictures" / "peers.svg").read_text("utf-8").startswith("<svg")


def test_the_measured_page_is_made_of_the_rows_beside_it() -> None:
    run = msgspec.json.decode((DOCS / "peers.json").read_bytes(), type=Run)
    assert with_picture(to_markdown(build_report(run))) == MEASURED
    for peer in OTHERS:  # nobody is left out in silence
        rows = [row for row in run.rows if row.peer == peer]
        assert rows or any(each.failure for each in run.environments if each.peer == peer)


def test_the_pages_name_no_folder_of_a_machine() -> None:
    for page in (COMPARISON, MEASURED):
        assert not re.search(r"(?<![\w.])/(home|root|tmp|Users|work)/", page)
