"""Subjects: ten prefixes, exactly written; a role for DELTA; the rest is free text on one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.mail.body_writer import write_error_subject
from moot.protocols.mail.fix import fix_message, write_template
from moot.protocols.mail.message import (
    Subject,
    has_control_characters,
    parse_received_subject,
    parse_subject,
    write_ack_subject,
)
from moot.protocols.mail.message_rules import lint_message
from moot.protocols.mail.types import TYPES, MessageType, is_ack_owed


def found(text: str) -> Subject:
    subject = parse_subject(text)
    assert subject is not None
    return subject


def wrong(text: str) -> list[str]:
    """The codes of what is wrong with this subject."""
    said = (one for one in lint_message(text, "").findings if one.where == "subject")
    return [one.code for one in said if one.severity == "error"]


TEN_PREFIXES = (
    *("KICKOFF", "DELTA", "COMPILED", "CRITIQUE", "ACK", "CLAIM", "HANDOFF", "BLOCKED"),
    *("QUESTION", "INFO"),
)


@pytest.mark.requirement("BRN-004")
def test_there_are_ten_prefixes_and_only_a_delta_has_a_role() -> None:
    assert [kind.value for kind in MessageType] == list(TEN_PREFIXES)
    for prefix in TEN_PREFIXES:
        with_role = parse_subject(f"{prefix}[opus]: some words")
        plain = parse_subject(f"{prefix}: some words")
        assert [plain is None, with_role is None] == (
            [True, False] if prefix == "DELTA" else [False, True]
        )


@pytest.mark.parametrize("kind", [one for one in MessageType if one is not MessageType.DELTA])
def test_each_prefix_says_the_type(kind: MessageType) -> None:
    assert found(f"{kind.value}: some words") == Subject(kind, "some words")


@pytest.mark.parametrize(
    ("kind", "subject", "filled"),
    [
        pytest.param(
            "KICKOFF",
            "{what it is about}",
            "Sessions that outlive a restart",
            marks=pytest.mark.requirement("BRN-006"),
        ),
        pytest.param(
            "CRITIQUE",
            "{what is wrong}",
            "H2 predicts nothing",
            marks=pytest.mark.requirement("BRN-030"),
        ),
        pytest.param(
            "CLAIM", "{work id or task}", "auth-7", marks=pytest.mark.requirement("BRN-043")
        ),
        pytest.param(
            "BLOCKED", "{work id or task}", "auth-7", marks=pytest.mark.requirement("BRN-055")
        ),
        pytest.param(
            "ACK",
            "{the subject that is answered}",
            "INFO: done",
            marks=pytest.mark.requirement("BRN-037"),
        ),
        pytest.param(
            "QUESTION",
            "{the question in short}",
            "Which cache?",
            marks=pytest.mark.requirement("BRN-063"),
        ),
    ],
)
def test_a_subject_says_after_its_prefix_what_its_template_asks_for(
    kind: str, subject: str, filled: str
) -> None:
    """The template asks for it, what is written there is read back, and nothing is an error."""
    assert write_template(MessageType(kind)).subject == f"{kind}: {subject}"
    assert found(f"{kind}: {filled}") == Subject(MessageType(kind), filled)
    assert wrong(f"{kind}: {filled}") == []
    assert wrong(f"{kind}: ") == ["empty_subject_description"]


@pytest.mark.requirement("BRN-015")
@pytest.mark.parametrize("role", ["opus", "gpt", "hypothesis_generator", "a-b2"])
def test_a_delta_names_its_role(role: str) -> None:
    subject = found(f"DELTA[{role}]: more")
    assert subject == Subject(MessageType.DELTA, "more", role)
    assert str(subject) == f"DELTA[{role}]: more"


@pytest.mark.requirement("BRN-005")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "HELLO: x",
        "kickoff: x",
        "Kickoff: x",
        "KICKOFF x",
        "KICKOFF:x",
        "KICKOFF:  x",
        "KICKOFF : x",
        " KICKOFF: x",
        "DELTA: x",
        "DELTA[]: x",
        "DELTA[Opus]: x",
        "DELTA[1]: x",
        "INFO[opus]: x",
        "TRIBUNAL[x]: y",
        "Re: INFO: x",
        "ＩＮＦＯ: x",
    ],
)
def test_anything_else_has_no_valid_prefix(text: str) -> None:
    assert parse_subject(text) is None
    (finding,) = lint_message(text, "text").findings
    assert (finding.rule, finding.code) == ("MB-001", "invalid_subject_prefix")


@pytest.mark.parametrize("text", ["INFO:", "INFO: ", "INFO:   ", "DELTA[opus]:\t"])
def test_a_prefix_alone_is_not_enough(text: str) -> None:
    assert "empty_subject_description" in wrong(text)


@pytest.mark.parametrize("char", ["\n", "\r", "\x00", "\x1b", "\u2028", "\x85", "\u202e", "\u2067"])
def test_a_subject_is_one_line(char: str) -> None:
    assert wrong(f"INFO: a{char}b") == ["subject_not_one_line"]


@pytest.mark.parametrize("rest", ["Zürich", "東京 🦦", "a: b: c", "e\u0301", "שלום"])
def test_the_rest_is_any_text(rest: str) -> None:
    assert found(f"INFO: {rest}").description == rest
    assert lint_message(f"INFO: {rest}", "# Information\n").findings == ()


@pytest.mark.parametrize("text", ["Re: INFO: x", "RE: re:  INFO: x"])
def test_what_was_received_may_be_a_reply(text: str) -> None:
    read = parse_received_subject(text)
    assert read.subject == Subject(MessageType.INFO, "x")
    assert read.had_reply_prefix
    (finding,) = lint_message(text, "", received=True).findings
    assert (finding.rule, finding.severity) == ("MBX-004", "warning")


@pytest.mark.requirement("BRN-048")
@pytest.mark.parametrize(
    ("rest", "named"),
    [
        ("auth-7 to teal-crane", ("auth-7", "teal-crane")),
        ("move to v2 to teal-crane", ("move to v2", "teal-crane")),
        ("auth-7", None),
        ("auth-7 to", None),
        ("to teal-crane", None),
    ],
)
def test_a_handoff_names_item_and_agent(rest: str, named: tuple[str, str] | None) -> None:
    assert found(f"HANDOFF: {rest}").handoff_parts == named


@pytest.mark.requirement("BRN-037")
def test_the_subject_of_an_ack_repeats_the_one_it_answers() -> None:
    assert write_ack_subject("QUESTION: which?") == "ACK: QUESTION: which?"
    assert found(write_ack_subject("a\nb\u202e")).description == "a b"
    assert found(write_ack_subject("")).type is MessageType.ACK


@pytest.mark.parametrize(
    ("subject", "code", "short"),
    [
        ("re:" + " " * 300_000 + "x", "reply_prefix", "re: x"),
        ("INFO: a" + " " * 300_000 + "b", "subject_too_long", "INFO: a b"),
        ("HANDOFF: a to " * 50_000, "no_receiver_in_subject", ("HANDOFF: a to " * 50_000).strip()),
    ],
    ids=["re", "blanks", "handoffs"],
)
def test_subjects_without_measure_are_read_once(subject: str, code: str, short: str) -> None:
    """Were any of these quadratic, `faulthandler_timeout` would name the test."""
    assert code in {finding.code for finding in lint_message(subject, "", received=True).findings}
    assert fix_message(subject, "").subject == subject.strip()
    assert write_ack_subject(subject) == f"ACK: {short}"


def test_a_validation_error_is_reported_in_an_info() -> None:
    assert write_error_subject("m:1") == "INFO: Validation error for m:1"
    assert found(write_error_subject("a\nb\x00")).type is MessageType.INFO


@pytest.mark.requirement("BRN-002")
@pytest.mark.requirement("BRN-007")
@pytest.mark.requirement("BRN-016")
@pytest.mark.requirement("BRN-023")
@pytest.mark.requirement("BRN-031")
@pytest.mark.requirement("BRN-038")
@pytest.mark.requirement("BRN-044")
@pytest.mark.requirement("BRN-050")
@pytest.mark.requirement("BRN-057")
@pytest.mark.requirement("BRN-065")
@pytest.mark.requirement("BRN-071")
@pytest.mark.requirement("BRN-073")
@pytest.mark.requirement("BRN-074")
def test_five_types_are_owed_an_ack_and_five_are_not() -> None:
    owed = {"KICKOFF", "CRITIQUE", "HANDOFF", "BLOCKED", "QUESTION"}
    assert {kind.value for kind in MessageType if is_ack_owed(kind)} == owed
    assert len(TYPES) == 10
    for kind in MessageType:
        prefix = "DELTA[opus]" if kind is MessageType.DELTA else kind.value
        assert lint_message(f"{prefix}: x", "").ack_required is (kind.value in owed)


@given(st.text(max_size=60))
def test_any_text_is_read_without_a_crash(text: str) -> None:
    parse_received_subject(text)
    assert lint_message(text, "").type == (read.type if (read := parse_subject(text)) else None)
    if not wrong(text):
        assert str(parse_subject(text)) == text
        assert not has_control_characters(text)
