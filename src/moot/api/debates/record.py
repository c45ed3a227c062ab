"""The record of a session file in the ledger, and how both are kept in step.

The file may be ahead: someone wrote to it by hand, or a process died between file and commit. Then
Moot records what is in it as observed. The record is ahead only if the file lost its end; Moot
restores it if the file is an exact beginning of what was recorded. Anything else is an error, and
nothing is overwritten.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

from moot.api.debates.session_file import SessionReading, append
from moot.core.errors import MootError, Refused
from moot.core.findings import Finding, Severity
from moot.core.ledger import View
from moot.core.machine import Command, Event
from moot.core.markdown import BYTE_ORDER_MARK
from moot.core.names import SYSTEM
from moot.engine.engine import Engine
from moot.engine.job import NO_LINK, Job, JobOutcome, Link
from moot.engine.replay import read_record
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.commands import Begin, Observe
from moot.protocols.debate.drafts import is_text
from moot.protocols.debate.entry_order import drop_doubles
from moot.protocols.debate.events import ContextAdded, Piece
from moot.protocols.debate.machine import FILES, MACHINE, STREAM
from moot.protocols.debate.model import is_uuid
from moot.protocols.debate.state import (
    MEDIA_TYPE,
    find_preamble_end,
    fits_in_event,
    split_into_pieces,
)
from moot.store.artifacts import Artifacts
from moot.workspace.workspace import Workspace

MAX_BATCH: Final = 1_000
RecordedPart = tuple[bytes, int, str]


def stream_of(session_id: str) -> str:
    return STREAM + session_id


def path_in_record(root: Path, file: Path) -> str:
    """Return how the record names a file: relative to the project's folder `root` if inside it."""
    path, root = file.absolute().resolve(), root.resolve()
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
    if not is_text(name):
        raise Refused(
            "unnameable_file",
            f"{name!r} is not UTF-8, so it cannot be recorded",
            hint="rename the file or its folder; outside a workspace any name is allowed",
        )
    return name


def find_session_at(view: View, place: str) -> str | None:
    """Return the session that was recorded for this path."""
    row = view.row(FILES, place)
    return None if row is None else row.stream.removeprefix(STREAM)


class SessionRecord:
    """What the ledger knows of one session."""

    def __init__(self, workspace: Workspace, file: Path, session_id: str) -> None:
        self.workspace = workspace
        self.file = file
        self.stream = stream_of(session_id)
        self.engine: Engine = workspace.engine
        self.state = self.engine.state(MACHINE, self.stream)

    @cached_property
    def place(self) -> str:
        """How the record names the file."""
        return path_in_record(self.workspace.root, self.file)

    @property
    def is_known(self) -> bool:
        return self.state.has_begun

    def run(
        self,
        commands: Iterable[tuple[Command, str]],
        write: Callable[[], None] | None = None,
        link: Link = NO_LINK,
    ) -> list[JobOutcome]:
        """Record all commands in one commit, or none; `write` is called just before the commit."""
        jobs = [
            Job(self.stream, command, actor, cause=link.cause, corr=link.corr)
            for command, actor in commands
        ]
        for job in jobs:  # a text too long for an event must be durable before the event
            text = getattr(job.command, "text", None)
            if text is not None and not fits_in_event(text):
                self.workspace.artifacts.put(text.encode(), MEDIA_TYPE)

        def all_or_none(results: list[JobOutcome | MootError]) -> None:
            for result in results:
                if isinstance(result, MootError):
                    raise result
            if write is not None:
                write()

        done = self.engine.execute_all(jobs, all_or_none)
        self.state = self.engine.state(MACHINE, self.stream)
        return [result for result in done if isinstance(result, JobOutcome)]

    def witness(self, otherwise: str | None) -> str | None:
        """Return who records what is only observed: the ledger, or without its key the actor."""
        if self.engine.signs_as_ledger:
            return SYSTEM
        return otherwise

    def begin(
        self,
        checked: CheckedSession,
        by: str,
        write: Callable[[], None] | None = None,
        link: Link = NO_LINK,
    ) -> None:
        """Record everything above the first entry."""
        end = find_preamble_end(checked.document)
        if end is None:
            raise Refused(
                "invalid_session",
                "this file is not a session that can be recorded",
                hint="`moot debate check FILE` says what to fix",
            )
        text = checked.document.byte_order_mark + checked.document.text[:end]
        digest = hashlib.sha256(text.encode()).hexdigest()
        self.run([(Begin(file=self.place, text=text, digest=digest), by)], write, link)

    def begin_if_new(self, checked: CheckedSession, by: str) -> None:
        """Begin, unless the process that made the file records the beginning first."""
        try:
            self.begin(checked, by)
        except Refused as refused:
            self.state = self.engine.state(MACHINE, self.stream)
            if refused.code != "session_known":
                raise

    def observe(self, data: bytes, checked: CheckedSession, by: str) -> None:
        """Record what the file has beyond the record."""
        waiting = list(self.observe_commands(data, checked))
        for first in range(0, len(waiting), MAX_BATCH):
            self.run([(command, by) for command in waiting[first : first + MAX_BATCH]])

    def observe_commands(self, data: bytes, checked: CheckedSession) -> Iterator[Observe]:
        document, size = checked.document, self.state.size
        if len(data) == size:
            return
        start = len(data[:size].decode().removeprefix(BYTE_ORDER_MARK))
        doubles = {one.entry.index for one in drop_doubles(document)[1]}
        digest = hashlib.sha256(data[:size])
        for cut in split_into_pieces(document, start):
            text = document.text[cut.start : cut.end]
            raw = text.encode()
            if data[size : size + len(raw)] != raw:
                return  # not UTF-8: such a file is invalid and cannot be recorded as text
            digest.update(raw)
            entry = cut.entry
            yield Observe(
                start=size,
                text=text,
                digest=digest.hexdigest(),
                double=entry is not None and entry.index in doubles,
            )
            size += len(raw)

    def fits(self, reading: SessionReading) -> bool:
        """Return whether the file is what was recorded, with at most something appended."""
        size = self.state.size
        if reading.size <= size:
            return reading.size == size and reading.digest == self.state.digest
        return hashlib.sha256(reading.data[:size]).hexdigest() == self.state.digest

    def restore(self, data: bytes) -> bytes:
        """Restore the file's lost end; Refused if the rest is not exactly what was recorded."""
        expected = read_recorded_bytes(self.workspace, self.stream)
        if len(data) >= len(expected) or not expected.startswith(data):
            raise session_changed(self.file)
        append(self.file, expected[len(data) :])
        return expected


def read_recorded_bytes(workspace: Workspace, stream: str) -> bytes:
    """Return the whole file as it was recorded, whatever it contains now."""
    with workspace.store.read() as view:
        events = read_events(view, stream)
    return b"".join(part for part, _, _ in list_recorded_parts(events, workspace.artifacts))


def read_events(view: View, stream: str) -> list[tuple[int, Event]]:
    """Return the events of a session, each with its seq."""
    records = view.records(stream)
    return [(record.seq, read_record(MACHINE, record).event) for record in records]


def list_recorded_parts(
    events: Iterable[tuple[int, Event]], artifacts: Artifacts
) -> list[RecordedPart]:
    """Return the recorded file in parts: the bytes, the seq of their event, their entry id."""
    parts: list[RecordedPart] = []
    for seq, event in events:
        if isinstance(event, Piece):
            text = event.text
            data = b"".join(artifacts.chunks(event.sha256)) if text is None else text.encode()
            part = (data, seq, getattr(event, "id", ""))
            place = _split_at(parts, event.start) if isinstance(event, ContextAdded) else None
            parts.insert(len(parts) if place is None else place, part)
    return parts


def _split_at(parts: list[RecordedPart], offset: int) -> int:
    """Split the part at this byte offset; return the index where a new part goes."""
    for place, (data, seq, name) in enumerate(parts):
        if offset <= 0:
            return place
        if offset < len(data):
            parts[place : place + 1] = [(data[:offset], seq, name), (data[offset:], seq, name)]
            return place + 1
        offset -= len(data)
    return len(parts)


def session_changed(file: Path) -> Refused:
    return Refused(
        "session_changed",
        f"{file} is no longer what was recorded",
        hint=f"`moot debate verify {file}` says where; nothing was written",
    )


def find_record(workspace: Workspace, file: Path, checked: CheckedSession) -> SessionRecord | None:
    """Find the record of a file by its session id, or by its path if the id was changed."""
    session = checked.document.session_id
    record = SessionRecord(workspace, file, session) if is_uuid(session) else None
    if record is not None and record.is_known:
        return record
    with workspace.store.read() as view:
        session_here = find_session_at(view, path_in_record(workspace.root, file))
    return (
        record if session_here in (None, session) else SessionRecord(workspace, file, session_here)
    )


def find_duplicate(record: SessionRecord) -> list[Finding]:
    """Report a second file with the id of a recorded session, unless the file moved (BNC-026)."""
    other = record.state.file
    is_elsewhere = record.is_known and other != record.place
    if not is_elsewhere or not (record.workspace.root / other).exists():
        return []
    return [
        Finding(
            rule="3.1",
            code="duplicate_session",
            message=f"{other} has the same session id: this file is a duplicate of it",
            severity=Severity.WARNING,
            line=3,
            hint=f"append to {other}, or give this file another session id",
        )
    ]
