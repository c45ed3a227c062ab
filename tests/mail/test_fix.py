"""Repairs that need no guessing; what a message says stays as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.mail.body import MessageBody, section_key
from moot.protocols.mail.fix import FixedMessage, fix_message
from moot.protocols.mail.message_rules import lint_message
from moot.protocols.mail.types import TYPES, MessageType
from tests.mail.bodies import body_of, subject_of
from tests.mail.test_lint import PIECES


def linted(fixed: FixedMessage) -> list[str]:
    found = lint_message(fixed.subject, fixed.body, fixed.ack_required).findings
    return [one.rule for one in found]


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("kickoff: x", "KICKOFF: x"),
        ("Info:x", "INFO: x"),
        ("  ACK :  INFO: x ", "ACK: INFO: x"),
        ("delta[Opus]: x", "DELTA[opus]: x"),
        ("DELTA [gpt] : x", "DELTA[gpt]: x"),
    ],
)
def test_a_prefix_gets_its_proper_form(written: str, right: str) -> None:
    assert fix_message(written, "").subject == right


@pytest.mark.parametrize(
    "subject", ["HELLO: x", "DELTA: x", "INFO[a]: x", "Re: INFO: x", "INFO:", "", "INFO"]
)
def test_a_subject_that_leaves_a_choice_is_left_alone(subject: str) -> None:
    assert fix_message(subject, "text").subject == subject


@pytest.mark.parametrize("kind", [one.value for one in MessageType])
@pytest.mark.parametrize("said", [True, False, None])
def test_the_ack_flag_becomes_what_the_table_says(kind: str, said: bool | None) -> None:
    fixed = fix_message(subject_of(kind), body_of(kind), said)
    assert fixed.ack_required is TYPES[MessageType(kind)].ack_required
    told = any("ack_required" in repair for repair in fixed.repairs)
    assert told is (said is not None and said is not fixed.ack_required)


def test_headings_and_fixed_words_get_their_case() -> None:
    body = "# C\n\n## TARGET\nH2\n## attack:\nNo.\n## Evidence\nP1\n## severity\n  critical\n"
    fixed = fix_message("critique: x", body, ack_required=False)
    assert fixed.body == (
        "# C\n\n## Target\nH2\n## Attack\nNo.\n## Evidence\nP1\n"
        "## Proposed Resolution (optional)\n\n## Severity\n  Critical\n"
    )
    assert linted(fixed) == []
    assert len(fixed.repairs) == 7


def test_missing_optional_headings_stand_in_the_order_of_the_template() -> None:
    fixed = fix_message("KICKOFF: x", "# T\n## Context\nA. B.\n## Excerpt\n§1")
    names = [part.name for part in MessageBody(fixed.body).sections]
    optional = ["Initial Hypotheses (optional)", "Constraints (optional)", "Requested Outputs"]
    assert names == ["Context", "Excerpt", *optional]
    assert linted(fixed) == []


def test_required_headings_are_not_invented() -> None:
    fixed = fix_message("HANDOFF: a to b", "# Work Handoff\n\n## Item\na\n")
    assert not any(part.key in ("from", "to", "state") for part in MessageBody(fixed.body).sections)
    assert linted(fixed) == ["MB-008", "MB-008", "MBX-081"]


def test_a_colon_stays_if_the_section_is_there_already() -> None:
    body = "# T\n## Context\nA. B.\n## Context:\nC.\n"
    assert "## Context:\nC." in fix_message("KICKOFF: x", body).body


def test_line_endings_and_everything_else_stay() -> None:
    body = "# Q\r\n\r\n## question\r\nWhy?\r\n\r\n## Urgency\r\nsoon"
    fixed = fix_message("QUESTION: x", body).body
    assert "\n" not in fixed.replace("\r\n", "")
    assert "## Question\r\nWhy?\r\n" in fixed
    assert fixed.endswith("## Urgency\r\nSoon")


def test_nothing_is_added_behind_a_fence_that_never_closes() -> None:
    body = "# T\n## Context\nA. B.\n```\ncode"
    assert fix_message("KICKOFF: x", body).body == body


def test_a_byte_order_mark_goes() -> None:
    fixed = fix_message("INFO: x", "\ufeff# Information\n")
    assert fixed.body == "# Information\n"
    assert fixed.repairs == ("the byte order mark was removed",)


@pytest.mark.parametrize("kind", [one.value for one in MessageType])
def test_a_good_message_gains_at_most_empty_headings(kind: str) -> None:
    fixed = fix_message(subject_of(kind), body_of(kind))
    assert fixed.subject == subject_of(kind)
    assert all(repair.endswith("was added, empty") for repair in fixed.repairs)
    assert linted(fixed) == []


HEADINGS = [
    f"{mark} {name}\n"
    for spec in TYPES.values()
    for section in spec.sections
    for name in (section.heading, section.heading.lower(), f"{section.heading}:")
    for mark in ("##", " ##", "> ##")
]
BODIES = st.lists(st.sampled_from([*PIECES, *HEADINGS, "critical\n", "soon", "WILL ACTION\n"]))


def test_of_two_byte_order_marks_none_is_taken_out() -> None:
    """Only the first is a mark; without it the second would be one, and `# T` a title."""
    body = "\ufeff\ufeff# T\n"
    assert fix_message("INFO: x", body).body == body


@given(
    st.sampled_from([subject_of(kind.value) for kind in MessageType]),
    BODIES.map("".join),
    st.none() | st.booleans(),
)
def test_a_repair_never_changes_what_is_said(subject: str, text: str, ack: bool | None) -> None:
    fixed = fix_message(subject, text, ack)
    before, after = MessageBody(text), MessageBody(fixed.body)
    said = [part for part in before.sections if part.filled_text]
    kept = [part for part in after.sections if part.filled_text]
    assert [part.filled_text.casefold() for part in said] == [
        part.filled_text.casefold() for part in kept
    ]
    names = [section_key(part.name.rstrip(": ")) for part in said]
    assert names == [section_key(part.name.rstrip(": ")) for part in kept]
    assert [one.value for one in before.titles] == [one.value for one in after.titles]
    # Nothing that was right becomes wrong, and a second time nothing is left to do.
    gained = set(linted(fixed)) - {one.rule for one in lint_message(subject, text, ack).findings}
    assert not gained & {"MB-001", "MB-002", "MB-003", "MB-004", "MB-006", "MB-007", "MB-008"}
    again = fix_message(fixed.subject, fixed.body, fixed.ack_required)
    assert again == FixedMessage(fixed.subject, fixed.body, fixed.ack_required, ())
