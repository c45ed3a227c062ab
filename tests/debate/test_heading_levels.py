"""Headings of an answer move down together, and nothing else of it changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.markdown import LineKind, scan_lines
from moot.protocols.debate.drafts import deepen_headings

pytestmark = pytest.mark.requirement("BNC-091")


@pytest.mark.parametrize(
    ("text", "deeper"),
    [
        ("## Dialogue\n\nanother one", "### Dialogue\n\nanother one"),
        ("# One\n\n## Two\n\n### Three", "### One\n\n#### Two\n\n##### Three"),
        ("# One #\n", "### One\n"),
        ("#\n\ntext", "###\n\ntext"),
        ("### Fine\n\n#### Finer", "### Fine\n\n#### Finer"),
        ("What we know\n===\n\nlittle", "### What we know\n\nlittle"),
        ("Two lines\nof title\n---\n", "### Two lines of title\n"),
        ("text\n\n---\n\ntext", "text\n\n---\n\ntext"),
        ("```\n# a comment\n```\n", "```\n# a comment\n```\n"),
        ("    # code\n", "    # code\n"),
        ("# One\n\n###### Six", "### One\n\n###### Six"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_headings_are_set_deeper(text: str, deeper: str) -> None:
    assert deepen_headings(text) == deeper


def headings(text: str) -> list[int]:
    kinds = (LineKind.HEADING, LineKind.SETEXT)
    return [line.level for line in scan_lines(text) if line.kind in kinds]


@given(st.text(alphabet="#=-` \n\ta>*1.", max_size=60))
def test_no_heading_of_level_1_or_2_is_left_and_twice_is_once(text: str) -> None:
    deeper = deepen_headings(text)
    assert min(headings(deeper), default=3) >= 3
    assert len(headings(deeper)) == len(headings(text))
    assert deepen_headings(deeper) == deeper
    if min(headings(text), default=3) >= 3:
        assert deeper == text
