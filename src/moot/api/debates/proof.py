"""A debate's file against its record, and the file as others write it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.api.debates.places import read_debate_file
from moot.api.operation import operation
from moot.core.errors import Refused
from moot.core.findings import fill_hints
from moot.core.quoted import Quoted
from moot.protocols.debate.phases import Phase
from moot.protocols.debate.views import EntryView
from moot.verify.verdict import VerdictCheck

SECONDS_BETWEEN_LOOKS: Final = 1.0

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.flows.debate.check import FileComparison, PlaceInFile
    from moot.flows.debate.following import FollowedFile
    from moot.protocols.debate.model import Rules
    from moot.protocols.debate.state import State as DebateState
    from moot.verify import BundleVerdict
    from moot.verify.verdict import BundlePlace


class VerdictPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the file with its `entry`, or one of the record with its `stream`."""

    line: int
    stream: str | msgspec.UnsetType | None = msgspec.UNSET
    entry: Quoted | msgspec.UnsetType | None = msgspec.UNSET
    seq: int | None


class DebateVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What can be said of a debate's file and of the record that it is held against.

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
    """The entries that were yielded, and where the debate stands after them."""

    entries: tuple[EntryView, ...]
    state: Phase
    round: int
    turn: int
    next: str | None
    deadline: str | None
    ended_at_round: int | None


class DebateTurn(msgspec.Struct, frozen=True):
    """Whose turn it is; `seconds_left` is below zero once its time is up, None without a limit."""

    state: Phase
    round: int
    turn: int
    next: str | None
    seconds_left: float | None


@operation("debate.verify")
def verify(session: Session, file: Path, *, trust: Path | None = None) -> DebateVerdict:
    """Is every byte of a file what its authors signed, or what was observed?

    It is held against the record in this workspace: what was changed, removed, inserted or put
    elsewhere is named with its line and entry. `trust` is a trust file to believe instead of the
    one that the key folder remembers. NotFound if nothing is recorded of the file. Nothing is
    written by checking.
    """
    from moot.flows.debate.check import compare_with_record, stream_of_file
    from moot.protocols.debate.reader import read_document
    from moot.store.artifacts import FileArtifacts
    from moot.workspace.check import CheckOptions, check_workspace
    from moot.workspace.database import open_to_check
    from moot.workspace.find import require_ledger

    folder = require_ledger(session.workspace_folder)
    data = read_debate_file(session, file)
    with open_to_check(folder, session.keys) as reader, reader.read() as view:
        stream = stream_of_file(view, folder, file, read_document(data))
        artifacts = FileArtifacts(folder / "artifacts")
        compared = compare_with_record(view, stream, artifacts, data)
    return _verdict_on(
        file, compared, check_workspace(folder, CheckOptions(session.keys, trust), stream)
    )


def _verdict_on(file: Path, compared: FileComparison, ledger: BundleVerdict) -> DebateVerdict:
    """A file is only as well proved as the record it is held against: a bad one decides alone."""
    fields = msgspec.structs.asdict(ledger)
    fields["first_bad"] = _ledger_place(ledger.first_bad)
    fields["last_trusted"] = _ledger_place(ledger.last_trusted)
    fields["findings"] = findings = [msgspec.to_builtins(finding) for finding in ledger.findings]
    fields["checks"] = (
        *ledger.checks,
        VerdictCheck("file", compared.verdict == "valid", compared.integrity),
    )
    if not ledger and ledger.verdict != "unproven":
        return DebateVerdict(**fields)
    fields["authenticity"] = f"{ledger.authenticity}; {compared.authenticity}"
    fields["integrity"] = f"{ledger.integrity}; {compared.integrity}"
    if compared.verdict != "valid":
        fields["verdict"], fields["integrity"] = compared.verdict, compared.integrity
        fields["first_bad"] = _file_place(compared.first_bad)
        fields["last_trusted"] = _file_place(compared.last_trusted)
    found = fill_hints(compared.findings, {"FILE": str(file)})
    fields["findings"] = [*map(msgspec.to_builtins, found), *findings]
    return DebateVerdict(**fields)


def _ledger_place(place: BundlePlace | None) -> VerdictPlace | None:
    if place is None:
        return None
    return VerdictPlace(line=place.line, stream=place.stream, seq=place.seq)


def _file_place(place: PlaceInFile | None) -> VerdictPlace | None:
    if place is None:
        return None
    return VerdictPlace(
        line=place.line, entry=None if place.entry is None else Quoted(place.entry), seq=place.seq
    )


def follow(
    session: Session, file: Path, *, stop: Callable[[], bool] = lambda: False
) -> Iterator[EntryView]:
    """Each entry of a debate as it is yielded, until the debate ends or `stop()` is true.

    In a workspace entries by other programs, or by hand, are recorded as observed. Tampered if the
    file changes above what was already read.
    """
    from moot.flows.debate.following import FollowedFile

    return _entries(FollowedFile(file, session.workspace_or_none), stop)


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

    `receive` is handed each entry as it is yielded, `receive_turn` about once a second whose turn
    it is. Entries by other programs, or by hand, are recorded as observed in a workspace; watching
    again records nothing twice.
    """
    from moot.flows.debate.following import FollowedFile

    end = None if seconds is None else time.monotonic() + seconds
    watched = FollowedFile(file, session.workspace_or_none)
    entries: list[EntryView] = []
    look = _TurnLook(session, watched, receive_turn)
    for entry in _entries(watched, lambda: look.tell() or stop() or _is_over(end)):
        entries.append(entry)
        if receive is not None:
            receive(entry)
    return _standing(session, watched, tuple(entries))


class _TurnLook:
    """Tells whose turn it is, at most once a second: a long session takes a while to add up."""

    def __init__(
        self,
        session: Session,
        watched: FollowedFile,
        receive: Callable[[DebateTurn], None] | None,
    ) -> None:
        self._session, self._watched, self._receive = session, watched, receive
        self._next = time.monotonic()

    def tell(self) -> bool:
        """Always False: it ends nothing."""
        state = self._watched.follower.state
        now = time.monotonic()
        if self._receive is None or now < self._next or state is None or state.rules is None:
            return False
        self._next = now + SECONDS_BETWEEN_LOOKS
        self._receive(_turn(self._session, state, state.rules))
        return False


def _turn(session: Session, state: DebateState, rules: Rules) -> DebateTurn:
    from moot.protocols.debate.state import course_from_state
    from moot.protocols.debate.turns import find_standing

    now = session.clock()
    here = find_standing(course_from_state(state, rules), now)
    left = None if here.deadline is None else (here.deadline - now) / 1_000
    return DebateTurn(here.phase, here.round, here.turn, here.next_speaker, left)


def _is_over(end: float | None) -> bool:
    return end is not None and time.monotonic() >= end


def _entries(watched: FollowedFile, stop: Callable[[], bool]) -> Iterator[EntryView]:
    """What was read twice (a double) is shown once; lines are those of the file."""
    from moot.flows.debate.following import follow as follow_pieces
    from moot.protocols.debate.views import view_entry

    for piece in follow_pieces(watched, stop):
        if piece.entry is not None and not piece.double:
            yield msgspec.structs.replace(view_entry(piece.entry), line=piece.line)


def _standing(
    session: Session, watched: FollowedFile, entries: tuple[EntryView, ...]
) -> WatchedDebate:
    """Where the session stands, by what was read of it."""
    from moot.core.clock import to_text
    from moot.protocols.debate.state import course_from_state
    from moot.protocols.debate.turns import find_standing

    state = watched.follower.state
    if state is None or state.rules is None:
        raise Refused(
            "invalid_session",
            "this file is not a session that can be followed",
            hint="`moot debate check FILE` says what to mend",
        )
    here = find_standing(course_from_state(state, state.rules), session.clock())
    return WatchedDebate(
        entries,
        here.phase,
        here.round,
        here.turn,
        here.next_speaker,
        None if here.deadline is None else to_text(here.deadline),
        state.ended_at_round,
    )
