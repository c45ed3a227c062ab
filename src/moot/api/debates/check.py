"""Compare every byte of a session file with the signed events that recorded it.

A comparison writes and restores nothing. `moot debate verify` first checks the ledger itself, with
the verifier that shares no code with it: a file is only as well proved as its record.
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
    list_recorded_parts,
    path_in_record,
    read_events,
    stream_of,
)
from moot.api.debates.session_file import SessionReading
from moot.core.errors import MootError, NotFound
from moot.core.findings import Finding, Severity
from moot.core.ledger import View
from moot.core.machine import KeyClass
from moot.core.markdown import BYTE_ORDER_MARK
from moot.core.text import Quoted
from moot.protocols.debate.compare import compare
from moot.protocols.debate.course import is_placeholder
from moot.protocols.debate.escalation import is_written_by_policy
from moot.protocols.debate.events import (
    EntryGenerated,
    EntryObserved,
    EntrySigned,
    EntryYielded,
    Piece,
)
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
    """A file compared with its record: the verdict, the findings, and where they first differ."""

    verdict: str
    integrity: str
    findings: tuple[Finding, ...] = ()
    first_bad: PlaceInFile | None = None
    last_trusted: PlaceInFile | None = None
    authenticity: str = ""


def find_stream_of_file(view: View, folder: Path, file: Path, document: SessionDocument) -> str:
    """Find a file's stream by its recorded path, else by its session id.

    The path comes first because the id in the file may have been changed. `folder` is `.moot/`.
    """
    session = find_session_at(view, path_in_record(folder.parent, file)) or document.session_id
    if not is_uuid(session) or view.head(stream_of(session)) is None:
        raise NotFound(
            "not_recorded",
            f"{file} is not recorded in this workspace",
            hint="inside a workspace every `moot debate` command that writes records it",
        )
    return stream_of(session)


def compare_with_record(
    view: View, stream: str, artifacts: FileArtifacts, data: bytes
) -> FileComparison:
    """Compare a file with its events. Their signatures are not checked here: `verify` does it."""
    events = read_events(view, stream)
    try:
        parts = list_recorded_parts(events, artifacts)
    except MootError as error:
        found = Finding(rule="R1", code=error.code, message=str(error), hint=error.hint)
        return FileComparison("unproven", "a part of the record is not stored here", (found,))
    expected = b"".join(part for part, _, _ in parts)
    if data.startswith(expected):
        result = _compare_longer(data, expected, _check_signed_digest(events, expected))
    elif expected.startswith(data):
        result = _compare_shorter(data, parts)
    else:
        result = _compare_changed(data, expected, parts)
    return msgspec.structs.replace(result, authenticity=_count_signatures(events))


def _check_signed_digest(events: Events, expected: bytes) -> list[Finding]:
    """Check that the last author signed the digest of the whole recorded file."""
    last = [event.digest for _, event in events if isinstance(event, Piece)][-1]
    digest = hashlib.sha256(expected).hexdigest()
    if digest == last:
        return []
    message = "the last author signed another digest of the file than its pieces give"
    return [Finding(rule="R1", code="digest_differs", message=message, hint="ask that author")]


def _compare_longer(data: bytes, expected: bytes, claims: list[Finding]) -> FileComparison:
    """Compare a file that begins with everything recorded; what follows is not proved."""
    if claims:
        return FileComparison("tampered", "the record contradicts itself", (*claims,))
    sentence = "the file is what was recorded, to the byte"
    if len(data) == len(expected):
        return FileComparison("valid", sentence)
    line = data.count(b"\n", 0, len(expected)) + 1
    beyond = [entry for entry in read_document(data).entries if entry.line >= line]
    found = [_unrecorded_finding(entry.line, entry.id, entry.yielded) for entry in beyond]
    more = (*found,) or (_unrecorded_finding(line, "", False),)
    return FileComparison("unproven", f"{sentence}, up to line {line - 1}", more)


def _unrecorded_finding(line: int, entry: str, complete: bool) -> Finding:
    if not complete:
        return Finding(
            rule="R4",
            code="not_yielded",
            message="this entry was never yielded, so it is not recorded",
            severity=Severity.INFO,
            line=line,
            where=entry or None,
            hint="its author completes it with `moot debate add`",
        )
    return Finding(
        rule="R1",
        code="not_recorded",
        message="this entry is in the file but not in the record",
        severity=Severity.WARNING,
        line=line,
        where=entry or None,
        hint="`moot debate tick FILE` or `watch` records it as observed; its author may sign it",
    )


def _compare_shorter(data: bytes, parts: list[RecordedPart]) -> FileComparison:
    """Compare a file whose end is missing."""
    at, seq, entry = _find_part(parts, len(data))
    line = data.count(b"\n") + 1
    missing = Finding(
        rule="R1",
        code="entry_deleted",
        message=f"the file ends too early; of {len(parts)} recorded parts it has {at} whole",
        line=line,
        where=entry or None,
        hint="`moot debate tick FILE` restores what was recorded",
    )
    bad, trusted = _place_in_file(line, entry, seq), _last_trusted_part(parts, at)
    return FileComparison("truncated", missing.message, (missing,), bad, trusted)


def _compare_changed(data: bytes, expected: bytes, parts: list[RecordedPart]) -> FileComparison:
    place = _first_difference(data, expected)
    at, seq, entry = _find_part(parts, place)
    line = data.count(b"\n", 0, place) + 1
    differences = [
        msgspec.structs.replace(one, line=one.line or line) for one in compare(expected, data)
    ]
    first = Finding(
        rule="R1",
        code="file_changed",
        message="from here on the file is not what was recorded",
        line=line,
        where=entry or None,
        hint="restore this place; the record has what was there",
    )
    bad, trusted = _place_in_file(line, entry, seq), _last_trusted_part(parts, at)
    sentence = f"changed on line {line}" + (f", in entry {entry}" if entry else "")
    return FileComparison("tampered", sentence, (first, *differences), bad, trusted)


def _first_difference(one: bytes, other: bytes) -> int:
    """Return the first position that differs, by bisection: a loop over bytes would be slow."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _find_part(parts: list[RecordedPart], place: int) -> tuple[int, int, str]:
    """Return the recorded part that contains this byte: its number, event and entry."""
    for number, (part, seq, entry) in enumerate(parts):
        if place < len(part):
            return number, seq, entry
        place -= len(part)
    return len(parts) - 1, parts[-1][1], parts[-1][2]


def _last_trusted_part(parts: list[RecordedPart], at: int) -> PlaceInFile | None:
    """Return the last part before the first difference, and the line on which it ends."""
    if at == 0:
        return None
    line = b"".join(part for part, _, _ in parts[:at]).count(b"\n")
    return _place_in_file(line, parts[at - 1][2], parts[at - 1][1])


def _place_in_file(line: int, entry: str, seq: int) -> PlaceInFile:
    return PlaceInFile(line, Quoted(entry) if entry else None, seq)


def _count_signatures(events: Events) -> str:
    """Count the entries by who signed them: their authors, or only Moot, which saw them."""
    counts = Counter(type(event) for _, event in events)
    later = counts[EntrySigned]
    return (
        f"entries: {counts[EntryYielded] + later} signed by their authors, "
        f"{counts[EntryObserved] - later} only observed, "
        f"{counts[EntryGenerated]} written by the policy"
    )


def build_author_trust(
    reading: SessionReading, record: SessionRecord | None
) -> Callable[[DebateEntry], AuthorTrust]:
    """Return a function that says how far an entry's author is proved.

    Anyone can write to a file. An entry counts as signed only if its author's signature is in the
    record and the file still is what was recorded; every other author is only claimed.
    """
    rules = require_course(reading.checked).rules
    signed = _build_signed_trust(reading, record)

    def trust_of(entry: DebateEntry) -> AuthorTrust:
        if is_placeholder(entry) and is_written_by_policy(entry, rules):
            return AuthorTrust.SYSTEM
        return signed(entry)

    return trust_of


def _build_signed_trust(
    reading: SessionReading, record: SessionRecord | None
) -> Callable[[DebateEntry], AuthorTrust]:
    if record is None or not record.is_known or not record.fits(reading):
        return lambda _entry: AuthorTrust.UNSIGNED
    agents, state = record.engine.registry().agents, record.state
    # The state keeps only the newest unsigned entries; entries above those may be unsigned too.
    is_full = len(state.unsigned) >= MOST_UNSIGNED
    first = _text_position(reading, state.unsigned[0].start) if is_full else 0
    end = _text_position(reading, state.size)
    unsigned = {one.id for one in state.unsigned}

    def trust_of(entry: DebateEntry) -> AuthorTrust:
        known = agents.get(entry.author)
        recorded = first <= entry.start and entry.end <= end
        if known is None or not recorded or entry.id in unsigned:
            return AuthorTrust.UNSIGNED
        return AuthorTrust.PERSON if known.kind is KeyClass.HUMAN else AuthorTrust.AGENT

    return trust_of


def _text_position(reading: SessionReading, size: int) -> int:
    """Return a byte offset of the file as a position in its text."""
    text = reading.checked.document.text
    if size >= reading.size:
        return len(text)
    return len(reading.data[:size].decode(errors="ignore").removeprefix(BYTE_ORDER_MARK))
