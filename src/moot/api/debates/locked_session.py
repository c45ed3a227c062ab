"""Lock a session file and write it together with its record: the only place that writes both.

In one open transaction Moot inserts the event, appends to the file and makes it durable, and only
then commits the event. If anything fails before the commit, both stay as they were.
"""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final

from moot.api.debates.record import (
    SessionRecord,
    find_duplicate,
    find_record,
    read_recorded_bytes,
    session_changed,
)
from moot.api.debates.session_file import (
    CachedFile,
    SessionReading,
    append,
    create,
    make_reading,
    real_path,
    require_file,
    unreadable,
    unwritable,
)
from moot.core.clock import Clock
from moot.core.errors import Refused, StoreFailed
from moot.core.failed_answer import FailedAnswer
from moot.core.machine import Command
from moot.core.names import SYSTEM
from moot.protocols.debate.checker import CheckedSession, check_longer
from moot.protocols.debate.commands import Escalate, Move, Observe
from moot.protocols.debate.drafts import EntryDraft
from moot.protocols.debate.escalation import draft_failed_turn, draft_overdue_entries
from moot.protocols.debate.machine import MACHINE
from moot.protocols.debate.writer import Addition, prepare_entry, require_no_errors
from moot.workspace.workspace import Workspace

# The lock is on the file itself, so that processes which reach it through a link or from another
# container meet the same lock. If the file was replaced while a process waited, that process locks
# the new file instead. Windows forbids reading a locked file: there a lock file is next to it.

LOCK_SECONDS: Final = 30
POLL_SECONDS: Final = 0.002  # between two tries of a waiting process


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Keep other processes from writing this file meanwhile (BNC-101, BNC-104)."""
    try:
        require_file(path, os.stat(path).st_mode)
    except OSError as error:
        raise unreadable(path, error) from None
    try:
        release = _acquire(path, time.monotonic() + LOCK_SECONDS)
    except OSError as error:
        raise unwritable(path, error) from None
    try:
        yield
    finally:
        release()


def _lock_timeout(path: Path) -> StoreFailed:
    return StoreFailed("lock_timeout", f"{path}: another program is writing it", hint="try again")


if sys.platform == "win32":

    def _acquire(path: Path, until: float) -> Callable[[], None]:
        from filelock import FileLock, Timeout

        lock = FileLock(f"{real_path(path)}.lock", poll_interval=POLL_SECONDS)
        try:
            lock.acquire(timeout=until - time.monotonic())
        except Timeout:
            raise _lock_timeout(path) from None
        return lock.release

else:
    import fcntl

    def _acquire(path: Path, until: float) -> Callable[[], None]:
        while True:
            descriptor = _open(path)
            try:
                _wait(path, descriptor, until)
                if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                    return partial(os.close, descriptor)
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # replaced while we waited

    def _open(path: Path) -> int:
        """Open for writing, as locks on a network disk need it; else for reading only.

        A file that may only be read can still be recorded.
        """
        try:
            return os.open(path, os.O_RDWR | os.O_NONBLOCK)
        except OSError:
            return os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def _wait(path: Path, descriptor: int, until: float) -> None:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise _lock_timeout(path) from None
                time.sleep(POLL_SECONDS)
            else:
                return


class LockedSession:
    """A locked file and its record, brought up to date; `record` is None if there is none."""

    def __init__(
        self,
        file: Path,
        clock: Clock,
        workspace: Workspace | None,
        acting: str | None,
        reading: SessionReading,
    ):
        self.file = file
        self.now = clock()
        self.reading = reading
        self.workspace = workspace
        self.was_restored = False
        self.record = self._find_known_record(acting)

    @property
    def data(self) -> bytes:
        return self.reading.data

    @property
    def checked(self) -> CheckedSession:
        return self.reading.checked

    def _find_known_record(self, acting: str | None) -> SessionRecord | None:
        if self.workspace is None:
            return None
        record = find_record(self.workspace, self.file, self.checked)
        if record is None:
            return None
        if not record.is_known:
            if acting is None or not self.is_registered(acting) or self.checked.course is None:
                return None
            record.begin_if_new(self.checked, record.witness(acting) or acting)
        if duplicates := find_duplicate(record):
            raise Refused.of(duplicates)
        if not record.fits(self.reading):
            self.reading = make_reading(record.restore(self.data), self.file.name)
            self.was_restored = True
        witness = record.witness(acting if acting and self.is_registered(acting) else None)
        if witness is not None:
            if record.state.file != record.place:
                record.run([(Move(file=record.place), witness)])
            self._observe(record, witness)
        return record

    def _observe(self, record: SessionRecord, witness: str) -> None:
        if record.state.size != self.reading.size:
            record.observe(self.data, self.checked, witness)

    def begin_record(self) -> SessionRecord | None:
        """Return the record, and begin it first if there is none and the ledger's key is here."""
        record = self.record
        if record is None and self.workspace is not None and self.checked.course is not None:
            record = find_record(self.workspace, self.file, self.checked)
            witness = record.witness(None) if record is not None else None
            if record is None or witness is None:
                return None
            record.begin_if_new(self.checked, witness)
            self._observe(record, witness)
            self.record = record
        return record

    def is_registered(self, name: str) -> bool:
        return self.workspace is not None and name in self.workspace.engine.registry().agents

    @property
    def witness(self) -> str | None:
        """The name that records unsigned entries: `system`, if the ledger's key is here."""
        return self.record.witness(None) if self.record is not None else None

    def bytes_before(self, place: int) -> int:
        """Return a position in the text as a byte offset in the file."""
        if place == len(self.checked.document.text):
            return self.reading.size
        document = self.checked.document
        return len((document.byte_order_mark + document.text[:place]).encode())

    def append(
        self,
        text: str,
        checked_after: CheckedSession,
        command: Callable[..., Command],
        actor: str | None,
        keep: int,
    ) -> None:
        """Append to the file and record it, in one step; without an actor, only append.

        `checked_after` is the session as the file will be.
        """
        raw = text.encode()
        after = self.reading.with_appended(raw, checked_after, keep)
        write = partial(append, self.file, raw, keep)
        if self.record is None or actor is None:
            write()
        else:
            require_no_errors(self.checked)
            start = self.record.state.size
            above = self.data[start:keep].decode() if start < keep else ""
            recorded_command = command(start=start, text=above + text, digest=after.digest)
            self.record.run([(recorded_command, actor)], write)
        self.reading = after

    def append_entry(
        self, addition: Addition, command: Callable[..., Command], actor: str | None
    ) -> None:
        keep = self.bytes_before(addition.keep_chars)
        self.append(addition.text, addition.checked_after, command, actor, keep)

    def append_mark(
        self, before: CheckedSession, text: str, command: Callable[..., Command], actor: str | None
    ) -> None:
        """Append a mark after `before`, the session without an unfinished entry."""
        checked_after = check_longer(before, text, file_name=self.file.name)
        self.append(
            text, checked_after, command, actor, self.bytes_before(len(before.document.text))
        )

    def apply_policy(self) -> list[str]:
        """Write the entries that the session's policy demands for agents whose time is up."""
        if self.checked.has_blocking_errors:
            return []
        return self._write_for_silent(draft_overdue_entries(self.checked, self.now))

    def skip_failed(self, agent: str, failure: FailedAnswer) -> list[str]:
        """Write the policy's entry for an agent that failed before its time was up."""
        blocked = self.checked.has_blocking_errors
        draft = None if blocked else draft_failed_turn(self.checked, agent, failure)
        return [] if draft is None else self._write_for_silent((draft,))

    def _write_for_silent(self, drafts: Iterable[EntryDraft]) -> list[str]:
        written: list[str] = []
        for draft in drafts:
            addition = prepare_entry(self.checked, draft, str(uuid.uuid4()), self.now)
            escalate = partial(Escalate, agent=draft.author)
            is_summary = draft.author == SYSTEM
            self.append_entry(addition, Observe if is_summary else escalate, self.witness)
            written.append(addition.id)
        return written


@contextmanager
def lock_session(
    file: Path,
    clock: Clock,
    workspace: Workspace | None = None,
    acting: str | None = None,
    cached: CachedFile | None = None,
) -> Iterator[LockedSession]:
    """Lock a session until the block ends.

    A caller that opens one file often passes its `cached` reading.
    """
    cached = cached or CachedFile(file)
    with lock_file(file):
        debate = LockedSession(file, clock, workspace, acting, cached.read())
        yield debate
        cached.remember(debate.reading)


class FileLoss(StrEnum):
    """What had happened to a file that was restored."""

    GONE = "gone"
    CUT_SHORT = "cut-short"


def restore_file(workspace: Workspace, file: Path, stream: str | None = None) -> FileLoss | None:
    """Restore a recorded file from its record, before a participant is asked; return what was lost.

    `stream` is the stream of the file's session, if known. Refused (`session_changed`) if the
    record cannot restore it. A missing file that was never recorded stays missing.
    """
    if not file.exists():
        if stream is None or not workspace.engine.state(MACHINE, stream).has_begun:
            return None
        file.parent.mkdir(parents=True, exist_ok=True)
        create(file, read_recorded_bytes(workspace, stream).decode())
        return FileLoss.GONE
    with lock_session(file, workspace.engine.clock, workspace) as debate:
        if debate.record is not None and stream not in (None, debate.record.stream):
            raise session_changed(file)
        return FileLoss.CUT_SHORT if debate.was_restored else None
