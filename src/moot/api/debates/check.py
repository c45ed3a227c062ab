"""Is a session file what was recorded? Every byte of it, against the signed events.

Nothing is written and nothing restored by looking. The ledger itself is checked first, by the
checker that shares no code with it; a file is only as well proved as the record it is held to.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from moot.agents.brief import AuthorTrust
from moot.api.debates.record import (
    RecordedPart,
    SessionRecord,
    find_session_at,
    path_in_record,
    read_events,
    recorded_parts,
    stream_of,
)
from moot.api.debates.session_file import SessionReading
from moot.core.errors import MootError, NotFound
from moot.core.findings import Finding, Severity
from moot.core.ledger import View
from moot.core.machine import KeyClass
from moot.core.markdown import BYTE_ORDER_MARK
from moot.core.text import Quoted
from moot.protocols.debate import events as did
from moot.protocols.debate.compare import compare
from moot.protocols.debate.course import is_placeholder
from moot.protocols.debate.escalation import is_written_by_policy
from moot.protocols.debate.model import DebateEntry, SessionDocument, is_uuid
from moot.protocols.debate.reader import read_document
from moot.protocols.debate.state import MOST_UNSIGNED
from moot.protocols.debate.views import require_course
from moot.store.artifacts import FileArtifacts

Events = list[tuple[int, Any]]


class PlaceInFile(msgspec.Struct, frozen=True):
    """A line of a file, the entry it belongs to, and the event that recorded it."""

    line: int
    entry: Quoted | None
    seq: int


class FileComparison(msgspec.Struct, frozen=True):
    """A file held against its record: the verdict on it, where it first differs, what was found."""

    verdict: str
    integrity: str
    first_bad: PlaceInFile | None
    last_trusted: PlaceInFile | None
    findings: tuple[Finding, ...]
    authenticity: str


def stream_of_file(view: View, folder: Path, file: Path, document: SessionDocument) -> str:
    """By the place, which the record knows, before the id, which may have been changed.

    `folder` is the workspace's own.
    """
    session = find_session_at(view, path_in_record(folder.parent, file)) or document.session_id
    if not is_uuid(session) or view.head(stream_of(session)) is None:
        raise NotFound(
            "not_recorded",
            f"nothing is recorded of {file} here",
            hint="inside a workspace every `moot debate` command that writes records it",
        )
    return stream_of(session)


def compare_with_record(
    view: View, stream: str, artifacts: FileArtifacts, data: bytes
) -> FileComparison:
    """Compare a file with its events. Their signatures are not checked here: `verify` does it."""
    events = read_events(view, stream)
    try:
        parts = recorded_parts(events, artifacts)
    except MootError as error:
        found = Finding(rule="R1", code=error.code, message=str(error), hint=error.hint)
        return FileComparison(
            "unproven", "a part of the record is not stored here", None, None, (found,), ""
        )
    expected = b"".join(part for part, _, _ in parts)
    said = _authenticity(events)
    if data.startswith(expected):
        return _ahead(data, expected, said, _claims(events, expected))
    if expected.startswith(data):
        return _behind(data, parts, said)
    return _changed(data, expected, parts, said)


def _claims(events: Events, expected: bytes) -> list[Finding]:
    """Each author also signed the digest of the whole file it saw: the last one must be this."""
    last = [event.digest for _, event in events if isinstance(event, did.Piece)][-1]
    digest = hashlib.sha256(expected).hexdigest()
    if digest == last:
        return []
    message = "the last author signed another digest of the file than its pieces give"
    return [Finding(rule="R1", code="digest_differs", message=message, hint="ask that author")]


def _ahead(data: bytes, expected: bytes, said: str, claims: list[Finding]) -> FileComparison:
    """All that was recorded stands there; what stands beyond it is not proved."""
    if claims:
        return FileComparison(
            "tampered", "the record contradicts itself", None, None, (*claims,), said
        )
    sentence = "the file is what was recorded, to the byte"
    if len(data) == len(expected):
        return FileComparison("valid", sentence, None, None, (), said)
    line = data.count(b"\n", 0, len(expected)) + 1
    beyond = [entry for entry in read_document(data).entries if entry.line >= line]
    found = [_beyond(entry.line, entry.id, entry.yielded) for entry in beyond]
    more = (*found,) or (_beyond(line, "", False),)
    return FileComparison("unproven", f"{sentence}, up to line {line - 1}", None, None, more, said)


def _beyond(line: int, entry: str, complete: bool) -> Finding:
    if not complete:
        return Finding(
            rule="R4",
            code="not_yielded",
            message="what stands here was never yielded, so it is not recorded",
            severity=Severity.INFO,
            line=line,
            where=entry or None,
            hint="its author completes it with `moot debate add`",
        )
    return Finding(
        rule="R1",
        code="not_recorded",
        message="this entry stands in the file and not in the record",
        severity=Severity.WARNING,
        line=line,
        where=entry or None,
        hint="`moot debate tick FILE` or `watch` records it as observed; its author may sign it",
    )


def _behind(data: bytes, parts: list[RecordedPart], said: str) -> FileComparison:
    """The end is missing: what stands there is a beginning of what was recorded."""
    at, seq, entry = _part_at(parts, len(data))
    line = data.count(b"\n") + 1
    missing = Finding(
        rule="R1",
        code="entry_deleted",
        message=f"the file ends too early; of {len(parts)} recorded parts it has {at} whole",
        line=line,
        where=entry or None,
        hint="`moot debate tick FILE` puts back what was recorded",
    )
    bad = _place_in_file(line, entry, seq)
    return FileComparison("truncated", missing.message, bad, _trusted(parts, at), (missing,), said)


def _changed(data: bytes, expected: bytes, parts: list[RecordedPart], said: str) -> FileComparison:
    place = _first_difference(data, expected)
    at, seq, entry = _part_at(parts, place)
    line = data.count(b"\n", 0, place) + 1
    named = [msgspec.structs.replace(one, line=one.line or line) for one in compare(expected, data)]
    first = Finding(
        rule="R1",
        code="file_changed",
        message="from here on the file is not what was recorded",
        line=line,
        where=entry or None,
        hint="restore this place; the record holds what stood there",
    )
    bad = _place_in_file(line, entry, seq)
    sentence = f"changed on line {line}" + (f", in entry {entry}" if entry else "")
    return FileComparison("tampered", sentence, bad, _trusted(parts, at), (first, *named), said)


def _first_difference(one: bytes, other: bytes) -> int:
    """Halving: as many comparisons as the length has digits, each at the speed of memory."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _part_at(parts: list[RecordedPart], place: int) -> tuple[int, int, str]:
    """Which part of the record holds this byte: its number, its event, its entry."""
    for number, (part, seq, entry) in enumerate(parts):
        if place < len(part):
            return number, seq, entry
        place -= len(part)
    return len(parts) - 1, parts[-1][1], parts[-1][2]


def _trusted(parts: list[RecordedPart], at: int) -> PlaceInFile | None:
    """The last part before the trouble, and the line on which it ends."""
    if at == 0:
        return None
    line = b"".join(part for part, _, _ in parts[:at]).count(b"\n")
    return _place_in_file(line, parts[at - 1][2], parts[at - 1][1])


def _place_in_file(line: int, entry: str, seq: int) -> PlaceInFile:
    return PlaceInFile(line, Quoted(entry) if entry else None, seq)


def _authenticity(events: Events) -> str:
    """How many entries their authors signed; the others were only seen by the machine."""
    counts = Counter(type(event) for _, event in events)
    later = counts[did.EntrySigned]
    return (
        f"entries: {counts[did.EntryYielded] + later} signed by their authors, "
        f"{counts[did.EntryObserved] - later} only observed, "
        f"{counts[did.EntryGenerated]} written by the policy"
    )


def trust_in(
    reading: SessionReading, record: SessionRecord | None
) -> Callable[[DebateEntry], AuthorTrust]:
    """What is known of the author of each entry in this file.

    Anyone can write to a file. What counts as signed is what the record holds, in a file that still
    is what was recorded; everything else is only claimed.
    """
    rules = require_course(reading.checked).rules
    signed = _signed_by(reading, record)

    def of(entry: DebateEntry) -> AuthorTrust:
        if is_placeholder(entry) and is_written_by_policy(entry, rules):
            return AuthorTrust.SYSTEM
        return signed(entry)

    return of


def _signed_by(
    reading: SessionReading, record: SessionRecord | None
) -> Callable[[DebateEntry], AuthorTrust]:
    if record is None or not record.is_known or not record.fits(reading):
        return lambda _entry: AuthorTrust.UNSIGNED
    agents, state = record.engine.registry().agents, record.state
    # The state forgets observed entries beyond a number: what is above those is in doubt.
    is_full = len(state.unsigned) >= MOST_UNSIGNED
    first = _place(reading, state.unsigned[0].start) if is_full else 0
    end = _place(reading, state.size)
    unsigned = {one.id for one in state.unsigned}

    def of(entry: DebateEntry) -> AuthorTrust:
        known = agents.get(entry.author)
        recorded = first <= entry.start and entry.end <= end
        if known is None or not recorded or entry.id in unsigned:
            return AuthorTrust.UNSIGNED
        return AuthorTrust.PERSON if known.kind is KeyClass.HUMAN else AuthorTrust.AGENT

    return of


def _place(reading: SessionReading, size: int) -> int:
    """So many bytes of the file, as a place in its text."""
    text = reading.checked.document.text
    if size >= reading.size:
        return len(text)
    return len(reading.data[:size].decode(errors="ignore").removeprefix(BYTE_ORDER_MARK))
