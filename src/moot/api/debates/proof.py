"""Verify a debate's file against its record, and follow the file while others write to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.api.debates.check import (
    FileComparison,
    PlaceInFile,
    compare_with_record,
    find_stream_of_file,
)
from moot.api.debates.locked_session import lock_session
from moot.api.debates.places import read_debate_file
from moot.api.debates.record import SessionRecord
from moot.api.debates.session_file import open_to_read, read_file, unreadable
from moot.api.operation import operation
from moot.core.clock import to_text
from moot.core.errors import Refused, Tampered
from moot.core.findings import fill_hints
from moot.core.text import Quoted
from moot.protocols.debate.commands import Observe
from moot.protocols.debate.machine import MACHINE
from moot.protocols.debate.phases import Phase
from moot.protocols.debate.reader import read_document
from moot.protocols.debate.session_follower import CompletePiece, SessionFollower
from moot.protocols.debate.state import course_from_state
from moot.protocols.debate.turns import find_standing
from moot.protocols.debate.views import EntryView, view_entry
from moot.store.artifacts import FileArtifacts
from moot.verify.verdict import VerdictCheck
from moot.workspace.find import require_ledger
from moot.workspace.workspace import Workspace

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.protocols.debate.model import Rules
    from moot.protocols.debate.state import State as DebateState
    from moot.verify import BundleVerdict
    from moot.verify.verdict import BundlePlace


SECONDS_BETWEEN_REPORTS: Final = 1.0


class VerdictPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the file with its `entry`, or one of the record with its `stream`."""

    line: int
    stream: str | msgspec.UnsetType | None = msgspec.UNSET
    entry: Quoted | msgspec.UnsetType | None = msgspec.UNSET
    seq: int | None


class DebateVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on a debate's file and on the record that it is compared with.

    The fields are those of every verdict on a record (`moot.verify`); `findings` begin with what
    was found in the file.
    """

    verdict: str
    integrity: str
    authenticity: str
    completeness: str
    freshness: str
    key_status: str
    artifacts: str
    custody: str
    first_bad: VerdictPlace | None
    last_trusted: VerdictPlace | None
    checks: tuple[VerdictCheck, ...]
    findings: list[dict[str, Any]]
    origin: str | None
    clock: str | None
    events: int
    streams: int
    checkpoint: int | None
    checkpoint_streams: int | None
    fingerprint: str | None
    says: dict[str, Any] | None


class WatchedDebate(msgspec.Struct, frozen=True):
    """The entries that were yielded, and the state of the debate after them."""

    entries: tuple[EntryView, ...]
    state: Phase
    round: int
    turn: int
    next: str | None
    deadline: str | None
    ended_at_round: int | None


class DebateTurn(msgspec.Struct, frozen=True):
    """Whose turn it is; `seconds_left` is negative after the timeout, None without a limit."""

    state: Phase
    round: int
    turn: int
    next: str | None
    seconds_left: float | None


@operation("debate.verify")
def verify(session: Session, file: Path, *, trust: Path | None = None) -> DebateVerdict:
    """Check that every byte of a file is what its authors signed, or what Moot observed.

    The file is compared with its record in this workspace: each change, removal, insertion or move
    is reported with its line and entry. `trust` is a trust file to use instead of the one that the
    key folder remembers. NotFound if the file is not recorded. The check writes nothing.
    """
    from moot.hosts.opening import open_for_check
    from moot.workspace.integrity_check import CheckOptions, check_workspace

    folder = require_ledger(session.workspace_folder)
    data = read_debate_file(session, file)
    with open_for_check(folder, session.keys) as reader, reader.read() as view:
        stream = find_stream_of_file(view, folder, file, read_document(data))
        artifacts = FileArtifacts(folder / "artifacts")
        comparison = compare_with_record(view, stream, artifacts, data)
    return _combine_verdicts(
        file, comparison, check_workspace(folder, CheckOptions(session.keys, trust), stream)
    )


def _combine_verdicts(
    file: Path, comparison: FileComparison, ledger: BundleVerdict
) -> DebateVerdict:
    """Combine both verdicts; a bad record decides alone, as a file is no better than its record."""
    fields = msgspec.structs.asdict(ledger)
    fields["first_bad"] = _ledger_place(ledger.first_bad)
    fields["last_trusted"] = _ledger_place(ledger.last_trusted)
    fields["findings"] = findings = [msgspec.to_builtins(finding) for finding in ledger.findings]
    fields["checks"] = (
        *ledger.checks,
        VerdictCheck("file", comparison.verdict == "valid", comparison.integrity),
    )
    if not ledger and ledger.verdict != "unproven":
        return DebateVerdict(**fields)
    fields["authenticity"] = f"{ledger.authenticity}; {comparison.authenticity}"
    fields["integrity"] = f"{ledger.integrity}; {comparison.integrity}"
    if comparison.verdict != "valid":
        fields["verdict"], fields["integrity"] = comparison.verdict, comparison.integrity
        fields["first_bad"] = _file_place(comparison.first_bad)
        fields["last_trusted"] = _file_place(comparison.last_trusted)
    found = fill_hints(comparison.findings, {"FILE": str(file)})
    fields["findings"] = [*map(msgspec.to_builtins, found), *findings]
    return DebateVerdict(**fields)


def _ledger_place(place: BundlePlace | None) -> VerdictPlace | None:
    if place is None:
        return None
    return VerdictPlace(line=place.line, stream=place.stream, seq=place.seq)


def _file_place(place: PlaceInFile | None) -> VerdictPlace | None:
    if place is None:
        return None
    return VerdictPlace(line=place.line, entry=place.entry, seq=place.seq)


def follow(
    session: Session, file: Path, *, stop: Callable[[], bool] = lambda: False
) -> Iterator[EntryView]:
    """Yield each entry of a debate as it is completed, until the debate ends or `stop()` is true.

    In a workspace, entries written by other programs or by hand are recorded as observed. Raises
    Tampered if the file changes above what was already read.
    """
    return _follow_entries(FollowedFile(file, session.workspace_or_none), stop)


@operation("debate.watch", writes=True)
def watch(
    session: Session,
    file: Path,
    *,
    seconds: float | None = None,
    stop: Callable[[], bool] = lambda: False,
    receive: Callable[[EntryView], None] | None = None,
    receive_turn: Callable[[DebateTurn], None] | None = None,
) -> WatchedDebate:
    """Follow a debate until it ends, for at most `seconds` (0: one look), or until `stop()`.

    `receive` gets each entry as it is completed, `receive_turn` about once a second whose turn it
    is. In a workspace, entries written by other programs or by hand are recorded as observed, once.
    """
    next_report = time.monotonic()
    end = None if seconds is None else next_report + seconds
    watched = FollowedFile(file, session.workspace_or_none)
    entries: list[EntryView] = []

    def is_over() -> bool:
        """Also report whose turn it is, at most once a second: in a long session that is slow."""
        nonlocal next_report
        state, now = watched.follower.state, time.monotonic()
        if receive_turn is not None and now >= next_report and state and state.rules:
            next_report = now + SECONDS_BETWEEN_REPORTS
            receive_turn(_describe_turn(session, state, state.rules))
        return stop() or (end is not None and time.monotonic() >= end)

    for entry in _follow_entries(watched, is_over):
        entries.append(entry)
        if receive is not None:
            receive(entry)
    return _describe_progress(session, watched, tuple(entries))


def _describe_turn(session: Session, state: DebateState, rules: Rules) -> DebateTurn:
    now = session.clock()
    standing = find_standing(course_from_state(state, rules), now)
    left = None if standing.deadline is None else (standing.deadline - now) / 1_000
    return DebateTurn(standing.phase, standing.round, standing.turn, standing.next_speaker, left)


def _follow_entries(watched: FollowedFile, stop: Callable[[], bool]) -> Iterator[EntryView]:
    """Yield each entry once, without duplicates, with its line in the file."""
    for piece in follow_file(watched, stop):
        if piece.entry is not None and not piece.double:
            yield msgspec.structs.replace(view_entry(piece.entry), line=piece.line)


def _describe_progress(
    session: Session, watched: FollowedFile, entries: tuple[EntryView, ...]
) -> WatchedDebate:
    """Describe the state of the session as far as the file was read."""
    state = watched.follower.state
    if state is None or state.rules is None:
        raise Refused(
            "invalid_session",
            "this file is not a session that can be followed",
            hint="`moot debate check FILE` says what to fix",
        )
    standing = find_standing(course_from_state(state, state.rules), session.clock())
    return WatchedDebate(
        entries,
        standing.phase,
        standing.round,
        standing.turn,
        standing.next_speaker,
        None if standing.deadline is None else to_text(standing.deadline),
        state.ended_at_round,
    )


POLL_SECONDS: Final = 0.1
_COMPARED_BYTES: Final = 256


class FollowedFile:
    """A file that is followed from its beginning; in a workspace its entries are observed.

    Each read costs only what was appended since the last one. If the file became shorter or its
    last bytes changed, that is an error, and the watch ends.
    """

    def __init__(self, file: Path, workspace: Workspace | None = None) -> None:
        self.file = file
        self.follower = SessionFollower()
        self._at = 0
        self._last = b""
        self._record = self._find_record(workspace)

    def _find_record(self, workspace: Workspace | None) -> SessionRecord | None:
        """Return the file's record, brought up to date; begin it if there is none."""
        if workspace is None:
            read_file(self.file)
            return None
        with lock_session(self.file, workspace.engine.clock, workspace) as debate:
            return debate.begin_record()

    def read_new(self) -> list[CompletePiece]:
        """Return what was completed since the last read, and record it as observed."""
        pieces = list(self.follower.feed(self._read_new_bytes()))
        for piece in pieces:
            self._observe(piece)
        return pieces

    def _read_new_bytes(self) -> bytes:
        try:
            with open_to_read(self.file) as file:
                file.seek(self._at - len(self._last))
                if file.read(len(self._last)) != self._last:
                    raise Tampered(
                        f"{self.file} was changed above the part that was already read",
                        code="session_changed",
                        hint=f"`moot debate verify {self.file}`, or compare it with a copy",
                    )
                data = file.read()
        except OSError as error:
            raise unreadable(self.file, error) from None
        self._at += len(data)
        self._last = (self._last + data)[-_COMPARED_BYTES:]
        return data

    def _observe(self, piece: CompletePiece) -> None:
        """Record the piece, unless its author recorded it when writing it."""
        record = self._record
        witness = record.witness(None) if record is not None else None
        if record is None or witness is None or not self.follower.is_utf8:
            return
        record.state = record.engine.state(MACHINE, record.stream)
        if record.state.size != piece.start:
            return
        command = Observe(
            start=piece.start, text=piece.text, digest=piece.digest, double=piece.double
        )
        try:
            record.run([(command, witness)])
        except Refused as refused:
            if all(found.code != "out_of_step" for found in refused.findings):
                raise


def follow_file(
    file: FollowedFile, until: Callable[[], bool], sleep: Callable[[float], None] = time.sleep
) -> Iterator[CompletePiece]:
    """Yield every completed piece until the session ends or `until()` is true."""
    while True:
        yield from file.read_new()
        state = file.follower.state
        if until() or (state is not None and state.phase.has_ended):
            return
        sleep(POLL_SECONDS)
