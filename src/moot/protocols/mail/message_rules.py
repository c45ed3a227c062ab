"""The rules of a message, one row each: id, code, sentence, check, what to do, severity.

MB-001 to MB-012 are the document's own and mean exactly what it says, with its severities
(BRN-081, BRN-082). MBX-nnn are ours, for the rows of its tables that have no id (Required: error,
Recommended: warning) and for the readings in docs/readings.md. `RULES_FOR_ALL` holds
for all messages, `RULES_BY_TYPE[type]` for those of one type, made from its row of `TYPES`: what a
body must hold follows from its subject's prefix (BRN-001). Every finding names its row's id,
severity and message (BRN-003).
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import islice
from operator import attrgetter

import msgspec

from moot.core.findings import Finding, Rule, Severity, select_errors
from moot.protocols.mail import checks as breach
from moot.protocols.mail import delta_checks as delta
from moot.protocols.mail.checks import Check
from moot.protocols.mail.message import PREFIX_HINT, MessageDraft
from moot.protocols.mail.types import (
    TYPES,
    MessageType,
    SectionNeed,
    SectionRule,
    SectionSpec,
    TypeSpec,
)

_WARN, _NOTE = Severity.WARNING, Severity.INFO
_ACK_HINT = "--ack-required, or leave the flag out: the type sets it"
_NO_ACK_HINT = "--no-ack, or leave the flag out: the type sets it"
_FENCE_HINT = "put each delta into its own block that starts with ```delta in the first column"
_SECTIONS_HINT = (
    "hypothesis_slate, predictions_table, discriminative_tests, assumption_ledger, "
    "anomaly_register, adversarial_critique or research_thread"
)
_ROLES_HINT = (
    "opus, gpt, gemini, claude, human, hypothesis_generator, test_designer or "
    "adversarial_critic are understood everywhere"
)

Row = Rule[MessageDraft]

RULES_FOR_ALL: tuple[Row, ...] = (
    Row("MB-001", "invalid_subject_prefix", "the subject has a valid prefix",
        breach.no_valid_prefix, PREFIX_HINT, requirement="BRN-005"),
    Row("MBX-001", "empty_subject_description", "the subject says something after its prefix",
        breach.no_description, "write a few words after the colon",
        requirement=("BRN-006", "BRN-030", "BRN-037", "BRN-043", "BRN-055", "BRN-063")),
    Row("MBX-002", "subject_too_long", "a subject has at most 120 characters",
        breach.subject_too_long, "shorten it, and put the rest into the body", _WARN),
    Row("MBX-003", "subject_not_one_line", "a subject is one line without control characters",
        breach.subject_not_one_line, "remove line breaks and control characters"),
    Row("MBX-004", "reply_prefix", "`Re:` before the prefix is ignored",
        breach.has_reply_prefix, "reply in the same thread with a subject of one of the ten types",
        _WARN),
    Row("MBX-005", "not_utf8", "a body is UTF-8 text", breach.not_utf8, "save the file as UTF-8"),
    Row("MBX-006", "byte_order_mark", "the byte order mark at the start is ignored",
        breach.has_byte_order_mark, "save the file without it; --fix removes it", _NOTE),
    Row("MBX-007", "unclosed_fence", "a fenced block is closed", breach.fence_never_closed,
        "end the block with a line of the same marks", _WARN),
    Row("MBX-008", "duplicate_section", "a section is there once", breach.section_twice,
        "join the two; only the first is read", _WARN),
    Row("MBX-009", "template_text", "template text was replaced", breach.template_text_left,
        "fill the section in, or remove its heading", _WARN),
)  # fmt: skip


# Rules with another check than that the section says something, in place of the one in `TYPES`.
_OWN_CHECKS: dict[str, tuple[str, Check]] = {
    "MB-002": ("a KICKOFF has a research question", breach.no_research_question),
    "MB-008": ("a HANDOFF has From and To agents", breach.no_handoff_agents),
    "MBX-020": ("`## Excerpt` cites its passages as §n", breach.no_citation),
    "MBX-042": ("`## Statistics` has counts", breach.no_counts),
}


def _section(section: SectionSpec, rule: SectionRule) -> Row:
    """Make the row of a section that must or should say something."""
    severity = Severity.ERROR if section.need is SectionNeed.REQUIRED else _WARN
    name, words, hint = section.heading, ", ".join(section.choices), rule.hint
    sentence, check = f"`## {name}` says something", breach.section_missing(name)
    if section.choices:
        sentence, check = f"`## {name}` is one of {words}", breach.no_fixed_word(name)
        hint = hint or f"write one of {words} under `## {name}`"
    sentence, check = _OWN_CHECKS.get(rule.id, (sentence, check))
    return Row(rule.id, rule.code, sentence, check, hint, severity, requirement=rule.requirement)


def _ack_flag(spec: TypeSpec) -> Row:
    """Make the row about the flag: set if the type owes an ACK, else not."""
    name, needs = spec.type.value, spec.ack_requirements
    if spec.ack_required:
        return Row(spec.ack_rule or "MBX-013", "ack_not_set", f"{name} sets ack_required: true",
                   breach.ack_flag_differs, _ACK_HINT, _WARN, requirement=needs)  # fmt: skip
    return Row(spec.ack_rule or "MBX-012", "ack_set", f"{name} does not set ack_required",
               breach.ack_flag_differs, _NO_ACK_HINT, _WARN, requirement=needs)  # fmt: skip


def _names(spec: TypeSpec) -> Iterator[Row]:
    """Make the rows about sections that name an agent or a work item."""
    agents = [section.heading for section in spec.sections if section.names == "agent"]
    if agents:
        yield Row("MBX-010", "unknown_agent", "an agent that is named is known",
                  breach.unknown_agent(*agents), "`moot status` shows who is here", _WARN,
                  requirement="BRN-079")  # fmt: skip
    if any(section.names == "item" for section in spec.sections):
        yield _UNKNOWN_ITEM


_UNKNOWN_ITEM = Row("MBX-011", "unknown_item", "a work id that is named exists",
                    breach.unknown_item, "check the id; a task in words is fine too", _WARN,
                    requirement="BRN-079")  # fmt: skip

_DELTA: tuple[Row, ...] = (
    Row("MB-004", "no_delta_block", "a DELTA has at least one delta block", delta.no_delta_block,
        _FENCE_HINT, requirement="BRN-018"),
    Row("MB-005", "invalid_delta_json", "each delta block parses as JSON", delta.not_json,
        "strict JSON: no comments, no trailing commas, no NaN, every key once",
        requirement="BRN-019"),
    Row("MBX-030", "delta_not_object", "a delta block holds one JSON object", delta.not_an_object,
        "one block for each delta: {...}, not [...]", requirement="BRN-021"),
    Row("MBX-031", "invalid_operation", "`operation` is ADD, EDIT or KILL", delta.no_operation,
        '"operation": "ADD", "EDIT" or "KILL", in capitals', requirement="BRN-020"),
    Row("MBX-032", "invalid_section", "`section` is one of the artifact's seven",
        delta.unknown_section, _SECTIONS_HINT, _WARN),
    Row("MBX-033", "missing_delta_field", "a delta has section, target_id, payload and rationale",
        delta.missing_fields, "`moot mail template DELTA` shows a whole one", _WARN,
        requirement="BRN-021"),
    Row("MBX-034", "invalid_target", "EDIT and KILL name an item of their section, ADD does not",
        delta.wrong_target, "target_id: null to add, an id such as H2 to edit or kill", _WARN),
    Row("MBX-035", "missing_required_field", "the payload says what its section asks",
        delta.incomplete_payload, "add the fields that are named; a KILL gives a reason", _WARN),
    Row("MBX-036", "rt_add_not_allowed", "the research thread is only edited",
        delta.research_thread_not_edited, '"operation": "EDIT" with target_id null or "RT"', _WARN),
    Row("MBX-037", "stray_delta", "no delta is in a place where it does not count",
        delta.stray_delta,
        _FENCE_HINT, _WARN),
    Row("MBX-038", "unknown_role", "the role is one of the usual", breach.unusual_role,
        _ROLES_HINT, _NOTE, requirement="BRN-015"),
    Row("MBX-039", "not_a_list", "what is a list in an item is given as a list", delta.no_list,
        '"anchors": ["..."]', _WARN),
)  # fmt: skip

# What only one type asks, in addition to its sections.
_OF_ONE_TYPE: dict[MessageType, tuple[Row, ...]] = {
    MessageType.KICKOFF: (
        Row("MBX-021", "unusual_length", "the question is one sentence, the context two to four",
            breach.unusual_length, "a short kickoff is read by everyone", _NOTE,
            requirement="BRN-013"),
    ),
    MessageType.DELTA: _DELTA,
    MessageType.COMPILED: (
        Row("MBX-040", "no_version", "the title or the summary names the version",
            breach.no_version, "such as `# Compiled Artifact v2`", requirement="BRN-027"),
    ),
    MessageType.HANDOFF: (
        Row("MBX-082", "no_receiver_in_subject", "the subject ends with the receiver",
            breach.no_receiver_in_subject, "HANDOFF: {work id or task} to {agent}", _WARN,
            requirement="BRN-048"),
        Row("MBX-083", "receiver_differs", "subject and `## To` name the same agent",
            breach.receiver_differs, "name one agent in both places", _WARN,
            requirement="BRN-048"),
        Row("MBX-084", "not_the_sender", "`## From` is who sends it",
            breach.sender_differs(received=False),
            "put your own name there: an agent hands over only its own work",
            requirement="BRN-053"),
        Row("MBX-085", "from_differs", "`## From` is who sent it",
            breach.sender_differs(received=True), "ask the sender before you take it over", _WARN,
            requirement="BRN-079"),
    ),
}  # fmt: skip


def _rows(spec: TypeSpec) -> tuple[Row, ...]:
    """List what one type asks: its sections and its own rows by id, names, the ACK flag."""
    sections = {part.rule.id: _section(part, part.rule) for part in spec.sections if part.rule}
    own = (*sections.values(), *_OF_ONE_TYPE.get(spec.type, ()))
    return (*sorted(own, key=attrgetter("id")), *_names(spec), _ack_flag(spec))


RULES_BY_TYPE: dict[MessageType, tuple[Row, ...]] = {
    kind: _rows(spec) for kind, spec in TYPES.items()
}


# `lint_message`: every finding about one message, with its line and what to do.
#
# Any text gives an answer. A received message differs from one of ours in three ways: `Re:` is
# removed with a warning, a missing ack flag counts as false instead of what its type asks for, and
# a From that is not the sender is a warning instead of an error.

# A rule reports at most so many places of one message: a body may have a million of them.
MAX_BREACHES = 50


class LintedMessage(msgspec.Struct, frozen=True):
    """A message that was checked; `type` is None if its subject has no valid prefix."""

    type: MessageType | None
    role: str
    ack_required: bool
    findings: tuple[Finding, ...]

    @property
    def is_valid(self) -> bool:
        """No errors; warnings and notes leave a message valid."""
        return not select_errors(self.findings)


def lint_message(
    subject: str,
    body: str | bytes,
    ack_required: bool | None = None,
    *,
    received: bool = False,
    sender: str = "",
    agents: Container[str] | None = None,
    items: Container[str] | None = None,
) -> LintedMessage:
    """Check one message; `ack_required` is None if it has no flag.

    `agents` and `items` are all known names; any other name gives a warning. None: unknown.
    """
    return lint_draft(
        MessageDraft(
            subject,
            body,
            ack_required,
            received=received,
            sender=sender,
            agents=agents,
            items=items,
        )
    )


def lint_draft(draft: MessageDraft) -> LintedMessage:
    """Check a message that was read already: the rows for all types, then its type's (BRN-001)."""
    rows = RULES_FOR_ALL + (RULES_BY_TYPE[draft.type] if draft.type else ())
    findings = tuple(finding for row in rows for finding in _check_row(row, draft))
    role = draft.subject.role if draft.subject else ""
    return LintedMessage(draft.type, role, draft.ack_required, findings)


def _check_row(row: Row, draft: MessageDraft) -> Iterator[Finding]:
    for place in islice(row.check(draft), MAX_BREACHES):
        yield row.finding(*place)
