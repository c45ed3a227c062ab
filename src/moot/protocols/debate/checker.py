"""Bytes or a document -> findings: every rule asked, every breach with its line and a hint.

`check` never raises, whatever it is given. What it knows of the session afterwards (its rules,
its course, which entries are rejected) is part of the answer, so that nothing is worked out twice.
BNC-156: a flaw is reported once, under its own rule. What follows from it is left unsaid: another
version, settings that cannot be read and an entry that is still being written silence the rest.
"""

from __future__ import annotations

import msgspec

from moot.core.findings import Finding, Severity, check_all
from moot.core.findings import errors as errors_of
from moot.protocols.debate.course import Course, follow
from moot.protocols.debate.entrychecks import Looked
from moot.protocols.debate.filechecks import Seen
from moot.protocols.debate.filerules import FILE, ORDER, VERSION, InOrder, asked_of
from moot.protocols.debate.model import CLERKS, Document, moment
from moot.protocols.debate.reader import read
from moot.protocols.debate.schema import Known, read_known
from moot.protocols.debate.sequence import Remark, Remarked, sequence_remarks, without_doubles

_INCOMPLETE = "MISSING_YIELD_MARKER"


class Checked(msgspec.Struct, frozen=True):
    """A document and what was found; `course` only if its settings are sound."""

    document: Document
    known: Known
    findings: tuple[Finding, ...]
    rejected: frozenset[int]
    course: Course | None

    @property
    def valid(self) -> bool:
        return not errors_of(self.findings)

    @property
    def blocked(self) -> bool:
        """Errors forbid a verdict (A-53); an entry that is being written is none here (A-75)."""
        return any(finding.code != _INCOMPLETE for finding in errors_of(self.findings))

    @property
    def entries(self) -> int:
        """How many entries there are, doubles left out (R7)."""
        return len(without_doubles(self.document)[0])


def check(
    data: bytes | str,
    *,
    strict_uuid: bool = False,
    file_name: str | None = None,
    lenient: bool = False,
) -> Checked:
    """Judge a session file: every finding has its rule, severity and line (BNC-171).

    `strict_uuid` makes ids of another version than 4 errors (A-01), `lenient` lets agents have
    names that the schema does not allow (A-14).
    """
    return examine(read(data), strict_uuid=strict_uuid, file_name=file_name, lenient=lenient)


def examine(
    document: Document,
    *,
    strict_uuid: bool = False,
    file_name: str | None = None,
    lenient: bool = False,
) -> Checked:
    """Judge a document that has been read."""
    version = check_all(VERSION, document)
    if version:
        # BNC-022, BNC-108: what another major version means by the rest is not ours to say (R9).
        return Checked(document, Known(), version, frozenset(), None)
    known = read_known(document.settings, lenient)
    seen = Seen(document, known, strict_uuid, file_name)
    findings = list(check_all(FILE, seen))
    rejected = _check_entries(seen, findings)
    course = follow(document, known.rules, rejected) if known.rules else None
    findings += check_all(ORDER, InOrder(known, _remarks(document, known, course)))
    findings = _spare_unfinished_entry(document, findings)
    if course is not None and any(one.severity is Severity.ERROR for one in findings):
        course = _leave_undecided(document, course, rejected, findings)
    return Checked(document, known, _sorted(findings), rejected, course)


def _spare_unfinished_entry(document: Document, findings: list[Finding]) -> list[Finding]:
    """A-75: of a last entry that was never yielded the one error is that it is incomplete.

    Its author may still be writing, and may write all of it anew (A-34).
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


def _check_entries(seen: Seen, findings: list[Finding]) -> frozenset[int]:
    """Ask every row of every entry; gives the indexes of the entries that are rejected."""
    rejected: set[int] = set()
    for entry in seen.document.entries:
        looked = Looked(entry, seen)
        for rule in asked_of(entry, seen):
            for breach in rule.check(looked):
                findings.append(rule.finding(*breach))
                if rule.severity is Severity.ERROR:
                    rejected.add(entry.index)
    return frozenset(rejected)


def _remarks(document: Document, known: Known, course: Course | None) -> list[Remarked]:
    entries, remarks = without_doubles(document)
    remarks += sequence_remarks(entries, moment(document.head("created")))
    if course is not None:
        return [*remarks, *course.remarks]
    # The settings are broken: who is listed may still be known.
    return remarks + [
        Remarked(Remark.UNKNOWN_AGENT, entry, repr(entry.author))
        for entry in entries
        if known.agents and entry.has_head and entry.author not in {*known.agents, *CLERKS}
    ]


def _leave_undecided(
    document: Document, course: Course, rejected: frozenset[int], findings: list[Finding]
) -> Course:
    """A-53: a file with errors is never ended by consensus."""
    if all(one.code == _INCOMPLETE for one in errors_of(findings)):
        return course
    return follow(document, course.rules, rejected, decide=False)


def _sorted(findings: list[Finding]) -> tuple[Finding, ...]:
    """In the order of the file; what has no line comes first."""
    return tuple(sorted(findings, key=lambda finding: finding.line or 0))
