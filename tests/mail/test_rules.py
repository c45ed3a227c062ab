"""Each rule has an example that keeps it and one that breaks it, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from moot.core.findings import Severity
from moot.protocols.mail.codec import MessageFile, read_message_file
from moot.protocols.mail.message_rules import (
    RULES_BY_TYPE,
    RULES_FOR_ALL,
    LintedMessage,
    Row,
    lint_message,
)
from moot.protocols.mail.types import MessageType

EXAMPLES = Path(__file__).parent / "examples"
ROWS: dict[str, Row] = {
    row.id: row for rows in (RULES_FOR_ALL, *RULES_BY_TYPE.values()) for row in rows
}
# Rules that only hold for what was received, or that need to know who and what is here.
ACK = {"MBX-004", "MBX-085"}
AGENTS = {"amber-otter", "teal-crane"}
ITEMS = {"auth-7"}


def example(name: str) -> tuple[MessageFile, bytes]:
    """The head of an example, and its body as the bytes it has."""
    raw = (EXAMPLES / name).read_bytes()
    parts = re.fullmatch(rb"(---\n.*?\n---\n)(.*)", raw, re.DOTALL)
    assert parts is not None
    return read_message_file(parts[1]), parts[2]


def linted(rule: str, outcome: str) -> LintedMessage:
    head, body = example(f"{rule}-{outcome}.txt")
    return lint_message(
        head.subject,
        body,
        head.ack_required,
        received=rule in ACK,
        sender=head.sender,
        agents=AGENTS,
        items=ITEMS,
    )


@pytest.mark.requirement("BRN-003")
@pytest.mark.parametrize("rule", sorted(ROWS))
def test_each_rule_is_kept_by_its_good_example(rule: str) -> None:
    good = linted(rule, "pass")
    assert [finding.rule for finding in good.findings] == []
    assert good.is_valid


@pytest.mark.parametrize("rule", sorted(ROWS))
def test_each_rule_is_broken_by_its_bad_example_alone(rule: str) -> None:
    bad = linted(rule, "fail")
    (finding,) = bad.findings
    row = ROWS[rule]
    assert (finding.rule, finding.code, finding.severity) == (rule, row.code, row.severity)
    assert finding.message
    assert finding.hint == row.hint
    assert bad.is_valid is (row.severity is not Severity.ERROR)


def test_every_example_belongs_to_a_rule() -> None:
    names = {path.name for path in EXAMPLES.iterdir()}
    assert names == {f"{rule}-{outcome}.txt" for rule in ROWS for outcome in ("pass", "fail")}


@pytest.mark.requirement("BRN-081")
@pytest.mark.requirement("BRN-082")
def test_the_twelve_rules_of_the_document_are_there_with_their_severity() -> None:
    ours = {rule: row.severity for rule, row in ROWS.items() if rule.startswith("MB-")}
    wanted = {f"MB-{number:03}": Severity.ERROR for number in range(1, 9)}
    wanted |= {f"MB-{number:03}": Severity.WARNING for number in range(9, 13)}
    assert ours == wanted


@pytest.mark.requirement("BRN-082")
@pytest.mark.parametrize(
    ("rule", "holds_for", "sentence"),
    [
        ("MB-001", None, "the subject has a valid prefix"),
        ("MB-002", "KICKOFF", "a KICKOFF has a research question"),
        ("MB-003", "KICKOFF", "`## Context` says something"),
        ("MB-004", "DELTA", "a DELTA has at least one delta block"),
        ("MB-005", "DELTA", "each delta block parses as JSON"),
        ("MB-006", "CRITIQUE", "`## Target` says something"),
        ("MB-007", "CRITIQUE", "`## Attack` says something"),
        ("MB-008", "HANDOFF", "a HANDOFF has From and To agents"),
        ("MB-009", "ACK", "ACK does not set ack_required"),
        ("MB-010", "KICKOFF", "KICKOFF sets ack_required: true"),
        ("MB-011", "QUESTION", "QUESTION sets ack_required: true"),
        ("MB-012", "BLOCKED", "BLOCKED sets ack_required: true"),
    ],
)
def test_each_of_them_means_what_the_document_says(
    rule: str, holds_for: str | None, sentence: str
) -> None:
    table = RULES_FOR_ALL if holds_for is None else RULES_BY_TYPE[MessageType(holds_for)]
    assert [row.sentence for row in table if row.id == rule] == [sentence]
    holding = [kind for kind, rows in RULES_BY_TYPE.items() if any(row.id == rule for row in rows)]
    assert holding == ([MessageType(holds_for)] if holds_for else [])


def test_an_id_has_one_meaning_wherever_it_stands() -> None:
    for rows in RULES_BY_TYPE.values():
        ids = [row.id for row in (*RULES_FOR_ALL, *rows)]
        assert len(set(ids)) == len(ids)
    for rows in RULES_BY_TYPE.values():
        for row in rows:
            assert (row.code, row.severity) == (ROWS[row.id].code, ROWS[row.id].severity)


def test_the_words_of_a_rule_say_what_to_do() -> None:
    for row in ROWS.values():
        assert re.fullmatch(r"MBX?-[0-9]{3}", row.id)
        assert re.fullmatch(r"[a-z][a-z0-9_]*", row.code)
        assert row.sentence
        assert row.hint
