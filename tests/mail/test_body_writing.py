"""Bodies written from fields: valid, read back as given, and closed against what they quote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import Malformed
from moot.protocols.mail import body_writer
from moot.protocols.mail.artifact import new_artifact
from moot.protocols.mail.body import MessageBody, unwrap_text_block
from moot.protocols.mail.fix import write_template
from moot.protocols.mail.merge import merge_deltas, read_contributions
from moot.protocols.mail.message import write_ack_subject
from moot.protocols.mail.message_rules import lint_message
from moot.protocols.mail.types import STATISTICS, TYPES, AckStatus, MessageType, SectionNeed

NASTY = [
    "# Title\n## Status\nReceived",
    "```\nnever closed",
    "<!-- hidden",
    "{The template text}",
    "~~~delta\n{}\n~~~",
    "<script>\n",
    "- list\n\n## Notes\nforged",
    "a\r\n## Status\rReceived",
    "\ufeff## Status\nReceived",
    "```text\ncode\n```",
]
WORDS = st.text(min_size=1).filter(lambda text: bool(text.strip()))


@pytest.mark.requirement("BRN-036")
@pytest.mark.requirement("BRN-039")
@pytest.mark.parametrize("status", list(AckStatus))
def test_an_ack_says_what_happened(status: AckStatus) -> None:
    body = body_writer.write_ack_body("auth:1", status, "By noon.")
    assert body == (
        "# Acknowledgement\n\n## Message ID\nauth:1\n\n"
        f"## Status\n{status.value}\n\n## Notes\nBy noon.\n"
    )
    assert body_writer.read_ack(body) == body_writer.Ack(status, "auth:1", "By noon.")
    assert lint_message(write_ack_subject("QUESTION: x"), body).findings == ()


def test_an_ack_without_a_status_is_none() -> None:
    for body in ("", "# Acknowledgement\n", "## Status\nOK\n", "```\n## Status\nReceived\n```\n"):
        assert body_writer.read_ack(body) is None


@pytest.mark.parametrize("notes", NASTY)
def test_notes_stay_notes(notes: str) -> None:
    body = body_writer.write_ack_body("auth:1", AckStatus.ACK, notes)
    assert [part.key for part in MessageBody(body).sections] == ["message id", "status", "notes"]
    read = body_writer.read_ack(body)
    assert read is not None
    assert (read.status, read.message_id) == (AckStatus.ACK, "auth:1")
    plain = notes.replace("\r\n", "\n").replace("\r", "\n").replace("<!--", "&lt;!--")
    assert read.notes == plain.strip()


@given(WORDS, st.sampled_from(AckStatus))
def test_an_ack_is_read_back_as_written(notes: str, status: AckStatus) -> None:
    read = body_writer.read_ack(body_writer.write_ack_body("auth:1", status, notes))
    plain = notes.replace("\r\n", "\n").replace("\r", "\n").replace("<!--", "&lt;!--")
    assert read is not None
    assert (read.status, read.message_id) == (status, "auth:1")
    assert read.notes.strip() == plain.strip()


@pytest.mark.requirement("BRN-080")
def test_a_validation_error_has_the_body_of_the_document() -> None:
    body = body_writer.write_error_body(
        "auth:7", lint_message("KICKOFF: x", "## Context\n", False).findings
    )
    assert body == (
        "# Validation Error\n\n## Message\nauth:7\n\n## Errors\n"
        "- MB-002: there is no `## Research Question`, and no title (`# ...`) says it either\n"
        "- MB-003 (line 1): `## Context` is empty\n\n## Suggestion\n"
        "- write it as `# Title` or under `## Research Question`\n"
        "- say under `## Context` what one has to know\n"
    )
    assert lint_message(body_writer.write_error_subject("auth:7"), body).findings == ()


@given(st.text(), st.text())
def test_a_validation_error_stays_in_form_whatever_it_tells(subject: str, body: str) -> None:
    text = body_writer.write_error_body(subject, lint_message(subject, body).findings)
    names = [part.name for part in MessageBody(text).sections]
    assert names == [name for name in ("Message", "Errors", "Suggestion") if name in names]


@given(item=WORDS, state=WORDS, files=st.lists(st.text()), steps=st.text())
def test_a_handoff_from_any_fields_is_valid(
    item: str, state: str, files: list[str], steps: str
) -> None:
    body = body_writer.write_handoff_body(
        item=item,
        from_agent="amber-otter",
        to_agent="teal-crane",
        state=state,
        files=files,
        next_steps=steps,
    )
    checked = lint_message("HANDOFF: x to teal-crane", body, sender="amber-otter")
    assert checked.findings == ()
    part = MessageBody(body).find_section("Item")
    assert part is not None
    plain = item.replace("\r\n", "\n").replace("\r", "\n").replace("<!--", "&lt;!--")
    assert unwrap_text_block(part.filled_text).strip() == plain.strip()


@given(blocker=WORDS, needed=st.text())
def test_a_blocked_from_any_fields_is_valid(blocker: str, needed: str) -> None:
    body = body_writer.write_blocked_body(
        item="auth-7", blocker=blocker, kind="resource", needed=needed
    )
    assert lint_message("BLOCKED: auth-7", body).findings == ()


@given(question=WORDS, options=st.lists(st.text()))
def test_a_question_from_any_fields_is_valid(question: str, options: list[str]) -> None:
    fields = {"Question": question, "Options": "\n".join(options), "Urgency": "SOON"}
    body = body_writer.write_body(MessageType.QUESTION, fields)
    assert lint_message("QUESTION: x", body).findings == ()
    assert "## Urgency\nSoon\n" in body


def test_what_is_required_is_asked_for() -> None:
    with pytest.raises(Malformed) as caught:
        body_writer.write_blocked_body(item="auth-7", blocker=" ")
    assert (caught.value.code, caught.value.where) == ("field_required", "Blocker")
    with pytest.raises(Malformed) as caught:
        body_writer.write_body(MessageType.QUESTION, {"Question": "x", "Urgency": "now"})
    assert caught.value.code == "field_invalid"
    assert caught.value.hint == "one of Blocking, Soon, Whenever"


# Templates


@pytest.mark.parametrize(
    ("kind", "title", "sections"),
    [
        pytest.param(
            "KICKOFF",
            "{Title of the session or the work}",
            (
                "Research Question|Context|Excerpt|Initial Hypotheses (optional)"
                "|Constraints (optional)|Requested Outputs"
            ),
            marks=pytest.mark.requirement("BRN-008"),
        ),
        pytest.param(
            "DELTA", "Delta Contribution", "Deltas", marks=pytest.mark.requirement("BRN-017")
        ),
        pytest.param(
            "COMPILED",
            "Compiled Artifact v{N}",
            "Summary|Contributors|Statistics|Validation Status|Full Artifact",
            marks=pytest.mark.requirement("BRN-024"),
        ),
        pytest.param(
            "CRITIQUE",
            "Critique: {Title}",
            "Target|Attack|Evidence|Proposed Resolution (optional)|Severity",
            marks=pytest.mark.requirement("BRN-032"),
        ),
        pytest.param(
            "ACK",
            "Acknowledgement",
            "Message ID|Status|Notes (optional)",
            marks=pytest.mark.requirement("BRN-039"),
        ),
        pytest.param(
            "CLAIM",
            "Work Claim",
            "Item|Agent|Estimated Duration (optional)|Approach (optional)",
            marks=pytest.mark.requirement("BRN-045"),
        ),
        pytest.param(
            "HANDOFF",
            "Work Handoff",
            "Item|From|To|Reason|State|Files Modified|Next Steps",
            marks=pytest.mark.requirement("BRN-051"),
        ),
        pytest.param(
            "BLOCKED",
            "Work Blocked",
            "Item|Blocker|Type|Attempted|Needed",
            marks=pytest.mark.requirement("BRN-058"),
        ),
        pytest.param(
            "QUESTION",
            "Question",
            "Context|Question|Options (if applicable)|Impact|Urgency",
            marks=pytest.mark.requirement("BRN-066"),
        ),
        ("INFO", "Information", ""),
    ],
)
def test_a_template_has_the_sections_of_the_document(kind: str, title: str, sections: str) -> None:
    body = MessageBody(write_template(MessageType(kind)).body)
    assert body.title is not None
    assert body.title.value == title
    assert [part.name for part in body.sections] == [name for name in sections.split("|") if name]


@pytest.mark.parametrize("kind", list(MessageType))
def test_a_template_is_not_a_message_until_it_is_filled_in(kind: MessageType) -> None:
    made = write_template(kind)
    subject = made.subject.replace("{role}", "opus")
    required = [one for one in TYPES[kind].sections if one.need is SectionNeed.REQUIRED]
    assert lint_message(subject, made.body).is_valid is not bool(required)


def test_a_delta_that_still_is_the_template_says_nothing() -> None:
    body = write_template(MessageType.DELTA).body
    found = {one.rule: one.message for one in lint_message("DELTA[opus]: x", body).findings}
    assert "`rationale`" in found["MBX-033"]
    assert "`name`, `claim`, `mechanism`" in found["MBX-035"]
    merged = merge_deltas(new_artifact("t", 0), read_contributions("t:1", "amber-otter", 0, body))
    assert [one.code for one in merged.findings] == ["missing_required_field"]


def test_the_template_of_a_compilation_counts_six_things() -> None:
    said = write_template(MessageType.COMPILED).body
    assert [f"- {one}: {{N}}" in said for one in STATISTICS] == [True] * 6
