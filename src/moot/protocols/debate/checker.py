"""Bytes or a document -> findings: every rule asked, every breach with its line and a hint.

`check_session` never raises. Its answer includes what it found out about the session (its rules,
its course, which entries are rejected), so that nothing is computed twice. BNC-156: a flaw is
reported once, under its own rule, and not again by its consequences: another version, unreadable
settings and an entry that is still being written suppress the rest.
"""

from __future__ import annotations

import msgspec

from moot.core.findings import Finding, Severity, check_all, select_errors
from moot.protocols.debate.course import Course, follow_entries
from moot.protocols.debate.entry_checks import EntryCase
from moot.protocols.debate.entry_order import EntryRemark, RemarkKind, drop_doubles, remark_on_order
from moot.protocols.debate.file_checks import FileCase
from moot.protocols.debate.file_rules import (
    FILE_RULES,
    ORDER_RULES,
    VERSION_RULES,
    OrderCase,
    rules_for_entry,
)
from moot.protocols.debate.model import (
    SPEAKERS_AFTER_END,
    SessionDocument,
    parse_time,
)
from moot.protocols.debate.reader import read_document
from moot.protocols.debate.settings import KnownSettings, interpret_settings

_INCOMPLETE = "MISSING_YIELD_MARKER"


class CheckedSession(msgspec.Struct, frozen=True):
    """A document and what was found; `course` only if its settings are sound."""

    document: SessionDocument
    settings: KnownSettings
    findings: tuple[Finding, ...]
    rejected: frozenset[int]
    course: Course | None

    @property
    def valid(self) -> bool:
        return not select_errors(self.findings)

    @property
    def has_blocking_errors(self) -> bool:
        """Errors forbid a verdict (A-53); an entry that is being written is none here (A-75)."""
        return any(finding.code != _INCOMPLETE for finding in select_errors(self.findings))

    @property
    def entry_count(self) -> int:
        """How many entries there are, doubles left out (R7)."""
        return len(drop_doubles(self.document)[0])


def check_session(
    data: bytes | str,
    *,
    strict_uuid: bool = False,
    file_name: str | None = None,
    lenient: bool = False,
) -> CheckedSession:
    """Judge a session file: every finding has its rule, severity and line (BNC-171).

    `strict_uuid` makes ids of another version than 4 errors (A-01), `lenient` lets agents have
    names that the schema does not allow (A-14).
    """
    return check_document(
        read_document(data), strict_uuid=strict_uuid, file_name=file_name, lenient=lenient
    )


def check_document(
    document: SessionDocument,
    *,
    strict_uuid: bool = False,
    file_name: str | None = None,
    lenient: bool = False,
) -> CheckedSession:
    """Judge a document that has been read."""
    version = check_all(VERSION_RULES, document)
    if version:
        # BNC-022, BNC-108: the rest may mean something else in another major version (R9).
        return CheckedSession(document, KnownSettings(), version, frozenset(), None)
    known = interpret_settings(document.settings, lenient)
    seen = FileCase(document, known, strict_uuid, file_name)
    findings = list(check_all(FILE_RULES, seen))
    rejected = _check_entries(seen, findings)
    course = follow_entries(document, known.rules, rejected) if known.rules else None
    findings += check_all(ORDER_RULES, OrderCase(known, _remarks(document, known, course)))
    findings = _spare_unfinished_entry(document, findings)
    if course is not None and select_errors(findings):
        course = _leave_undecided(document, course, rejected, findings)
    in_file_order = sorted(findings, key=lambda finding: finding.line or 0)
    return CheckedSession(document, known, tuple(in_file_order), rejected, course)


def _spare_unfinished_entry(document: SessionDocument, findings: list[Finding]) -> list[Finding]:
    """A-75: report only one error of a last entry without a marker: that it is incomplete.

    Its author may still be writing, and may replace all of it (A-34).
    """
    last = document.entries[-1] if document.entries else None
    if last is None or last.yielded:
        return findings
    return [
        finding
        for finding in findings
        if (finding.line or 0) < last.line
        or finding.severity is not Severity.ERROR
        or finding.code == _INCOMPLETE
    ]


def _check_entries(seen: FileCase, findings: list[Finding]) -> frozenset[int]:
    """Check every entry against every row; return the indexes of the rejected entries."""
    rejected: set[int] = set()
    for entry in seen.document.entries:
        case = EntryCase(entry, seen)
        for rule in rules_for_entry(entry, seen):
            for breach in rule.check(case):
                findings.append(rule.finding(*breach))
                if rule.severity is Severity.ERROR:
                    rejected.add(entry.index)
    return frozenset(rejected)


def _remarks(
    document: SessionDocument, known: KnownSettings, course: Course | None
) -> list[EntryRemark]:
    entries, remarks = drop_doubles(document)
    remarks += remark_on_order(entries, parse_time(document.header_value("created")))
    if course is not None:
        return [*remarks, *course.remarks]
    # The settings are broken: who is listed may still be known.
    return remarks + [
        EntryRemark(RemarkKind.UNKNOWN_AGENT, entry, repr(entry.author))
        for entry in entries
        if known.agents
        and entry.has_head
        and entry.author not in {*known.agents, *SPEAKERS_AFTER_END}
    ]


def _leave_undecided(
    document: SessionDocument, course: Course, rejected: frozenset[int], findings: list[Finding]
) -> Course:
    """A-53: do not end a session by consensus if its file has errors."""
    if all(finding.code == _INCOMPLETE for finding in select_errors(findings)):
        return course
    return follow_entries(document, course.rules, rejected, decide=False)


def check_longer(
    checked: CheckedSession, more: str, *, file_name: str | None = None
) -> CheckedSession:
    """Check the file with this text appended."""
    document = checked.document
    return check_session(document.byte_order_mark + document.text + more, file_name=file_name)
