"""Every row of every rule table can stand alone: an id, a code, a sentence, what to do next."""

from __future__ import annotations

import re

import pytest

from moot.core.findings import Rule
from moot.core.registry.rules import RULES as REGISTRY
from moot.example.rules import RULES as EXAMPLE
from moot.presence.rules import RULES as PRESENCE

ROWS = [rule for rules in (*REGISTRY.values(), EXAMPLE, *PRESENCE.values()) for rule in rules]


@pytest.mark.parametrize("rule", ROWS, ids=lambda rule: f"{rule.id}:{rule.code}")
def test_a_row_says_what_is_wrong_and_what_to_do(rule: Rule[object]) -> None:
    assert re.fullmatch(r"[A-Z]{1,4}-[0-9]{2,3}", rule.id)
    assert re.fullmatch(r"[a-z][a-z0-9_]*", rule.code)
    assert rule.sentence
    assert rule.hint
