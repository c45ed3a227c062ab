"""The rules of a session file, one row each: R1 to R20 and the sections that say more.

The tables are in the order of the checks: the version alone, the file's parts, each entry by
itself, the entries in their order. R1 to R3 compare two versions of a file and are in
`compare.py`; R5 binds `writer.py`, and who may speak is in `turns.py`. Codes in capitals
are those that other tools of this protocol know; ours are in small letters (D-06). A-nn are the
readings in docs/readings.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from moot.core.findings import Rule, Severity
from moot.protocols.debate import entry_checks as entry
from moot.protocols.debate import file_checks as file
from moot.protocols.debate.entry_checks import EntryCase
from moot.protocols.debate.entry_order import EntryRemark, RemarkKind
from moot.protocols.debate.file_checks import FileCase, Flaw, flaw_at, norm
from moot.protocols.debate.model import DebateEntry, OddityKind, TurnOrder
from moot.protocols.debate.settings import ODD_NAME_CODE, ODD_OPTION_CODE, KnownSettings

# BNC-010: a MUST of the document is an error, the default of a row; a SHOULD is a warning. The
# readings name the exceptions.
_WARNING, _INFO = Severity.WARNING, Severity.INFO
_RENAME = "give the file a name that ends with .md"
_HEADER = "begin the file with the three lines <!-- bounce-protocol: 0.1 -->, created, session-id"
_FORM = "write it as <!-- key: value -->, with single spaces"
_V4 = "`moot debate new` makes real version 4 ids"
_SETTING = "the message says what is allowed; `moot debate new --help` lists the nine settings"
_ALL_FIELDS = "stance, confidence, summary, action_requested, evidence; n/a where there is none"
NO_TURN_LEFT_CODE: Final = "no_turn_left"
NOT_CLOSING_CODE: Final = "not_a_closing"
_LATER = "a later version may know it; it is ignored here"

# R9: checked before anything else; after a finding nothing else is checked.
VERSION_RULES: Final = (
    norm("R9", "version_major", "only major version 0 is known here", file.other_major,
         "read this file with a program for its version",
         requirement=("BNC-022", "BNC-108", "BNC-109", "BNC-163")),
)  # fmt: skip

FILE_RULES: Final = (
    norm("3", "encoding", "the file is not UTF-8", file.reader_noticed(OddityKind.ENCODING),
         "save it as UTF-8", requirement="BNC-001"),
    norm("3", "lone_cr", "a line ends with a lone CR", file.reader_noticed(OddityKind.LONE_CR),
         "save it with LF line endings", requirement="BNC-001"),
    norm("3", "crlf", "lines end with CR LF", file.reader_noticed(OddityKind.CRLF),
         "save it with LF line endings", _WARNING, requirement="BNC-001"),
    norm("3", "byte_order_mark", "the file begins with a byte order mark",
         file.reader_noticed(OddityKind.BYTE_ORDER_MARK), "save it as UTF-8 without a mark",
         _WARNING, requirement="BNC-001"),
    norm("3", "file_extension", "a session file is named .md", file.other_extension, _RENAME,
         _WARNING, requirement="BNC-002"),
    norm("3.1", "MISSING_PROTOCOL_VERSION", "the header line bounce-protocol is missing",
         file.header_line_missing("bounce-protocol"), _HEADER, requirement="BNC-020"),
    norm("3.1", "MISSING_CREATED", "the header line created is missing",
         file.header_line_missing("created"), _HEADER, requirement="BNC-023"),
    norm("3.1", "MISSING_SESSION_ID", "the header line session-id is missing",
         file.header_line_missing("session-id"), _HEADER,
         requirement=("BNC-024", "BNC-028", "BNC-149", "BNC-153")),
    norm("3.1", "header_order", "the header lines are in another order", file.header_permuted,
         _HEADER, requirement="BNC-019"),
    norm("3.1", "header_not_first", "the header is not the first three lines",
         file.header_not_first, _HEADER, requirement="BNC-018"),
    norm("3.1", "header_form", "a header line is not written exactly", file.header_inexact, _FORM,
         requirement="BNC-027"),
    norm("3.1", "header_extra", "the header has exactly three lines", file.header_extra(False),
         "remove the further comment", requirement="BNC-018"),
    norm("R9", "header_extra", "a header line we do not know", file.header_extra(True), _LATER,
         _INFO, requirement=("BNC-110", "BNC-162")),
    norm("3.1", "INVALID_PROTOCOL_VERSION", "the version is not MAJOR.MINOR", file.bad_version,
         "write 0.1", requirement="BNC-021"),
    norm("R9", "older_minor", "an earlier minor version, read as 0.1", file.other_minor(True),
         "write 0.1", _WARNING, requirement="BNC-163"),
    norm("R9", "newer_minor", "a later minor version, read as far as 0.1 goes",
         file.other_minor(False), _LATER, _INFO, requirement=("BNC-110", "BNC-162", "BNC-163")),
    norm("3.1", "INVALID_CREATED_FORMAT", "created is not a date and time with a zone",
         file.bad_created, "such as 2026-02-18T14:30:00Z", requirement="BNC-023"),
    norm("3.1", "INVALID_SESSION_ID_FORMAT", "session-id is not a lower-case UUID",
         file.bad_session_id, "five groups of 8-4-4-4-12 hex digits, not all zero",
         requirement=("BNC-025", "BNC-028")),
    norm("3.1", "uuid_not_v4", "session-id is a UUID, but not of version 4",
         file.session_id_not_v4(False), _V4, _WARNING, requirement="BNC-025"),
    norm("3.1", "uuid_not_v4", "session-id is not a UUID of version 4",
         file.session_id_not_v4(True), _V4, requirement="BNC-025"),
    norm("3.2", "MISSING_TITLE", "there is no title `# Bounce Session: NAME`", file.no_title,
         "write it right below the header", requirement="BNC-029"),
    norm("3.2", "EMPTY_TITLE", "the session has no name", file.empty_title,
         "say after `# Bounce Session:` what it is about", requirement="BNC-030"),
    norm("3.2", "text_before_title", "only the header is above the title",
         file.reader_noticed(OddityKind.TEXT_BEFORE_TITLE), "move it into the Context section",
         requirement=("BNC-018", "BNC-029")),
    norm("3.3", "MISSING_RULES_SECTION", "there is no section `## Protocol Rules`",
         file.no_section("Protocol Rules"), "write it below the title",
         requirement=("BNC-003", "BNC-119")),
    norm("3.4", "MISSING_CONTEXT_SECTION", "there is no section `## Context`",
         file.no_section("Context"), "write it below the rules",
         requirement=("BNC-003", "BNC-060")),
    norm("3.5", "MISSING_DIALOGUE_SECTION", "there is no section `## Dialogue`",
         file.no_section("Dialogue"), "write it below the context; entries follow it",
         requirement="BNC-003"),
    norm("3", "section_order", "the parts are in another order", file.sections_permuted,
         "title, Protocol Rules, Context, Dialogue", requirement="BNC-003"),
    norm("3", "duplicate_section", "a section is there twice", file.section_given_twice,
         "keep the first one", requirement="BNC-003"),
    norm("3.4", "unknown_section", "a section that the format does not know", file.unknown_section,
         "use headings of level 3 inside the Context", _WARNING, requirement="BNC-060"),
    norm("3.2", "extra_title", "a second level-1 heading",
         file.reader_noticed(OddityKind.EXTRA_HEADING),
         "use headings of level 3 inside the Context", _WARNING, requirement="BNC-029"),
    norm("3.4", "context_empty", "the Context says nothing", file.empty_context,
         "say what is to be decided, and what is known", _WARNING, requirement="BNC-060"),
    norm("3.3", "rules_block_missing", "Protocol Rules has no code block", file.no_rules_block,
         "put the settings into a block fenced with ```yaml", requirement="BNC-032"),
    norm("5", "MISSING_REQUIRED_RULE", "a setting is required",
         file.setting_problem("MISSING_REQUIRED_RULE"), _SETTING, requirement="BNC-033"),
    norm("5", "INVALID_RULE_VALUE", "a setting has a value that is not allowed",
         file.setting_problem("INVALID_RULE_VALUE"), _SETTING, requirement="BNC-058"),
    norm("5", ODD_NAME_CODE, "an agent's name has a form that other programs may refuse",
         file.setting_problem(ODD_NAME_CODE),
         "lower-case letters, digits and hyphens, two or more", _WARNING, requirement="BNC-037"),
    norm("R19", ODD_OPTION_CODE, "an option has a value we do not know, so it does not count",
         file.setting_problem(ODD_OPTION_CODE), "fix the comment under the rules block", _WARNING,
         requirement="BNC-127"),
    norm("5", "DUPLICATE_AGENT_NAME", "agents' names are unique",
         file.setting_problem("DUPLICATE_AGENT_NAME"), "list every agent once",
         requirement="BNC-035"),
    norm("5", "EMPTY_AGENTS_LIST", "a session needs at least one agent",
         file.setting_problem("EMPTY_AGENTS_LIST"), "list the agents, one `- name` on each line",
         requirement="BNC-034"),
    norm("3.3", "rules_unreadable", "a line of the rules block is not `key: value` or `- item`",
         file.unread_setting, "no anchors, tags, maps or second documents", requirement="BNC-058"),
    norm("3.3", "duplicate_rule", "a setting is given twice", file.setting_given_twice,
         "keep one of them", requirement="BNC-058"),
    norm("3.3", "unknown_rule", "a setting that the format does not know",
         file.unknown_setting(False), "remove it, or check its spelling", _WARNING,
         requirement=("BNC-058", "BNC-159")),
    norm("R9", "unknown_rule", "a setting we do not know", file.unknown_setting(True), _LATER,
         _INFO, requirement=("BNC-110", "BNC-162")),
    norm("R20", "comment_multiline", "a comment of the protocol spans lines",
         file.reader_noticed(OddityKind.MULTILINE_COMMENT), "write it on one line",
         requirement="BNC-128"),
    norm("3.5", "stray_text", "text in the Dialogue that belongs to no entry",
         file.reader_noticed(OddityKind.STRAY_TEXT), "put it into an entry", _WARNING,
         requirement="BNC-067"),
)  # fmt: skip

ENTRY_RULES: Final = (
    norm("4.2", "MISSING_ENTRY_ID", "an entry begins with <!-- entry: UUID -->", entry.no_id,
         _FORM, requirement="BNC-068"),
    norm("R7", "invalid_entry_id", "the id of an entry is not a lower-case UUID", entry.bad_id,
         "five groups of 8-4-4-4-12 hex digits, not all zero", requirement="BNC-068"),
    norm("R7", "uuid_not_v4", "the id of an entry is a UUID, but not of version 4",
         entry.id_not_v4(False), "`moot debate add` makes real version 4 ids", _WARNING,
         requirement="BNC-105"),
    norm("R7", "uuid_not_v4", "the id of an entry is not a UUID of version 4",
         entry.id_not_v4(True), "`moot debate add` makes real version 4 ids",
         requirement="BNC-105"),
    norm("4.2", "MISSING_TURN_ROUND", "an entry has <!-- turn: N round: M -->, both from 1",
         entry.no_position, "write it right below the entry's id", requirement="BNC-070"),
    norm("4.3", "MISSING_STATUS_LINE", "an entry has a line TIME [author: NAME] [status: WORD]",
         entry.no_status_line, "write it right below turn and round, with one author",
         requirement=("BNC-013", "BNC-072")),
    norm("4.3", "INVALID_ENTRY_STATUS", "the status is none of the four", entry.bad_status,
         "open, in_progress, closed or yield", requirement="BNC-073"),
    norm("4.3", "invalid_timestamp", "the time of an entry is not a date and time with a zone",
         entry.bad_time, "such as 2026-02-18T14:30:00Z", requirement="BNC-072"),
    norm("4.4", "duplicate_field", "one entry, one vote: the field is given twice",
         entry.field_given_twice(True), "keep one of them", requirement="BNC-067"),
    norm("4.4", "field_again", "the field is given twice; the first counts",
         entry.field_given_twice(False), "keep one of them", _WARNING, requirement="BNC-067"),
    norm("4.4", "field_order", "the fields are in another order", entry.fields_permuted,
         _ALL_FIELDS, _WARNING, requirement="BNC-067"),
    norm("4.4", "unknown_field", "a field that the format does not know",
         entry.unknown_field(False), "a blank line divides the fields from the body", _WARNING,
         requirement="BNC-110"),
    norm("R9", "unknown_field", "a field we do not know", entry.unknown_field(True), _LATER, _INFO,
         requirement=("BNC-110", "BNC-162")),
    norm("R4", "MISSING_YIELD_MARKER", "the entry is incomplete: it has no <!-- yield -->",
         entry.not_yielded(False), "its author writes <!-- yield --> alone on a line",
         requirement=("BNC-092", "BNC-096", "BNC-150")),
    norm("R6", "MISSING_YIELD_MARKER", "another entry begins before this one was yielded",
         entry.not_yielded(True), "append whole entries: `moot debate add`", _WARNING,
         requirement="BNC-104"),
    norm("4.6", "status_disagrees", "the marker says complete, the status says otherwise",
         entry.status_says_unfinished, "the marker counts; write status yield", _WARNING,
         requirement="BNC-096"),
)  # fmt: skip

# 4.4: structured output requires a vote, in free text it may be left out.
STRUCTURED_RULES: Final = (
    norm("4.4", "MISSING_REQUIRED_FIELD", "a field is required where the output is structured",
         entry.missing_field, _ALL_FIELDS, requirement=("BNC-056", "BNC-079", "BNC-086")),
    norm("R10", "INVALID_STANCE", "the stance is none of the four", entry.bad_stance,
         "approve, reject, neutral or defer", requirement=("BNC-080", "BNC-111", "BNC-151")),
    norm("R11", "INVALID_CONFIDENCE", "the confidence is not a decimal number",
         entry.bad_confidence(False), "a number from 0.0 to 1.0, such as 0.8",
         requirement="BNC-112"),
    norm("R11", "CONFIDENCE_OUT_OF_RANGE", "the confidence is beyond 0.0 to 1.0",
         entry.bad_confidence(True), "1.0 is already certain",
         requirement=("BNC-082", "BNC-112", "BNC-152")),
)  # fmt: skip

FREE_TEXT_RULES: Final = (
    norm("4.4", "INVALID_STANCE", "the stance is none of the four, so it is no vote",
         entry.bad_stance, "approve, reject, neutral or defer", _WARNING,
         requirement=("BNC-057", "BNC-079")),
    norm("4.4", "INVALID_CONFIDENCE", "the confidence is not a decimal number, so it is no vote",
         entry.bad_confidence(False), "a number from 0.0 to 1.0, such as 0.8", _WARNING,
         requirement=("BNC-057", "BNC-079")),
    norm("4.4", "CONFIDENCE_OUT_OF_RANGE", "the confidence is beyond 0.0 to 1.0, so it is no vote",
         entry.bad_confidence(True), "1.0 is already certain", _WARNING,
         requirement=("BNC-057", "BNC-079")),
)  # fmt: skip

# Only for entries in which the reader noticed something odd: most have nothing.
ODDITY_RULES: Final = (
    norm("4.4", "summary_long", "a summary has one or two lines",
         entry.reader_noticed(OddityKind.LONG_SUMMARY), "say the rest in the body", _WARNING,
         requirement="BNC-085"),
    norm("4.5", "no_blank_line", "a blank line divides the fields from the body",
         entry.reader_noticed(OddityKind.NO_BLANK_LINE), "put one in", _WARNING,
         requirement="BNC-089"),
    norm("4.5", "heading_in_body", "level-1 and level-2 headings are for the session itself",
         entry.reader_noticed(OddityKind.HEADING_IN_BODY), "use ### or a smaller heading",
         requirement="BNC-091"),
    norm("4.5", "setext_in_body", "an underlined heading is one of level 1 or 2",
         entry.reader_noticed(OddityKind.SETEXT_IN_BODY),
         "use ###, or a blank line above the rule", _WARNING, requirement="BNC-091"),
    norm("4.6", "unclosed_block", "a code block or comment in the body is never closed",
         entry.reader_noticed(OddityKind.UNCLOSED_BLOCK),
         "Moot reads it up to the marker; close it", _WARNING, requirement="BNC-092"),
    norm("R20", "comment_form", "a comment of the protocol is not written exactly",
         entry.reader_noticed(OddityKind.COMMENT_FORM), _FORM, requirement="BNC-128"),
    norm("R20", "trailing_space", "blanks follow a comment of the protocol",
         entry.reader_noticed(OddityKind.TRAILING_SPACE), "remove them", _WARNING,
         requirement="BNC-128"),
    norm("4.2", "blank_in_head", "a blank line inside the head of an entry",
         entry.reader_noticed(OddityKind.BLANK_IN_HEAD),
         "id, turn and status are the first three lines; remove the blank line",
         requirement=("BNC-067", "BNC-068")),
)  # fmt: skip

_ROWS: Final = {
    (structured, is_odd): (*ENTRY_RULES, *votes, *(ODDITY_RULES if is_odd else ()))
    for structured, votes in ((True, STRUCTURED_RULES), (False, FREE_TEXT_RULES))
    for is_odd in (True, False)
}


def rules_for_entry(written: DebateEntry, seen: FileCase) -> tuple[Rule[EntryCase], ...]:
    """Return the rows for this entry of this file.

    BNC-126: they are the same for every author, the judge and the system included.
    """
    return _ROWS[seen.settings.is_structured, bool(written.oddities)]


class OrderCase(NamedTuple):
    """What the walk through the entries remarked on, in a session with these settings."""

    settings: KnownSettings
    remarks: Iterable[EntryRemark]


def _if_remarked(
    kind: RemarkKind, only: Callable[[KnownSettings], bool] = lambda _known: True
) -> Callable[[OrderCase], Iterator[Flaw]]:
    def check(walked: OrderCase) -> Iterator[Flaw]:
        for remark in walked.remarks:
            if remark.kind is kind and only(walked.settings):
                yield flaw_at(remark.entry.line, remark.text, _name_entry(remark.entry))

    return check


def _name_entry(written: DebateEntry) -> str:
    return written.id or f"entry {written.index + 1}"


def _is_free_form(known: KnownSettings) -> bool:
    return known.rules is not None and known.rules.turn_order is TurnOrder.FREE_FORM


def _is_ordered(known: KnownSettings) -> bool:
    return not _is_free_form(known)


ORDER_RULES: Final = (
    norm("R7", "DUPLICATE_ENTRY_ID", "the same entry is there again and is ignored",
         _if_remarked(RemarkKind.DOUBLE), "nothing is lost; ids are for one entry each", _WARNING,
         requirement="BNC-106"),
    norm("R7", "duplicate_entry_conflict", "another entry under a known id is ignored",
         _if_remarked(RemarkKind.CONFLICTING_DOUBLE), "its author appends it again under a new id",
         requirement="BNC-106"),
    norm("R8", "ROUND_NOT_MONOTONIC", "turns and rounds never go back",
         _if_remarked(RemarkKind.BACKWARDS),
         "the file is damaged, or two agents wrote at once; fix a copy of it",
         requirement=("BNC-107", "BNC-113", "BNC-155")),
    norm("R8", "duplicate_turn", "two entries have the same turn and round",
         _if_remarked(RemarkKind.SAME_PLACE, _is_ordered), "`moot debate add` counts them",
         _WARNING, requirement="BNC-015"),
    norm("R8", "duplicate_turn", "two entries have the same turn and round",
         _if_remarked(RemarkKind.SAME_PLACE, _is_free_form), "usual where several write at once",
         _INFO, requirement="BNC-015"),
    norm("R8", "turn_gap", "a turn or round is left out", _if_remarked(RemarkKind.GAP),
         "`moot debate add` counts them", _WARNING, requirement="BNC-015"),
    norm("R12", "UNKNOWN_AGENT", "the author is not one of the agents",
         _if_remarked(RemarkKind.UNKNOWN_AGENT),
         "only listed agents take part; judge and system after the end",
         requirement=("BNC-114", "BNC-125", "BNC-154")),
    norm("R13", "OUT_OF_ORDER_TURN", "an agent spoke before one that is above it in the list",
         _if_remarked(RemarkKind.OUT_OF_ORDER), "the entry stays; keep to the listed order",
         _WARNING, requirement="BNC-116"),
    norm("R14", "OUT_OF_ORDER_TURN", "someone else was named to speak",
         _if_remarked(RemarkKind.NOT_NAMED), "the entry stays; wait until you are named", _WARNING,
         requirement="BNC-117"),
    norm("R14", "ambiguous_next", "the last entry names several agents",
         _if_remarked(RemarkKind.AMBIGUOUS_NEXT), "name one; `moot debate add --next AGENT` does",
         _WARNING, requirement="BNC-087"),
    norm("R14", NO_TURN_LEFT_CODE, "the agent that is named has no turn left in this round",
         _if_remarked(RemarkKind.NO_TURN_LEFT),
         "the supervisor begins the next round: `moot debate add FILE --round N --next AGENT`",
         _WARNING, requirement="BNC-117"),
    norm("R13", "missing_turn", "an agent made fewer entries than it had turns",
         _if_remarked(RemarkKind.MISSING_TURN), "it counts as not approving", _WARNING,
         requirement="BNC-116"),
    norm("3.3", "max_turns", "more entries in a round than max-turns-per-round",
         _if_remarked(RemarkKind.TOO_MANY_TURNS), "wait for the next round", requirement="BNC-042"),
    norm("R17", "max_rounds", "an entry beyond the last round",
         _if_remarked(RemarkKind.BEYOND_LAST_ROUND), "begin a new session", requirement="BNC-054"),
    norm("R18", "after_end", "an entry after the session had ended",
         _if_remarked(RemarkKind.AFTER_END), "begin a new session", _WARNING,
         requirement=("BNC-124", "BNC-143")),
    norm("R17", NOT_CLOSING_CODE, "status closed, but it is not taken as the end of the session",
         _if_remarked(RemarkKind.NOT_CLOSING),
         "`moot --as NAME debate close FILE` closes it; by hand a person does, one named human-..."
         " or in `debate new --people`, who begins with `Session closed.`",
         _WARNING, requirement="BNC-122"),
    norm("4.3", NOT_CLOSING_CODE, "status closed completes the entry; the session goes on",
         _if_remarked(RemarkKind.ONLY_COMPLETE), "write yield to pass the turn on", _INFO,
         requirement="BNC-122"),
    norm("4.3", "time_goes_back", "the time is earlier than that of the entry above",
         _if_remarked(RemarkKind.TIME_BACK), "check the clocks", _WARNING, requirement="BNC-072"),
    norm("4.3", "before_created", "the time is earlier than that of the session",
         _if_remarked(RemarkKind.BEFORE_CREATED), "check the clocks", _WARNING,
         requirement="BNC-072"),
    norm("3.3", "late_entry", "the entry came after its turn-timeout",
         _if_remarked(RemarkKind.LATE), "it counts all the same", _INFO, requirement="BNC-095"),
)  # fmt: skip
