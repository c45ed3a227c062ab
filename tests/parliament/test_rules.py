"""Every rule stands on a requirement or on a reading that is written down."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from moot.core.findings import Rule
from moot.parliament.asked import Asked
from moot.parliament.rules import RULES

ROOT = Path(__file__).parents[2]
ROWS = [rule for rows in RULES.values() for rule in rows]


def known() -> set[str]:
    manifest = (ROOT / "tests/requirements/parliament.toml").read_text("utf-8")
    ids = {row["id"] for row in tomllib.loads(manifest)["requirement"]}
    readings = (ROOT / "docs/readings.md").read_text("utf-8").partition("## Parliament")[2]
    return ids | set(re.findall(r"^\| ([CS]-\d\d) \|", readings, re.MULTILINE))


@pytest.mark.parametrize(
    "rule",
    {(one.id, one.code): one for one in ROWS}.values(),
    ids=lambda rule: f"{rule.id}:{rule.code}",
)
def test_a_rule_has_its_ground(rule: Rule[Asked]) -> None:
    assert rule.id in known()


def test_no_two_rows_of_a_table_say_the_same() -> None:
    for rows in RULES.values():
        said = [(rule.id, rule.code, rule.sentence) for rule in rows]
        assert len(set(said)) == len(said)
