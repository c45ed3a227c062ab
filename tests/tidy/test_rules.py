"""Every row of every rule table can stand alone: an id, a code, a sentence, what to do next."""

from __future__ import annotations

import re

import pytest

from moot.core.findings import Rule
from moot.core.registry.rules import RULES as REGISTRY
from moot.debate.records import RULES as DEBATE
from moot.decision.rules import RULES as DECISION
from moot.example.rules import RULES as EXAMPLE
from moot.mail.conduct import RULES as CONDUCT
from moot.mail.mergerules import ARTIFACT_RULES, MERGE_RULES
from moot.mail.rules import EVERY
from moot.mail.rules import RULES as MAIL
from moot.parliament.rules import RULES as PARLIAMENT
from moot.path.rules import RULES as PATH
from moot.presence.rules import RULES as PRESENCE

TABLES = (
    *REGISTRY.values(),
    EXAMPLE,
    *DEBATE.values(),
    *DECISION.values(),
    *PRESENCE.values(),
    *PARLIAMENT.values(),
    *PATH.values(),
    EVERY,
    *MAIL.values(),
    *CONDUCT.values(),
    MERGE_RULES.values(),
    ARTIFACT_RULES,
)
ROWS = [rule for rules in TABLES for rule in rules]


@pytest.mark.parametrize("rule", ROWS, ids=lambda rule: f"{rule.id}:{rule.code}")
def test_a_row_says_what_is_wrong_and_what_to_do(rule: Rule[object]) -> None:
    assert re.fullmatch(r"[A-Z]{1,4}-[0-9]{2,3}", rule.id)
    assert re.fullmatch(r"[a-z][a-z0-9_]*", rule.code)
    assert rule.sentence
    assert rule.hint
