"""The linter: what counts, what does not, and that no input makes it fall over."""

from __future__ import annotations

from collections.abc import Container
from typing import TypedDict, Unpack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.mail.message_rules import MAX_BREACHES, lint_message
from moot.protocols.mail.types import TYPES, MessageType
from tests.mail.bodies import body_of, subject_of
from tests.sampling import quarter


class Surroundings(TypedDict, total=False):
    received: bool
    sender: str
    agents: Container[str]
    items: Container[str]


def rules(
    kind: str, body: str | bytes, ack: bool | None = None, **around: Unpack[Surroundings]
) -> list[str]:
    found = lint_message(subject_of(kind), body, ack, **around).findings
    return [finding.rule for finding in found]


@pytest.mark.requirement("BRN-001")
def test_the_prefix_decides_what_the_same_body_must_say() -> None:
    body = body_of("QUESTION")
    assert rules("QUESTION", body) == []
    assert "MB-006" in rules("CRITIQUE", body)
    assert rules("INFO", body) == []


@pytest.mark.parametrize("kind", [one.value for one in MessageType])
def test_a_good_message_of_each_type_has_no_findings(kind: str) -> None:
    checked = lint_message(subject_of(kind), body_of(kind))
    assert checked.findings == ()
    assert checked.type == kind


# KICKOFF


@pytest.mark.requirement("BRN-009")
@pytest.mark.parametrize(
    ("body", "missing"),
    [
        ("## Context\nA. B.", True),
        ("# Why?\n## Context\nA. B.", False),
        ("## Research Question\nWhy?\n## Context\nA. B.", False),
        ("## Research Question\n\n## Context\nA. B.", True),
        ("# {Title of the session}\n## Context\nA. B.", True),
        ("#\n## Context\nA. B.", True),
    ],
)
def test_the_research_question_is_a_title_or_a_section(body: str, missing: bool) -> None:
    assert ("MB-002" in rules("KICKOFF", body)) is missing


@pytest.mark.requirement("BRN-010")
@pytest.mark.parametrize("context", ["", "\n \n", "{What one has to know}", "<!-- later -->"])
def test_an_empty_context_is_a_missing_one(context: str) -> None:
    assert "MB-003" in rules("KICKOFF", f"# Why?\n## Context\n{context}\n## Excerpt\n§1")


@pytest.mark.requirement("BRN-011")
def test_an_excerpt_should_cite() -> None:
    body = body_of("KICKOFF")
    assert rules("KICKOFF", body.replace("§42", "p. 42")) == ["MBX-020"]
    (finding,) = lint_message(
        "KICKOFF: x", body.replace("## Excerpt", "## Transcript Excerpt")
    ).findings
    assert (finding.rule, finding.line) == ("MBX-020", 9)


@pytest.mark.requirement("BRN-013")
@pytest.mark.parametrize(
    ("questions", "contexts", "places"),
    [
        (1, 2, []),
        (1, 4, []),
        (2, 3, ["## Research Question"]),
        (1, 1, ["## Context"]),
        (1, 5, ["## Context"]),
        (3, 9, ["## Research Question", "## Context"]),
    ],
)
def test_one_sentence_asks_and_two_to_four_explain(
    questions: int, contexts: int, places: list[str]
) -> None:
    question, context = "Why is it so? " * questions, "It was seen. " * contexts
    body = (
        f"# Kickoff\n\n## Research Question\n{question}\n\n## Context\n{context}\n\n"
        "## Excerpt\n§1\n\n## Requested Outputs\nThree.\n"
    )
    checked = lint_message("KICKOFF: x", body)
    notes = [row for row in checked.findings if row.rule == "MBX-021"]
    assert [row.where for row in notes] == places
    assert {row.severity for row in notes} <= {"info"}
    assert checked.is_valid


@pytest.mark.requirement("BRN-013")
def test_the_usual_length_is_only_a_note() -> None:
    body = body_of("KICKOFF").replace("Fate is stable", "One. Two. Three. Fate is stable")
    (finding,) = lint_message("KICKOFF: x", body).findings
    assert (finding.rule, finding.severity) == ("MBX-021", "info")


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        pytest.param("KICKOFF", "MB-010", marks=pytest.mark.requirement("BRN-014")),
        pytest.param("QUESTION", "MB-011", marks=pytest.mark.requirement("BRN-069")),
        pytest.param("BLOCKED", "MB-012", marks=pytest.mark.requirement("BRN-062")),
        ("CRITIQUE", "MBX-013"),
        ("HANDOFF", "MBX-013"),
        pytest.param("ACK", "MB-009", marks=pytest.mark.requirement("BRN-042")),
        ("DELTA", "MBX-012"),
        ("COMPILED", "MBX-012"),
        ("CLAIM", "MBX-012"),
        ("INFO", "MBX-012"),
    ],
)
def test_the_ack_flag_is_what_the_table_says(kind: str, rule: str) -> None:
    expected = TYPES[MessageType(kind)].ack_required
    assert rules(kind, body_of(kind), expected) == []
    checked = lint_message(subject_of(kind), body_of(kind), not expected)
    assert [(one.rule, one.severity) for one in checked.findings] == [(rule, "warning")]
    assert checked.is_valid
    # Not said: filled in when sending, false in what was received.
    assert rules(kind, body_of(kind), None) == []
    assert rules(kind, body_of(kind), None, received=True) == ([rule] if expected else [])


# COMPILED, CRITIQUE, ACK, CLAIM, HANDOFF, BLOCKED, QUESTION, INFO


@pytest.mark.requirement("BRN-027")
@pytest.mark.parametrize(
    ("title", "summary", "known"),
    [
        ("# Compiled Artifact v1", "All.", True),
        ("# Compiled Artifact", "This is v12.", True),
        ("# Compiled Artifact v1.2", "All.", True),
        ("# Compiled Artifact", "All.", False),
        ("# Compiled Artifact v{N}", "All.", False),
        ("# Compiled Artifact vX", "nov1 v1x", False),
    ],
)
def test_a_version_stands_in_title_or_summary(title: str, summary: str, known: bool) -> None:
    body = body_of("COMPILED")
    body = body.replace("# Compiled Artifact v2", title).replace("One hypothesis more.", summary)
    checked = lint_message("COMPILED: v2 new", body)
    assert ("MBX-040" not in [one.rule for one in checked.findings]) is known
    if not known:
        assert "only the subject has one" in checked.findings[0].message


@pytest.mark.requirement("BRN-028")
def test_contributors_are_named() -> None:
    body = body_of("COMPILED").replace("- amber-otter\n- teal-crane", "{Whose deltas}")
    assert rules("COMPILED", body) == ["MBX-041"]


@pytest.mark.requirement("BRN-029")
def test_statistics_should_count() -> None:
    start, end = body_of("COMPILED").split("## Statistics")
    assert rules("COMPILED", start + "## Validation" + end.split("## Validation")[1]) == ["MBX-042"]
    assert rules("COMPILED", f"{start}## Statistics\nMany.\n") == ["MBX-042"]


SECTIONS = [
    ("CRITIQUE", "Target", "MB-006", "error", "BRN-033"),
    ("CRITIQUE", "Attack", "MB-007", "error", "BRN-034"),
    ("CRITIQUE", "Severity", "MBX-050", "warning", "BRN-035"),
    ("ACK", "Status", "MBX-060", "error", "BRN-041"),
    ("ACK", "Message ID", "MBX-061", "warning", "BRN-040"),
    ("CLAIM", "Item", "MBX-070", "error", "BRN-046"),
    ("CLAIM", "Agent", "MBX-071", "error", "BRN-047"),
    ("HANDOFF", "Item", "MBX-080", "error", "BRN-052"),
    ("HANDOFF", "From", "MB-008", "error", "BRN-053"),
    ("HANDOFF", "To", "MB-008", "error", "BRN-053"),
    ("HANDOFF", "State", "MBX-081", "warning", "BRN-054"),
    ("BLOCKED", "Item", "MBX-090", "error", "BRN-059"),
    ("BLOCKED", "Blocker", "MBX-091", "error", "BRN-060"),
    ("BLOCKED", "Type", "MBX-092", "warning", "BRN-061"),
    ("QUESTION", "Question", "MBX-100", "error", "BRN-067"),
    ("QUESTION", "Urgency", "MBX-101", "warning", "BRN-068"),
]


@pytest.mark.parametrize(
    ("kind", "section", "rule", "severity"),
    [pytest.param(*row, marks=pytest.mark.requirement(norm)) for *row, norm in SECTIONS],
)
def test_a_section_that_is_asked_for_says_something(
    kind: str, section: str, rule: str, severity: str
) -> None:
    """Missing, empty, template text, in code, at another level: it is not there."""
    head, _, rest = body_of(kind).partition(f"## {section}\n")
    said, mark, tail = rest.partition("\n## ")
    below = mark + tail
    others = {
        "missing": f"{head}{below}",
        "empty": f"{head}## {section}\n{below}",
        "template": f"{head}## {section}\n{{Fill this in}}\n{below}",
        "in code": f"{head}```\n## {section}\n{said}\n```\n{below}",
        "level 3": f"{head}### {section}\n{said}\n{below}",
        "in a quote": f"{head}> ## {section}\n> {said}\n{below}",
    }
    for body in others.values():
        findings = lint_message(subject_of(kind), body).findings
        assert {(one.rule, one.severity) for one in findings} == {(rule, severity)}
        assert any(one.where == f"## {section}" for one in findings)
    for heading in (section.upper(), f"{section} (optional)", f"  {section.lower()}  "):
        assert rules(kind, f"{head}## {heading}\n{said}\n{below}") == []


@pytest.mark.parametrize(
    ("kind", "section", "good", "bad", "rule"),
    [
        pytest.param(
            "CRITIQUE",
            "Severity",
            ["Critical", "Major", "Minor"],
            ["High"],
            "MBX-050",
            marks=pytest.mark.requirement("BRN-035"),
        ),
        pytest.param(
            "ACK",
            "Status",
            ["Received", "Understood", "Will Action", "Completed"],
            ["OK", "Done", "Received | Understood"],
            "MBX-060",
            marks=pytest.mark.requirement("BRN-041"),
        ),
        pytest.param(
            "BLOCKED",
            "Type",
            ["Dependency", "Question", "Resource", "External"],
            ["x"],
            "MBX-092",
            marks=pytest.mark.requirement("BRN-061"),
        ),
        pytest.param(
            "QUESTION",
            "Urgency",
            ["Blocking", "Soon", "Whenever"],
            ["Now"],
            "MBX-101",
            marks=pytest.mark.requirement("BRN-068"),
        ),
    ],
)
def test_fixed_words_are_taken_in_any_case(
    kind: str, section: str, good: list[str], bad: list[str], rule: str
) -> None:
    head, _, rest = body_of(kind).partition(f"## {section}\n")
    below = "".join(rest.partition("\n## ")[1:])
    for word in good:
        for said in (word, word.upper(), f"**{word}**", f"- {word}", f"`{word.lower()}`"):
            assert rules(kind, f"{head}## {section}\n{said}\n{below}") == []
    for word in bad:
        assert rules(kind, f"{head}## {section}\n{word}\n{below}") == [rule]


@pytest.mark.requirement("BRN-053")
def test_an_agents_name_is_one_word() -> None:
    body = body_of("HANDOFF")
    assert rules("HANDOFF", body.replace("## From\namber-otter", "## From\nRedCreek")) == []
    assert "MB-008" in rules("HANDOFF", body.replace("## From\namber-otter", "## From\nthe boss"))


@pytest.mark.requirement("BRN-079")
def test_names_and_items_are_looked_up_on_request() -> None:
    body = body_of("HANDOFF")
    assert rules("HANDOFF", body, agents={"amber-otter", "teal-crane"}, items={"auth-7"}) == []
    found = rules("HANDOFF", body, agents={"amber-otter"}, items=set(), received=True, ack=True)
    assert found == ["MBX-010", "MBX-011"]
    bad_delta = lint_message("DELTA[opus]: x", "```delta\n{\n```\n", received=True)
    assert [one.rule for one in bad_delta.findings] == ["MB-005"]


def test_nobody_hands_over_in_anothers_name() -> None:
    body = body_of("HANDOFF")
    assert rules("HANDOFF", body, sender="amber-otter") == []
    assert rules("HANDOFF", body, sender="coral-finch") == ["MBX-084"]
    assert rules("HANDOFF", body, True, sender="coral-finch", received=True) == ["MBX-085"]


@pytest.mark.requirement("BRN-067")
def test_the_title_of_a_question_is_not_the_question() -> None:
    body = "# Question\n\nWhich cache?\n\n## Urgency\nSoon\n"
    (finding,) = lint_message("QUESTION: x", body).findings
    assert (finding.rule, finding.line) == ("MBX-100", 1)


@pytest.mark.requirement("BRN-070")
@pytest.mark.requirement("BRN-072")
@given(st.text())
def test_an_info_may_say_anything(body: str) -> None:
    """Nothing is asked of it, and it asks for nothing."""
    checked = lint_message("INFO: x", body)
    assert checked.is_valid
    assert not checked.ack_required


# Structure that counts, and structure that does not


@pytest.mark.requirement("BRN-083")
@pytest.mark.parametrize(
    "hidden",
    [
        "```\n## Context\nIn code.\n```",
        "~~~~markdown\n```\n~~~\n## Context\nIn code.\n~~~~",
        "<!--\n## Context\nHidden.\n-->",
        "- list\n\n  ## Context\n  In a list.",
        "    ## Context\n    Indented.",
        "<div>\n## Context\n</div>",
        "Context\n-------\nUnderlined.",
        "**Context**\nBold.",
    ],
)
def test_a_heading_inside_something_else_does_not_count(hidden: str) -> None:
    assert "MB-003" in rules("KICKOFF", f"# Why?\n\n{hidden}\n\n## Excerpt\n§1\n")


def test_a_section_in_a_fence_is_pointed_at() -> None:
    (finding,) = lint_message(
        "KICKOFF: x", "# Why?\n```\n## Context\n```\n## Excerpt\n§1\n"
    ).findings
    assert finding.line == 3
    assert "looks like it" in finding.message


@pytest.mark.parametrize("kind", [one.value for one in MessageType])
@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_endings_change_nothing(kind: str, ending: str) -> None:
    assert rules(kind, body_of(kind).replace("\n", ending)) == []


def test_of_two_sections_with_one_name_the_first_counts() -> None:
    body = body_of("ACK")
    assert rules("ACK", body + "\n## STATUS\nOK\n") == ["MBX-008"]
    assert rules("ACK", body.replace("Will Action", "OK") + "\n## Status\nReceived\n") == [
        "MBX-008",
        "MBX-060",
    ]


def test_a_fence_that_stays_open_is_named_by_its_line() -> None:
    (finding,) = lint_message("INFO: x", "```\na\n```\n\n~~~\n```\n").findings
    assert (finding.rule, finding.line) == ("MBX-007", 5)


def test_a_byte_order_mark_is_noted_and_ignored() -> None:
    body = "\ufeff## Context\nA. B.\n## Excerpt\n§1\n## Research Question\nWhy?\n"
    assert rules("KICKOFF", body) == ["MBX-006"]


@pytest.mark.parametrize("kind", [one.value for one in MessageType])
def test_an_empty_body_has_a_defined_answer(kind: str) -> None:
    valid = lint_message(subject_of(kind), "").is_valid
    assert valid is (kind == "INFO")
    assert lint_message(subject_of(kind), " \n\t\r\n").is_valid is valid


def test_bytes_that_are_no_text_are_named_by_line() -> None:
    (finding,) = lint_message("INFO: x", b"# A\n\xff\xfe").findings
    assert (finding.rule, finding.line) == ("MBX-005", 2)


def test_one_rule_reports_so_many_places_and_no_more() -> None:
    body = "```delta\n{\n```\n" * 1_000
    assert rules("DELTA", body) == ["MB-005"] * MAX_BREACHES


MISSING = {
    "KICKOFF": {"missing_research_question"},
    "DELTA": {"no_delta_block", "invalid_delta_json"},
    "HANDOFF": {"missing_handoff_agents"},
}


@pytest.mark.parametrize(
    "body",
    quarter(
        [
            "## A\n" * 50_000,
            "#" * 2_000_000,
            "`" * 2_000_000,
            "```\n" * 100_001,
            "{" * 1_000_000,
            "<!--" * 200_000,
            "> " * 200_000,
            "- " * 200_000,
            "## Context\n" + "{x}" * 300_000,
            "## Item\n" + " \n" * 500_000,
            "DELTA[" * 200_000,
            "\n" * 2_000_000,
            " ```delta\n" * 20_000,
            "x" * 10_000_000,
            "## a" + " " * 1_000_000 + "b",
            "## Item\na" + " " * 1_000_000 + "b\n## To\n" + "- " * 200_000,
        ]
    ),
    ids=lambda body: f"{body[:8]!r}x{len(body)}",
)
def test_bodies_without_measure_are_read_once_and_answered_shortly(body: str) -> None:
    """Were any of these quadratic, `faulthandler_timeout` would name the test."""
    for kind, missing in MISSING.items():
        findings = lint_message(subject_of(kind), body).findings
        assert missing & {finding.code for finding in findings}
        assert len(findings) <= 5
        assert all(len(finding.message) < 200 for finding in findings)


# Any bytes

PIECES = [
    *("# T\n", "## Context\n", "## Item\n", "## From\n", "text\n", "\n", "```delta\n", "```\n"),
    *("~~~\n", "{}\n", "[NaN]\n", '{"operation": "ADD"}\n', "<!--", "-->\n", "- ", "> ", "\t"),
    *("{x}\n", "\r\n", "\r", "\ufeff", "\u2028", "\ud800", "§1", "DELTA[x]: y\n", "\x00"),
]
SUBJECTS = st.sampled_from([subject_of(kind.value) for kind in MessageType])


@given(SUBJECTS, st.lists(st.sampled_from(PIECES)).map("".join), st.none() | st.booleans())
def test_no_text_makes_the_linter_fall_over(subject: str, body: str, ack: bool | None) -> None:
    for received in (False, True):
        checked = lint_message(
            subject, body, ack, received=received, sender="a", agents=(), items=()
        )
        assert checked.is_valid is not any(one.severity == "error" for one in checked.findings)
        lines = body.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
        assert all(one.line is None or 1 <= one.line <= lines for one in checked.findings)
        assert all(one.message and one.hint for one in checked.findings)


@given(SUBJECTS, st.binary())
def test_no_bytes_make_the_linter_fall_over(subject: str, body: bytes) -> None:
    lint_message(subject, body)
