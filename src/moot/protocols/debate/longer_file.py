"""A session that became longer: what was checked before is not checked again.

`grown(checked, more)` is what `check_session` says of the longer text, at the cost of what is new.
It knows one case, whole entries behind a sound file, which is nearly every append; anything else is
checked from the beginning.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Final

import msgspec

from moot.core.findings import Finding, check_all, select_errors
from moot.protocols.debate.checker import CheckedSession, check_session
from moot.protocols.debate.course import Course, follow_one_more_entry
from moot.protocols.debate.dialogue import Dialogue, read_dialogue
from moot.protocols.debate.entry_checks import EntryCase
from moot.protocols.debate.entry_order import remark_on_order
from moot.protocols.debate.file_checks import FileCase
from moot.protocols.debate.file_rules import ORDER_RULES, OrderCase, rules_for_entry
from moot.protocols.debate.model import (
    SECTIONS,
    DebateEntry,
    OddityKind,
    SessionDocument,
    parse_time,
)

_LINE_ENDS: Final = frozenset({OddityKind.CRLF, OddityKind.LONE_CR})
# Findings that another entry could make untrue: then the file is checked from the beginning.
_UNSETTLED: Final = frozenset({"DUPLICATE_ENTRY_ID", "duplicate_entry_conflict", "missing_turn"})


def check_longer(
    checked: CheckedSession, more: str, *, file_name: str | None = None
) -> CheckedSession:
    """The file with this text behind it, checked."""
    longer = _check_new_entries(checked, more) if _is_settled(checked, more) else None
    document = checked.document
    return longer or check_session(
        document.byte_order_mark + document.text + more, file_name=file_name
    )


def _is_settled(checked: CheckedSession, more: str) -> bool:
    """Is the file such that appending this changes nothing in how the rest is read?"""
    document, course = checked.document, checked.course
    if (
        "\r" in more
        or course is None
        or course.open_entry is not None
        or select_errors(checked.findings)
    ):
        return False
    text, section = document.text, document.find_section(SECTIONS[-1])
    last = document.entries[-1] if document.entries else None
    if section is None or not text.endswith("\n") or (last and last.oddities):
        return False
    if any(oddity.kind in _LINE_ENDS for oddity in document.oddities):
        return False
    if any(finding.code in _UNSETTLED for finding in checked.findings):
        return False
    return not text[last.end if last else section.start :].strip()


def _check_new_entries(checked: CheckedSession, more: str) -> CheckedSession | None:
    """Entry by entry; None if what came is anything but plain whole entries in their order."""
    document, course = checked.document, checked.course
    text, start = document.text + more, len(document.text)
    added = read_dialogue(text, start, _count_lines(document) + 1)
    if not _is_plain(added, len(text)):
        return None
    first = len(document.entries)
    new = tuple(
        msgspec.structs.replace(entry, index=first + entry.index) for entry in added.entries
    )
    ids = {entry.id for entry in new}
    if len(ids) < len(new) or not ids.isdisjoint(map(attrgetter("id"), document.entries)):
        return None
    longer = _with_entries(document, text, new)
    findings = list(checked.findings)
    before = document.entries[-1] if document.entries else None
    for entry in new:
        step = None if course is None else _check_entry(checked, longer, course, before, entry)
        if step is None:
            return None
        course, before = step[0], entry
        findings += step[1]
    return CheckedSession(longer, checked.settings, tuple(findings), checked.rejected, course)


def _count_lines(document: SessionDocument) -> int:
    """How many lines there are, counted from the last entry on."""
    if not document.entries:
        return document.text.count("\n")
    last = document.entries[-1]
    return last.line - 1 + document.text.count("\n", last.start)


def _is_plain(added: Dialogue, end: int) -> bool:
    if added.marks or added.sections or added.odd or added.end != end:
        return False
    return all(entry.yielded and not entry.oddities for entry in added.entries)


def _with_entries(
    document: SessionDocument, text: str, new: tuple[DebateEntry, ...]
) -> SessionDocument:
    """The dialogue is the last section of a sound file, and ends with it."""
    *above, dialogue = document.sections
    sections = (*above, msgspec.structs.replace(dialogue, end=len(text)))
    entries = (*document.entries, *new)
    return msgspec.structs.replace(document, text=text, sections=sections, entries=entries)


def _check_entry(
    checked: CheckedSession,
    document: SessionDocument,
    course: Course,
    before: DebateEntry | None,
    entry: DebateEntry,
) -> tuple[Course, list[Finding]] | None:
    """One entry further; None if it is in error, or says something about an earlier one."""
    after = follow_one_more_entry(document, course, entry)
    remarks = [*remark_on_order((entry,), parse_time(document.header_value("created")), before)]
    remarks += after.remarks[len(course.remarks) :]
    if any(remark.entry is not entry for remark in remarks):
        return None
    seen = FileCase(document, checked.settings)
    findings = list(check_all(rules_for_entry(entry, seen), EntryCase(entry, seen)))
    findings += check_all(ORDER_RULES, OrderCase(checked.settings, remarks))
    if select_errors(findings):
        return None
    return after, sorted(findings, key=lambda finding: finding.line or 0)
