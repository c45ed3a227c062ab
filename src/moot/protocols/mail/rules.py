"""The rules of a message, one row each: id, code, sentence, check, what to do, severity.

MB-001 to MB-012 are the document's own and mean exactly what it says, with its severities
(BRN-081, BRN-082). MBX-nnn are ours, for the rows of its tables that have no id (Required: error,
Recommended: warning) and for the readings in docs/readings.md. `RULES_FOR_ALL` holds for all
messages, `RULES[type]` for those of one type: what a body must hold follows from its subject's
prefix (BRN-001). Every finding names its row's id, severity and message (BRN-003).
"""

from __future__ import annotations

from moot.core.findings import Rule, Severity
from moot.protocols.mail import checks as breach
from moot.protocols.mail import delta_checks as delta
from moot.protocols.mail import type_checks as special
from moot.protocols.mail.message_draft import MessageDraft
from moot.protocols.mail.subject import PREFIX_HINT
from moot.protocols.mail.types import MessageType

_WARN, _NOTE = Severity.WARNING, Severity.INFO
_ACK_HINT = "--ack-required, or leave the flag away: it is set by the type"
_NO_ACK_HINT = "--no-ack, or leave the flag away: it is set by the type"
_FENCE_HINT = "put each delta into a block of its own that starts with ```delta in the first column"
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
        breach.subject_not_one_line, "take out line breaks and control characters"),
    Row("MBX-004", "reply_prefix", "`Re:` before the prefix was taken off",
        breach.has_reply_prefix, "reply in the same thread with a subject of one of the ten types",
        _WARN),
    Row("MBX-005", "not_utf8", "a body is UTF-8 text", breach.not_utf8, "save the file as UTF-8"),
    Row("MBX-006", "byte_order_mark", "the byte order mark at the start is ignored",
        breach.has_byte_order_mark, "save the file without it; --fix takes it out", _NOTE),
    Row("MBX-007", "unclosed_fence", "a fenced block is closed", breach.fence_never_closed,
        "end the block with a line of the same marks", _WARN),
    Row("MBX-008", "duplicate_section", "a section stands there once", breach.section_twice,
        "join the two; only the first is read", _WARN),
    Row("MBX-009", "template_text", "template text was replaced", breach.template_text_left,
        "fill the section in, or take its heading out", _WARN),
)  # fmt: skip


def _section(
    id: str,  # noqa: A002 - as in Rule
    code: str,
    name: str,
    hint: str,
    severity: Severity = Severity.ERROR,
    *,
    requirement: str,
) -> Row:
    sentence, check = f"`## {name}` says something", breach.section_missing(name)
    return Row(id, code, sentence, check, hint, severity, requirement=requirement)


def _choice(
    id: str,  # noqa: A002 - as in Rule
    code: str,
    name: str,
    words: str,
    severity: Severity = _WARN,
    *,
    requirement: str,
) -> Row:
    sentence, check = f"`## {name}` is one of {words}", breach.no_fixed_word(name)
    hint = f"write one of {words} under `## {name}`"
    return Row(id, code, sentence, check, hint, severity, requirement=requirement)


def _owed(id: str, kind: MessageType, *requirement: str) -> Row:  # noqa: A002 - as in Rule
    return Row(id, "ack_not_set", f"{kind.value} sets ack_required: true", breach.ack_flag_differs,
               _ACK_HINT, _WARN, requirement=requirement)  # fmt: skip


def _not_owed(id: str, kind: MessageType, *requirement: str) -> Row:  # noqa: A002 - as in Rule
    return Row(id, "ack_set", f"{kind.value} does not set ack_required", breach.ack_flag_differs,
               _NO_ACK_HINT, _WARN, requirement=requirement)  # fmt: skip


_UNKNOWN_ITEM = Row("MBX-011", "unknown_item", "a work id that is named exists",
                    special.unknown_item, "check the id; a task in words is fine too", _WARN,
                    requirement="BRN-079")  # fmt: skip


def _known(*names: str) -> Row:
    return Row(
        "MBX-010",
        "unknown_agent",
        "an agent that is named is known",
        special.unknown_agent(*names),
        "`moot status` shows who is here",
        _WARN,
        requirement="BRN-079",
    )


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
    Row("MBX-037", "stray_delta", "no delta stands where it does not count", delta.stray_delta,
        _FENCE_HINT, _WARN),
    Row("MBX-038", "unknown_role", "the role is one of the usual", breach.unusual_role,
        _ROLES_HINT, _NOTE, requirement="BRN-015"),
    Row("MBX-039", "not_a_list", "what is a list in an item is given as a list", delta.no_list,
        '"anchors": ["..."]', _WARN),
    _not_owed("MBX-012", MessageType.DELTA, "BRN-016"),
)  # fmt: skip

RULES_BY_TYPE: dict[MessageType, tuple[Row, ...]] = {
    MessageType.KICKOFF: (
        Row("MB-002", "missing_research_question", "a KICKOFF has a research question",
            special.no_research_question, "write it as `# Title` or under `## Research Question`",
            requirement="BRN-009"),
        _section("MB-003", "missing_context", "Context",
                 "say under `## Context` what one has to know", requirement="BRN-010"),
        Row("MBX-020", "no_excerpt", "`## Excerpt` cites its passages as §n", special.no_citation,
            "quote what this rests on, such as: §42", _WARN, requirement="BRN-011"),
        Row("MBX-021", "unusual_length", "the question is one sentence, the context two to four",
            special.unusual_length, "a short kickoff is read by everyone", _NOTE,
            requirement="BRN-013"),
        _owed("MB-010", MessageType.KICKOFF, "BRN-007", "BRN-014"),
    ),
    MessageType.DELTA: _DELTA,
    MessageType.COMPILED: (
        Row("MBX-040", "no_version", "the title or the summary names the version",
            special.no_version, "such as `# Compiled Artifact v2`", requirement="BRN-027"),
        _section("MBX-041", "no_contributors", "Contributors",
                 "list under `## Contributors` whose deltas were merged", requirement="BRN-028"),
        Row("MBX-042", "no_statistics", "`## Statistics` has counts", special.no_counts,
            "such as `- Hypotheses: 3`", _WARN, requirement="BRN-029"),
        _not_owed("MBX-012", MessageType.COMPILED, "BRN-023"),
    ),
    MessageType.CRITIQUE: (
        _section("MB-006", "missing_target", "Target", "name under `## Target` what is attacked",
                 requirement="BRN-033"),
        _section("MB-007", "missing_attack", "Attack", "put the objection under `## Attack`",
                 requirement="BRN-034"),
        _choice("MBX-050", "no_severity", "Severity", "Critical, Major, Minor",
                requirement="BRN-035"),
        _owed("MBX-013", MessageType.CRITIQUE, "BRN-031"),
    ),
    MessageType.ACK: (
        _choice("MBX-060", "invalid_status", "Status",
                "Received, Understood, Will Action, Completed", Severity.ERROR,
                requirement="BRN-041"),
        _section("MBX-061", "no_message_id", "Message ID",
                 "`moot inbox` shows the id of the message that is answered", _WARN,
                 requirement="BRN-040"),
        _not_owed("MB-009", MessageType.ACK, "BRN-038", "BRN-042"),
    ),
    MessageType.CLAIM: (
        _section("MBX-070", "missing_item", "Item", "name a work id or the task under `## Item`",
                 requirement="BRN-046"),
        _section("MBX-071", "missing_agent", "Agent", "put your own name under `## Agent`",
                 requirement="BRN-047"),
        _known("Agent"),
        _UNKNOWN_ITEM,
        _not_owed("MBX-012", MessageType.CLAIM, "BRN-044"),
    ),
    MessageType.HANDOFF: (
        Row("MB-008", "missing_handoff_agents", "a HANDOFF has From and To agents",
            special.no_handoff_agents, "one agent's name under each of `## From` and `## To`",
            requirement="BRN-053"),
        _section("MBX-080", "missing_item", "Item", "name what is passed on under `## Item`",
                 requirement="BRN-052"),
        _section("MBX-081", "no_state", "State", "say under `## State` how far it is", _WARN,
                 requirement="BRN-054"),
        Row("MBX-082", "no_receiver_in_subject", "the subject ends with the receiver",
            special.no_receiver_in_subject, "HANDOFF: {work id or task} to {agent}", _WARN,
            requirement="BRN-048"),
        Row("MBX-083", "receiver_differs", "subject and `## To` name the same agent",
            special.receiver_differs, "name one agent in both places", _WARN,
            requirement="BRN-048"),
        Row("MBX-084", "not_the_sender", "`## From` is who sends it",
            special.sender_differs(received=False),
            "put your own name there; nobody hands over in another's name", requirement="BRN-053"),
        Row("MBX-085", "from_differs", "`## From` is who sent it",
            special.sender_differs(received=True), "ask the sender before you take it over", _WARN,
            requirement="BRN-079"),
        _known("From", "To"),
        _UNKNOWN_ITEM,
        _owed("MBX-013", MessageType.HANDOFF, "BRN-050"),
    ),
    MessageType.BLOCKED: (
        _section("MBX-090", "missing_item", "Item", "name what cannot go on under `## Item`",
                 requirement="BRN-059"),
        _section("MBX-091", "missing_blocker", "Blocker", "say under `## Blocker` what hinders it",
                 requirement="BRN-060"),
        _choice("MBX-092", "no_blocker_type", "Type", "Dependency, Question, Resource, External",
                requirement="BRN-061"),
        _UNKNOWN_ITEM,
        _owed("MB-012", MessageType.BLOCKED, "BRN-057", "BRN-062"),
    ),
    MessageType.QUESTION: (
        _section("MBX-100", "missing_question", "Question",
                 "ask under `## Question`; the title does not count", requirement="BRN-067"),
        _choice("MBX-101", "no_urgency", "Urgency", "Blocking, Soon, Whenever",
                requirement="BRN-068"),
        _owed("MB-011", MessageType.QUESTION, "BRN-065", "BRN-069"),
    ),
    MessageType.INFO: (  # BRN-070, BRN-072: no section is asked for, and nobody owes anything
        _not_owed("MBX-012", MessageType.INFO, "BRN-071"),
    ),
}  # fmt: skip
