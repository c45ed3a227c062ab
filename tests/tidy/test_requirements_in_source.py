"""From every rule to the requirement it enforces, from every requirement to its place in the code.

A reader of a requirement finds by one search where it is enforced; a reader of a rule finds
what it is for.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

from moot.core.findings import Rule
from tests.requirements.test_manifest import all_rows
from tests.tidy.source import ROOT, modules
from tests.tidy.test_rules import ROWS

REQUIREMENT = re.compile(r"\b[A-Z]{3}-[0-9]{2,3}[a-z]?\b")
# Manifests whose every row stands in the source where it is enforced.
ENFORCED = ("OPR", "BRN", "BNC", "PAR", "TRC", "REG", "DEC", "FLO", "XPR", "AGT", "LDG")
# Rows that no line of code enforces, with the reason.
NOT_IN_SOURCE = {
    "OPR-101": "about what our documentation says",
    "LDG-004": "about the vectors in our documentation",
}
# Ids of readings and of rules of our own: a row that has one of these enforces a reading.
READING = re.compile(
    r"(?:[A-EGJMPST]-[0-9]{2}|MBX-[0-9]{3}|MRG-[0-9]{2,3}|PTH-[0-9]{2,3}|EXA-[0-9]{2})"
)


@cache
def manifest() -> frozenset[str]:
    return frozenset(row["id"] for row in all_rows())


@cache
def gaps() -> frozenset[str]:
    return frozenset(row["id"] for row in all_rows() if "gap" in row)


@cache
def named_in_source() -> frozenset[str]:
    return frozenset(name for module in modules() for name in REQUIREMENT.findall(module.text))


@pytest.mark.parametrize("rule", ROWS, ids=lambda rule: f"{rule.id}:{rule.code}")
def test_a_row_names_requirements_that_exist(rule: Rule[object]) -> None:
    assert set(rule.requirement) <= manifest()


def test_a_row_leads_to_a_requirement_or_is_a_reading() -> None:
    astray = [
        f"{rule.id} {rule.code}"
        for rule in ROWS
        if rule.id not in manifest() and not rule.requirement and not READING.fullmatch(rule.id)
    ]
    assert astray == []


@pytest.mark.parametrize("prefix", ENFORCED)
def test_every_enforced_requirement_stands_in_the_source(prefix: str) -> None:
    wanted = {name for name in manifest() - gaps() if name.startswith(prefix)}
    assert sorted(wanted - named_in_source() - NOT_IN_SOURCE.keys()) == []


def test_the_exceptions_are_still_needed() -> None:
    assert NOT_IN_SOURCE.keys() <= manifest() - named_in_source()


def test_the_glossary_explains_every_prefix() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    prefixes = {re.split("[-0-9]", rule.id)[0] for rule in ROWS if not rule.id[0].isdigit()}
    prefixes |= {name.split("-")[0] for name in manifest()}
    assert [prefix for prefix in sorted(prefixes) if not re.search(rf"`{prefix}[-0-9]", page)] == []
