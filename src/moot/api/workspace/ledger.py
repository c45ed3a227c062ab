"""The record as a whole: what is on it, copies of it that prove something elsewhere, its care."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.api.operation import operation
from moot.core.clock import system_clock
from moot.core.errors import Malformed, NotFound, Refused, Tampered, Unavailable
from moot.core.findings import Finding, select_errors
from moot.core.names import REGISTRY
from moot.core.text import Quoted
from moot.protocols.presence import STREAM as PRESENCE
from moot.protocols.presence.timeline import Withdrawal

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.checkpoint_note import Checkpoint
    from moot.core.ledger import View
    from moot.core.record import Record
    from moot.verify import BundleVerdict
    from moot.workspace.workspace import Workspace

# Told (done, total) while something takes long.
Progress = Callable[[int, int], None]
TELL_EVERY: Final = 1_024
NEWEST: Final = 100


class StreamLine(msgspec.Struct, frozen=True):
    """One debate, thread, trace, ... on record; `last_at` is None if its newest is unreadable."""

    id: Quoted
    events: int
    last_at: str | None


class StreamList(msgspec.Struct, frozen=True):
    """`total` counts those that were left out, too."""

    streams: list[StreamLine]
    total: int


class LogEvent(msgspec.Struct, frozen=True):
    """An event as it stands on record. A damaged one is `unreadable` and says why; of a false one
    `withdrawn` says who withdrew it and why."""

    seq: int
    hash: str
    kid: str
    at: str | None
    type: str | None
    actor: str | None
    unreadable: str | msgspec.UnsetType = msgspec.UNSET
    role: str | msgspec.UnsetType | None = msgspec.UNSET
    cause: str | msgspec.UnsetType | None = msgspec.UNSET
    corr: str | msgspec.UnsetType | None = msgspec.UNSET
    data: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    artifacts: list[Any] | msgspec.UnsetType = msgspec.UNSET
    withdrawn: Withdrawal | msgspec.UnsetType = msgspec.UNSET


class EventList(msgspec.Struct, frozen=True):
    """The events of one history, oldest first; `total` counts all of them."""

    id: Quoted
    events: list[LogEvent]
    total: int


class MadeCheckpoint(msgspec.Struct, frozen=True):
    """`made` is False if nothing was written since the newest one, which is then given."""

    made: bool
    file: str | None
    note: str
    number: int
    events: int
    at: str


class Exported(msgspec.Struct, frozen=True):
    """`complete`: everything in it is under a checkpoint. `rolled_back`: events were lost."""

    file: str
    sha256: str
    bytes: int
    complete: bool
    checkpoint: int | None
    rolled_back: bool


class BackedUp(msgspec.Struct, frozen=True):
    file: str
    bytes: int
    events: int


class Rebuilt(msgspec.Struct, frozen=True):
    """What was recomputed; `findings` are the differences that were mended."""

    changed: bool
    events: int
    rows: int
    words: int
    snapshots: int
    findings: tuple[Finding, ...]


class Diagnosis(msgspec.Struct, frozen=True):
    """`healthy` is False if anything is seriously wrong; `checked` is how much was looked at."""

    healthy: bool
    checked: int
    findings: tuple[Finding, ...]


class AcceptedLoss(msgspec.Struct, frozen=True):
    checkpoint: int
    by: str | None
    reason: str


class Fork(msgspec.Struct, frozen=True):
    """Another event, signed by a key known here, for a position that is taken here."""

    id: str
    seq: int
    kid: str
    hash: str


class Witnessed(msgspec.Struct, frozen=True):
    """Two copies compared: `verdict` is agrees or forked, `other` what the other copy is worth."""

    verdict: str
    same: int
    only_there: int
    differing: int
    forks: list[Fork]
    other: str


@operation("ledger.log", also="log")
def log(
    session: Session,
    name: str | None = None,
    *,
    limit: int = NEWEST,
    kind: str | None = None,
    before: int | None = None,
) -> StreamList | EventList:
    """What is on record: a list of all histories, or the newest events of one of them.

    `limit` 0 means all; `kind` keeps only events of that type, and `before` only those whose
    number in their history is lower. What has a report is found by its short id, too (`q-1`).
    """
    from moot.api.page.reports import find_stream_with_page

    with session.workspace.store.read() as view:
        if name is None:
            return _streams(view, limit)
        if view.head(name) is None:
            name = find_stream_with_page(session, name) or name
        return _events(view, name, limit, kind, before)


def _streams(view: View, limit: int) -> StreamList:
    heads = list(view.streams())
    shown = heads[-limit:] if limit else heads
    lines = [
        StreamLine(Quoted(name), head.seq + 1, _last_at(view, name, head.seq))
        for name, head in shown
    ]
    return StreamList(lines, len(heads))


def _last_at(view: View, name: str, seq: int) -> str | None:
    record = next(view.records(name, after=seq - 1), None)
    return None if record is None else _log_event(record).at


def _events(view: View, name: str, limit: int, kind: str | None, before: int | None) -> EventList:
    head = view.head(name)
    if head is None:
        raise NotFound("not_found", f"no record of {name}", hint="`moot ledger log` lists all")
    last = head.seq if before is None else min(head.seq, before - 1)
    events = [_log_event(record) for record in _chosen(view, name, last, limit, kind)]
    if name == PRESENCE:
        events = [_with_mark(view, event) for event in events]
    return EventList(Quoted(name), events, head.seq + 1)


def _with_mark(view: View, event: LogEvent) -> LogEvent:
    """A false entry with who withdrew it; what only refers to an entry has none."""
    from moot.api.presence.events import find_withdrawal

    is_entry = event.type == "presence.incursion_noted" and bool(event.data)
    mark = find_withdrawal(view, str((event.data or {}).get("id"))) if is_entry else None
    return event if mark is None else msgspec.structs.replace(event, withdrawn=mark)


def _chosen(view: View, name: str, last: int, limit: int, kind: str | None) -> Iterable[Record]:
    first = max(last - limit, -1) if limit and kind is None else -1
    records = takewhile(lambda record: record.seq <= last, view.records(name, after=first))
    if kind is None:
        return records
    matches = (record for record in records if _log_event(record).type == kind)
    return deque(matches, maxlen=limit) if limit else matches


def _log_event(record: Record) -> LogEvent:
    """A damaged event is shown as such: a log must not hide what is there."""
    known = (record.seq, record.hash.hex(), record.kid)
    try:
        body = record.body
    except Malformed as error:
        return LogEvent(*known, None, None, None, unreadable=str(error))
    return LogEvent(
        *known,
        body.at,
        body.type,
        body.actor.id,
        role=body.actor.role,
        cause=body.cause,
        corr=body.corr,
        data=body.data,
        artifacts=msgspec.to_builtins(body.artifacts),
    )


@operation("ledger.checkpoint", writes=True, as_ledger=True)
def checkpoint(session: Session, *, file: Path | None = None) -> MadeCheckpoint:
    """Put one signature over everything that is on record now; a repeat makes no second one.

    Kept on another machine, the note shows later whether anything was taken back since. With
    `file` the signed note is written there.
    """
    workspace = session.workspace
    made = workspace.engine.checkpoint()
    note, newest = _newest_checkpoint(workspace)
    assert newest is not None, "a ledger has an event from its first moment"
    if file is not None:
        from moot.store.files import write_file

        write_file(file, note.encode())
    name = None if file is None else str(file)
    return MadeCheckpoint(made is not None, name, note, newest.number, newest.events, newest.at)


@operation("ledger.export")
def export(
    session: Session, file: Path, ids: Iterable[str] = (), *, progress: Progress | None = None
) -> Exported:
    """Write the record, or the histories named by `ids`, to a file that anyone can check offline.

    The keys it rests on and all cited files are always in it. A checkpoint is made first if its
    key is here; otherwise nothing proves that the newest events are all there.
    """
    from moot.engine.export import bundle
    from moot.store.files import write_pieces

    workspace = session.workspace
    _checkpoint_if_possible(workspace)
    with workspace.store.read() as view:
        lines = bundle(view, workspace.trust, workspace.artifacts, tuple(ids) or None)
        sha256, size = write_pieces(file, _count(lines, progress))
        complete = not view.moved_heads()
    _, newest = _newest_checkpoint(workspace)
    number = newest.number if newest else None
    return Exported(str(file), sha256, size, complete, number, workspace.rollback is not None)


def _count(lines: Iterable[bytes], progress: Progress | None) -> Iterator[bytes]:
    """The same lines, telling how far they are; the first one promises how many there will be."""
    total = 0
    for number, line in enumerate(lines):
        if number == 0:
            total = msgspec.json.decode(line)["lines"] + 1
        if progress is not None and number % TELL_EVERY == 0:
            progress(number, total)
        yield line


def _checkpoint_if_possible(workspace: Workspace) -> None:
    """A checkpoint if one can be made: the key may be elsewhere, the ledger may be an old copy,
    or nothing may be written."""
    if workspace.rollback is None and workspace.write_error is None:
        with suppress(Refused, Tampered, Unavailable):
            workspace.engine.checkpoint()


def _newest_checkpoint(workspace: Workspace) -> tuple[str, Checkpoint | None]:
    """The newest checkpoint, as a note and as data; a damaged one is none."""
    from moot.engine.checkpoints import newest_checkpoint

    with workspace.store.read() as view, suppress(Tampered):
        return view.newest_note() or "", newest_checkpoint(view, workspace.trust)
    return "", None


@operation("ledger.backup")
def backup(session: Session, file: Path) -> BackedUp:
    """Copy the ledger file while others go on writing, and check the copy.

    An existing file is never overwritten. Files cited by the record are not in it.
    """
    from moot.store.files import unwritable_file
    from moot.workspace.recovery import back_up

    try:
        made = back_up(session.workspace.store, file)
    except OSError as error:
        raise unwritable_file(file, error) from None
    return BackedUp(str(file), made.size, made.events)


@operation("ledger.rebuild", writes=True, as_ledger=True)
def rebuild(session: Session) -> Rebuilt:
    """Recompute every index and snapshot from the events; replace them if they differ.

    So is the tree of heads under the newest checkpoint, if that one signs its root; else nothing is
    changed. An index table that is missing is made anew, if the events are whole; else nothing is
    changed. Events are never touched. Signs of life and delivery cursors are kept: no event holds
    them. Doing it again changes nothing.
    """
    from moot.engine.rebuild import missing_table_finding
    from moot.store.sqlite.missing_tables import make_readable
    from moot.workspace.find import LEDGER, is_in_database

    session.require_workspace()
    folder = session.workspace_folder
    remade = [] if is_in_database(folder) else make_readable(folder / LEDGER)
    done = session.workspace.engine.rebuild()
    findings = (*map(missing_table_finding, remade), *done.differences)
    return Rebuilt(bool(findings), done.events, done.rows, done.words, done.snapshots, findings)


@operation("ledger.doctor", also="doctor")
def doctor(session: Session) -> Diagnosis:
    """What is wrong with this workspace and how to mend it. Repairs nothing, writes nothing.

    Looks at the ledger file, every chain of events, indexes, stored files, keys, git, the clock,
    the disk, the hooks and servers of coding tools, and the settings.
    """
    from moot.api.hook_setup.hook_status import find_problems
    from moot.api.hook_setup.server_files import find_server_problems
    from moot.workspace.health_checks import RULES, examine_workspace
    from moot.workspace.settings import find_settings_problems

    findings = examine_workspace(session.workspace_folder, session.keys, system_clock())
    findings += find_problems(session.folder, session.env, session.home)
    findings += find_server_problems(session.folder, session.env, session.home)
    findings += find_settings_problems(session.folder, session.env)
    return Diagnosis(not select_errors(findings), len(RULES), findings)


@operation("ledger.accept_loss", writes=True)
def accept_loss(session: Session, reason: str) -> AcceptedLoss:
    """Go on from an older copy of the ledger, because the newest is lost for good.

    The missing checkpoint and the reason stay on record, and everyone can see them. If a person is
    registered here, one of them must unlock their key. A loss that leaves events resting on keys
    that were registered in the lost part is not accepted. Once accepted there is nothing to accept.
    """
    from moot.workspace.recovery import accept_loss as accept

    session.workspace.engine.load_from_start(REGISTRY)  # what is left of it says who must sign
    session.require_no_agent("accepting a loss")
    person = session.person_signer()
    made = accept(session.workspace, reason, person)
    return AcceptedLoss(made.checkpoint.number, person.kid if person else None, reason)


@operation("ledger.witness", writes=True)
def witness(session: Session, file: Path, *, progress: Progress | None = None) -> Witnessed:
    """Compare an export of another copy of this ledger with this one.

    Where both hold a different event for the same position, and the other one is signed by a key
    known here, it is kept as proof, once: verification says so from then on, and every export
    shows it.
    """
    from moot.engine.witness import witness as compare
    from moot.verify.receipt import open_receipt

    verdict = _require_sound_copy(session, file, progress)
    with file.open("rb") as other:
        seen = compare(session.workspace.engine, open_receipt(other).file)
    forks = [Fork(fork.stream, fork.seq, fork.kid, fork.hash.hex()) for fork in seen.forks]
    agreement = "forked" if seen.differing else "agrees"
    return Witnessed(agreement, seen.same, seen.ahead, seen.differing, forks, verdict.verdict)


def _require_sound_copy(session: Session, file: Path, progress: Progress | None) -> BundleVerdict:
    """The other copy must hold by itself, and be of this ledger."""
    from moot.workspace.integrity_check import CheckOptions, check_file

    workspace = session.workspace
    how = CheckOptions(session.keys, workspace.path / "trust.json", progress=progress)
    verdict = check_file(file, how)
    if verdict.verdict == "tampered":
        raise Tampered(
            f"{file.name} is damaged itself and proves nothing",
            hint=f"`moot verify {file.name}` says where; obtain it again",
        )
    if verdict.origin != workspace.trust.origin:
        raise Unavailable(
            "another_ledger", f"{file.name} is of another ledger", hint="compare like with like"
        )
    return verdict
