"""The checks on one entry by itself: identity, place, status line, fields, body, marker.

They run on every entry, so they are cheap for a valid one: a check that finds nothing returns an
empty tuple.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal

import msgspec

from moot.protocols.debate.file_checks import FileCase, Flaw, flaw_at
from moot.protocols.debate.model import (
    FIELDS,
    UUID_V4_PATTERN,
    DebateEntry,
    EntryField,
    EntryStatus,
    OddityKind,
    TurnOrder,
    is_uuid,
)
from moot.protocols.debate.settings import explain_runtime_stance

_NONE: tuple[Flaw, ...] = ()
_STATUSES = frozenset(EntryStatus)
_UNFINISHED = frozenset({EntryStatus.OPEN.value, EntryStatus.IN_PROGRESS.value})
_ORDER = {name: place for place, name in enumerate(FIELDS)}
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


class EntryCase(msgspec.Struct, frozen=True, gc=False):
    """What a check looks at: an entry, and the file that it is in."""

    entry: DebateEntry
    file: FileCase


Check = Callable[[EntryCase], Iterable[Flaw]]


def flaw_in_entry(entry: DebateEntry, line: int | None = None, saw: str = "") -> tuple[Flaw, ...]:
    """Return one flaw in this entry."""
    return (flaw_at(line or entry.line, saw, entry.id or f"entry {entry.index + 1}"),)


def reader_noticed(kind: OddityKind) -> Check:
    """Return a check that reports oddities of this kind in the entry."""

    def noticed(case: EntryCase) -> Iterable[Flaw]:
        entry = case.entry
        if not entry.oddities:
            return _NONE
        return [
            flaw_in_entry(entry, oddity.line, oddity.text)[0]
            for oddity in entry.oddities
            if oddity.kind is kind
        ]

    return noticed


def no_id(case: EntryCase) -> Iterable[Flaw]:
    return _NONE if case.entry.id else flaw_in_entry(case.entry)


def bad_id(case: EntryCase) -> Iterable[Flaw]:
    entry = case.entry
    return (
        _NONE if is_uuid(entry.id) or not entry.id else flaw_in_entry(entry, None, repr(entry.id))
    )


def id_not_v4(strict: bool) -> Check:
    def other_version(case: EntryCase) -> Iterable[Flaw]:
        entry, file = case.entry, case.file
        if (
            file.strict_uuid is not strict
            or UUID_V4_PATTERN.fullmatch(entry.id)
            or not is_uuid(entry.id)
        ):
            return _NONE
        return flaw_in_entry(entry, None, entry.id)

    return other_version


def no_position(case: EntryCase) -> Iterable[Flaw]:
    entry = case.entry
    if entry.turn is not None:
        return _NONE
    bad = next(
        (oddity for oddity in entry.oddities if oddity.kind is OddityKind.BAD_POSITION), None
    )
    return flaw_in_entry(entry, bad.line if bad else None, bad.text if bad else "")


def no_status_line(case: EntryCase) -> Iterable[Flaw]:
    entry = case.entry
    if entry.has_head:
        return _NONE
    bad = next(
        (oddity for oddity in entry.oddities if oddity.kind is OddityKind.BAD_STATUS_LINE), None
    )
    return flaw_in_entry(entry, bad.line if bad else None, bad.text if bad else "")


def bad_status(case: EntryCase) -> Iterable[Flaw]:
    entry = case.entry
    if entry.status in _STATUSES or not entry.has_head:
        return _NONE
    return flaw_in_entry(entry, None, repr(entry.status))


def bad_time(case: EntryCase) -> Iterable[Flaw]:
    entry = case.entry
    if entry.at_millis is not None or not entry.has_head:
        return _NONE
    return flaw_in_entry(entry, None, repr(entry.at))


def missing_field(case: EntryCase) -> Iterable[Flaw]:
    entry = case.entry
    present = {field.name for field in entry.fields if field.value}
    return [flaw_in_entry(entry, None, name)[0] for name in FIELDS if name not in present]


def _field_with_value(entry: DebateEntry, name: str) -> EntryField | None:
    """Return this field, unless it is missing or empty."""
    field = entry.find_field(name)
    return field if field is not None and field.value else None


def bad_stance(case: EntryCase) -> Iterable[Flaw]:
    entry = case.entry
    field = _field_with_value(entry, "stance")
    if field is None or entry.stance is not None:
        return _NONE
    explanation = explain_runtime_stance(field.value)  # BNC-151
    saw = f"{field.value!r} ({explanation})" if explanation else repr(field.value)
    return flaw_in_entry(entry, field.line, saw)


def bad_confidence(out_of_range: bool) -> Check:
    """Return a check for numbers beyond 0 to 1, or for texts that are no number at all."""

    def unsound(case: EntryCase) -> Iterable[Flaw]:
        entry = case.entry
        field = _field_with_value(entry, "confidence")
        if field is None or entry.confidence is not None:
            return _NONE
        if _is_beyond(field.value) is not out_of_range:
            return _NONE
        return flaw_in_entry(entry, field.line, repr(field.value[:40]))

    return unsound


def _is_beyond(value: str) -> bool:
    """True for a number below 0 or above 1, not for one with too many digits."""
    return _NUMBER.fullmatch(value) is not None and not 0 <= Decimal(value) <= 1


def field_given_twice(votes: bool) -> Check:
    """Return a check for repeated votes, which is an error, or other repeated fields (A-50)."""

    def twice(case: EntryCase) -> Iterable[Flaw]:
        entry = case.entry
        names = [field.name for field in entry.fields]
        if len(names) == len(set(names)):
            return _NONE
        flaws: list[Flaw] = []
        for place, field in enumerate(entry.fields):
            voting = field.name in ("stance", "confidence")
            if voting is votes and field.name in names[:place]:
                flaws += flaw_in_entry(entry, field.line, field.name)
        return flaws

    return twice


def fields_permuted(case: EntryCase) -> Iterable[Flaw]:
    entry = case.entry
    order = [_ORDER[field.name] for field in entry.fields if field.name in _ORDER]
    return _NONE if order == sorted(order) else flaw_in_entry(entry, entry.fields[0].line)


def unknown_field(newer: bool) -> Check:
    def unknown(case: EntryCase) -> Iterable[Flaw]:
        entry, file = case.entry, case.file
        if all(field.name in _ORDER for field in entry.fields):
            return _NONE
        if file.is_newer_minor is not newer:
            return _NONE
        others = (field for field in entry.fields if field.name not in _ORDER)
        return [flaw_in_entry(entry, field.line, field.name)[0] for field in others]

    return unknown


def not_yielded(shared: bool) -> Check:
    """Return a check for a missing marker (R4); `shared`: another entry came between (R6)."""

    def incomplete(case: EntryCase) -> Iterable[Flaw]:
        entry, file = case.entry, case.file
        if entry.yielded:
            return _NONE
        rules = file.settings.rules
        free = rules is not None and rules.turn_order is TurnOrder.FREE_FORM
        interrupted = free and entry is not file.document.entries[-1]
        return flaw_in_entry(entry) if interrupted is shared else _NONE

    return incomplete


def status_says_unfinished(case: EntryCase) -> Iterable[Flaw]:
    """BNC-096: report a status that contradicts the marker, which decides (A-34)."""
    entry = case.entry
    return (
        flaw_in_entry(entry, None, entry.status)
        if entry.yielded and entry.status in _UNFINISHED
        else _NONE
    )
