"""The record as a whole: its log, checkpoints, exports, backups, and repair."""

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

# Called with (done, total) during a long operation.
Progress = Callable[[int, int], None]
PROGRESS_STEP: Final = 1_024
NEWEST: Final = 100


class StreamLine(msgspec.Struct, frozen=True):
    """One recorded debate, thread, trace, ...; `last_at` is None if unreadable."""

    id: Quoted
    events: int
    last_at: str | None


class StreamList(msgspec.Struct, frozen=True):
    """`total` also counts streams that are not listed."""

    streams: list[StreamLine]
    total: int


class LogEvent(msgspec.Struct, frozen=True):
    """An event as recorded. `unreadable` says why a damaged one cannot be read; `withdrawn` who
    withdrew a false one and why."""

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
    """The events of one stream, oldest first; `total` counts all of them."""

    id: Quoted
    events: list[LogEvent]
    total: int


class MadeCheckpoint(msgspec.Struct, frozen=True):
    """`made` is False if nothing was written since the newest one, which is returned then."""

    made: bool
    file: str | None
    note: str
    number: int
    events: int
    at: str


class Exported(msgspec.Struct, frozen=True):
    """`complete`: a checkpoint covers all of it. `rolled_back`: events were lost."""

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
    """What was recomputed; `findings` are the differences that were fixed."""

    changed: bool
    events: int
    rows: int
    words: int
    snapshots: int
    findings: tuple[Finding, ...]


class Diagnosis(msgspec.Struct, frozen=True):
    """`healthy` is False if a finding is an error; `checked` counts the rules."""

    healthy: bool
    checked: int
    findings: tuple[Finding, ...]


class AcceptedLoss(msgspec.Struct, frozen=True):
    checkpoint: int
    by: str | None
    reason: str


class Fork(msgspec.Struct, frozen=True):
    """Another event for a position that has one here, signed by a key known here."""

    id: str
    seq: int
    kid: str
    hash: str


class Witnessed(msgspec.Struct, frozen=True):
    """Two copies compared: `verdict` is agrees or forked, `other` the verdict on the other copy."""

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
    """List all streams of the record, or the newest events of one of them.

    `limit` 0 means all; `kind` keeps only events of that type, `before` only those at a lower
    position in their stream. A stream with a report is also found by its short id (`q-1`).
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
        events = [_with_withdrawal(view, event) for event in events]
    return EventList(Quoted(name), events, head.seq + 1)


def _with_withdrawal(view: View, event: LogEvent) -> LogEvent:
    """Add who withdrew an INCURSION; events that only refer to one stay as they are."""
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
    """Describe an event, also a damaged one: a log must not hide it."""
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
    """Sign the present state of the whole record; a repeat makes no second checkpoint.

    A copy of the note on another machine later shows whether events were removed since. With `file`
    the signed note is written there.
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
    """Write the record, or the streams named by `ids`, to a file that anyone can check offline.

    It always contains the needed keys and all cited files. A checkpoint is made first if its key is
    here; without one nothing proves that the newest events are complete.
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
    """Yield the lines and report progress; the first line contains their number."""
    total = 0
    for number, line in enumerate(lines):
        if number == 0:
            total = msgspec.json.decode(line)["lines"] + 1
        if progress is not None and number % PROGRESS_STEP == 0:
            progress(number, total)
        yield line


def _checkpoint_if_possible(workspace: Workspace) -> None:
    """Make a checkpoint if possible: the key may be elsewhere, the ledger an old copy, or the
    workspace not writable."""
    if workspace.rollback is None and workspace.write_error is None:
        with suppress(Refused, Tampered, Unavailable):
            workspace.engine.checkpoint()


def _newest_checkpoint(workspace: Workspace) -> tuple[str, Checkpoint | None]:
    """Return the newest checkpoint, as a note and as data; a damaged one counts as none."""
    from moot.engine.checkpoints import newest_checkpoint

    with workspace.store.read() as view, suppress(Tampered):
        return view.newest_note() or "", newest_checkpoint(view, workspace.trust)
    return "", None


@operation("ledger.backup")
def backup(session: Session, file: Path) -> BackedUp:
    """Copy the ledger file while others write, and check the copy.

    An existing file is never overwritten. The copy does not contain files that the record cites.
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

    This includes the tree of heads under the newest checkpoint, if that checkpoint signs its root,
    and missing index tables, if the events are intact; otherwise nothing changes. Events are never
    changed. Signs of life and delivery cursors are kept: they are in no event. A repeat changes
    nothing.
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
    """Report what is wrong with this workspace and how to fix it; repair and write nothing.

    Checks the ledger file, every chain of events, indexes, stored files, keys, git, the clock, the
    disk, the hooks and servers of coding tools, and the settings.
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
    """Continue with an older copy of the ledger, because the newest is lost for good.

    The missing checkpoint and the reason stay in the record for everyone to see. If people are
    registered here, one of them must unlock their key. Refused if remaining events need keys that
    were registered in the lost part, and if there is no loss to accept.
    """
    from moot.workspace.recovery import accept_loss as accept

    session.workspace.engine.load_from_start(REGISTRY)  # the remaining registry says who must sign
    session.require_no_agent("accepting a loss")
    person = session.person_signer()
    made = accept(session.workspace, reason, person)
    return AcceptedLoss(made.checkpoint.number, person.kid if person else None, reason)


@operation("ledger.witness", writes=True)
def witness(session: Session, file: Path, *, progress: Progress | None = None) -> Witnessed:
    """Compare an export of another copy of this ledger with this one.

    If the other copy has a different event at the same position, signed by a key known here, that
    event is kept as proof, once: from then on verification reports it and every export contains it.
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
    """Check the other copy; raise if it is damaged or of another ledger."""
    from moot.workspace.integrity_check import CheckOptions, check_file

    workspace = session.workspace
    how = CheckOptions(session.keys, workspace.path / "trust.json", progress=progress)
    verdict = check_file(file, how)
    if verdict.verdict == "tampered":
        raise Tampered(
            f"{file.name} is damaged and proves nothing",
            hint=f"`moot verify {file.name}` says where; get another copy of it",
        )
    if verdict.origin != workspace.trust.origin:
        hint = "name an export of this ledger; `moot trust show` names it"
        raise Unavailable("another_ledger", f"{file.name} is of another ledger", hint=hint)
    return verdict
