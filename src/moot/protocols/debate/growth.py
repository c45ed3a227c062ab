"""A session that became longer: what was checked before is not checked again.

`grown(checked, more)` is what `check` says of the longer text, at the cost of what is new. It
knows one case, whole entries behind a sound file, which is nearly every append; anything else is
checked from the beginning.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Final

import msgspec

from moot.core.findings import Finding, check_all, errors
from moot.protocols.debate.checker import Checked, check
from moot.protocols.debate.course import Course, follow_on
from moot.protocols.debate.dialogue import Dialogue, read_dialogue
from moot.protocols.debate.entrychecks import Looked
from moot.protocols.debate.filechecks import Seen
from moot.protocols.debate.filerules import ORDER, InOrder, asked_of
from moot.protocols.debate.model import SECTIONS, Document, Entry, Odd, moment
from moot.protocols.debate.sequence import sequence_remarks

_LINE_ENDS: Final = frozenset({Odd.CRLF, Odd.LONE_CR})
# What an entry further down could make untrue, or must not be compared with.
_UNSETTLED: Final = frozenset({"DUPLICATE_ENTRY_ID", "duplicate_entry_conflict", "missing_turn"})


def grown(checked: Checked, more: str, *, file_name: str | None = None) -> Checked:
    """The file with this text behind it, checked."""
    quickly = _carried_on(checked, more) if _is_settled(checked) and "\r" not in more else None
    document = checked.document
    return quickly or check(document.mark + document.text + more, file_name=file_name)


def _is_settled(checked: Checked) -> bool:
    """Is the file such that nothing appended to it changes how it is read?"""
    document, course = checked.document, checked.course
    if course is None or course.open is not None or errors(checked.findings):
        return False
    text, section = document.text, document.section(SECTIONS[-1])
    last = document.entries[-1] if document.entries else None
    if section is None or not text.endswith("\n") or (last and last.odd):
        return False
    if any(one.kind in _LINE_ENDS for one in document.odd):
        return False
    if any(one.code in _UNSETTLED for one in checked.findings):
        return False
    return not text[last.end if last else section.start :].strip()


def _carried_on(checked: Checked, more: str) -> Checked | None:
    """Entry by entry; None if what came is anything but plain whole entries in their order."""
    document, course = checked.document, checked.course
    text, start = document.text + more, len(document.text)
    found = read_dialogue(text, start, _lines(document) + 1)
    if not _is_plain(found, len(text)):
        return None
    first = len(document.entries)
    new = tuple(msgspec.structs.replace(one, index=first + one.index) for one in found.entries)
    ids = {one.id for one in new}
    if len(ids) < len(new) or not ids.isdisjoint(map(attrgetter("id"), document.entries)):
        return None
    longer = _longer(document, text, new)
    findings = list(checked.findings)
    before = document.entries[-1] if document.entries else None
    for entry in new:
        step = None if course is None else _step(checked, longer, course, before, entry)
        if step is None:
            return None
        course, before = step[0], entry
        findings += step[1]
    return Checked(longer, checked.known, tuple(findings), checked.rejected, course)


def _lines(document: Document) -> int:
    """How many lines there are, counted from the last entry on."""
    last = document.entries[-1] if document.entries else None
    above, start = (last.line - 1, last.start) if last else (0, 0)
    return above + document.text.count("\n", start)


def _is_plain(found: Dialogue, end: int) -> bool:
    if found.marks or found.sections or found.odd or found.end != end:
        return False
    return all(one.yielded and not one.odd for one in found.entries)


def _longer(document: Document, text: str, new: tuple[Entry, ...]) -> Document:
    """The dialogue is the last section of a sound file, and ends with it."""
    *above, dialogue = document.sections
    sections = (*above, msgspec.structs.replace(dialogue, end=len(text)))
    entries = (*document.entries, *new)
    return msgspec.structs.replace(document, text=text, sections=sections, entries=entries)


def _step(
    checked: Checked, document: Document, course: Course, before: Entry | None, entry: Entry
) -> tuple[Course, list[Finding]] | None:
    """One entry further; None if it is in error, or says something about an earlier one."""
    latest = course.rounds[-1].number if course.rounds else 0
    if entry.round is None or entry.round < latest:
        return None
    after = follow_on(document, course, entry)
    remarks = [*sequence_remarks((entry,), moment(document.head("created")), before)]
    remarks += after.remarks[len(course.remarks) :]
    if any(one.entry is not entry for one in remarks):
        return None
    seen = Seen(document, checked.known)
    found = list(check_all(asked_of(entry, seen), Looked(entry, seen)))
    found += check_all(ORDER, InOrder(checked.known, remarks))
    if errors(found):
        return None
    return after, sorted(found, key=lambda finding: finding.line or 0)
