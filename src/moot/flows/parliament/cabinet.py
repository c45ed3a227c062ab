"""The four files of a session on disk: exports of the record, whole or not at all.

What was written is remembered beside the ledger, before it is written: a file that is neither
the last nor the next one of ours was changed by someone else. Such a file is reported and never
overwritten; `restore` puts it aside first. A crash in between leaves older files of ours, which
the next command brings up to date.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from moot.core.errors import Refused, StoreFailed, Unavailable
from moot.core.findings import Finding
from moot.core.ledger import View
from moot.engine.replay import Loaded, read_record
from moot.protocols.parliament import events as did
from moot.protocols.parliament import session_files
from moot.protocols.parliament.files.file_shapes import (
    BILL_FILE,
    FILES,
    LEDGER_FILE,
    SESSION_FILE,
    SUMMARIES_FILE,
)
from moot.protocols.parliament.machine import MACHINE, SUMMARIES
from moot.protocols.parliament.messages.message import LedgerMessage, read_message
from moot.protocols.parliament.model import State
from moot.store.files import replace
from moot.workspace.workspace import Workspace

LOCK_SECONDS: Final = 30
NOTES: Final = "papers"
_ASIDE: Final = 1_000


class Written(msgspec.Struct, frozen=True):
    """What we wrote: up to which event, and each file's digest before and after."""

    seq: int = -1
    files: dict[str, tuple[str, str]] = {}


class Held(NamedTuple):
    """A file as it is on disk; None and an empty digest if it is not there."""

    data: bytes | None
    digest: str


class Cabinet:
    """The files of one session in one folder."""

    def __init__(self, space: Workspace, folder: Path, stream: str) -> None:
        self.folder = folder
        self._space = space
        self._stream = stream
        self._note = space.path / NOTES / f"{stream.partition('/')[2]}.{_place(folder)}.json"

    @property
    def shown(self) -> str:
        """The folder as one would type it."""
        return shlex.quote(str(self.folder))

    def changed(self) -> list[Finding]:
        """The files that someone else has changed."""
        written, held = self._written(), self._held()
        if not any(_odd(name, held[name], written) for name in FILES):
            return []
        with self._locked():  # not while another process of ours is writing them
            written, held = self._written(), self._held()
            due = self._due(self._loaded(), written, held[LEDGER_FILE])
        odd = (name for name in FILES if _odd(name, held[name], written))
        return [self._finding(name) for name in odd if held[name].data != due[name]]

    def require_ours(self) -> None:
        """Refused if someone else has changed a file."""
        found = self.changed()
        if found:
            raise _files_changed(found)

    def write(self) -> tuple[str, ...]:
        """Bring the files up to date; the names of those that changed."""
        return self._update(self._refuse)

    def restore(self) -> tuple[str, ...]:
        """Put changed files aside and write ours; the names they have now."""
        moved: list[str] = []
        self._update(lambda names: moved.extend(map(self.put_aside, names)))
        return tuple(moved)

    def _refuse(self, names: list[str]) -> None:
        if names:
            raise _files_changed([self._finding(name) for name in names])

    def _update(self, meet: Callable[[list[str]], None]) -> tuple[str, ...]:
        with self._locked():
            written, held, loaded = self._written(), self._held(), self._loaded()
            due = self._due(loaded, written, held[LEDGER_FILE])
            fresh = tuple(name for name in FILES if held[name].data != due[name])
            meet([name for name in fresh if _odd(name, held[name], written)])
            if fresh or loaded.seq != written.seq:
                self._remember(loaded.seq, held, {name: due[name] for name in fresh})
            for name in fresh:  # the ledger comes first: it is the one that counts (C-38)
                self._put(self.folder / name, due[name])
        return fresh

    def _loaded(self) -> Loaded:
        return self._space.engine.load(self._stream)

    def _held(self) -> dict[str, Held]:
        found = ((name, read_or_none(self.folder / name)) for name in FILES)
        return {name: Held(data, _digest(data)) for name, data in found}

    def _due(self, loaded: Loaded, written: Written, ledger: Held) -> dict[str, bytes]:
        state: State = loaded.state
        with self._space.store.read() as view:
            return {
                LEDGER_FILE: self._ledger(view, state, written, ledger),
                SESSION_FILE: session_files.encode_session(state),
                BILL_FILE: session_files.encode_bill(state),
                SUMMARIES_FILE: session_files.encode_summaries(summaries(view, self._stream)),
            }

    def _ledger(self, view: View, state: State, written: Written, held: Held) -> bytes:
        """What is there and ours is only added to; else the file is written from the record."""
        known = written.files.get(LEDGER_FILE)
        if held.data is not None and known is not None and held.digest == known[1]:
            return session_files.append_to_ledger(
                held.data, messages(view, self._stream, written.seq)
            )
        return session_files.encode_ledger(state, messages(view, self._stream))

    def _finding(self, name: str) -> Finding:
        return Finding(
            rule="C-38",
            code="file_changed",
            message=f"{name} was changed by someone else",
            where=name,
            hint=f"`moot parliament export {self.shown}` puts it aside and writes ours again",
        )

    def put_aside(self, name: str) -> str:
        """Give a file another name; what someone else wrote is never lost."""
        for number in range(1, _ASIDE):
            aside = self.folder / f"{name}.changed-{number}"
            if not aside.exists():
                os.replace(self.folder / name, aside)
                return aside.name
        raise Refused("too_many_copies", f"{name}.changed-1 ... stand in the way", hint="clean up")

    def _put(self, path: Path, data: bytes) -> None:
        try:
            replace(path, data)
        except OSError as error:
            raise Unavailable(
                "unwritable_file",
                f"{path.name} was not written ({error.strerror or error}); the record is safe",
                hint=f"mend the folder, then `moot parliament export {self.shown}`",
            ) from None

    def _written(self) -> Written:
        data = read_or_none(self._note)
        try:
            return msgspec.json.decode(data, type=Written) if data else Written()
        except msgspec.MsgspecError:
            return Written()

    def _remember(self, seq: int, held: dict[str, Held], fresh: dict[str, bytes]) -> None:
        """Before they are written: a crash in between leaves files that we still know."""
        digests = {
            name: (held[name].digest, _digest(fresh[name]) if name in fresh else held[name].digest)
            for name in FILES
        }
        self._put(self._note, msgspec.json.encode(Written(seq, digests)))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer of the files at a time; the lock file holds nothing."""
        from filelock import FileLock, Timeout

        self._note.parent.mkdir(exist_ok=True)
        try:
            with FileLock(f"{self._note}.lock", timeout=LOCK_SECONDS):
                yield
        except Timeout:
            raise StoreFailed(
                "lock_timeout", "another program writes these files", hint="try again"
            ) from None


def last_id(space: Workspace, folder: Path) -> str | None:
    """The session whose files we last wrote there, should none of them be readable."""
    notes = list((space.path / NOTES).glob(f"*.{_place(folder)}.json"))
    newest = max(notes, key=lambda note: note.stat().st_mtime_ns, default=None)
    return newest.name.partition(".")[0] if newest is not None else None


def _place(folder: Path) -> str:
    """A folder, whatever it is called from where one stands."""
    return hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:16]


def read_or_none(path: Path) -> bytes | None:
    """A file's bytes; None if there is none."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Unavailable(
            "unreadable_file", f"{path}: {error.strerror or error}", hint="check the path"
        ) from None


def messages(view: View, stream: str, after: int = -1) -> Iterator[LedgerMessage]:
    """The session's messages as the record holds them, from the events after `after`."""
    return (message for message, _ in signed_messages(view, stream, after))


def signed_messages(
    view: View, stream: str, after: int = -1
) -> Iterator[tuple[LedgerMessage, str]]:
    """Each message with the name whose key signed it."""
    for record in view.records(stream, after):
        recorded = read_record(MACHINE, record)
        if isinstance(recorded.event, did.MessageLogged):
            yield read_message(recorded.event.message), recorded.actor.id


def summaries(view: View, stream: str) -> list[dict[str, Any]]:
    """One row a round, the latest telling of each."""
    rows = view.rows(SUMMARIES, f"{stream} ", limit=100_000)
    return [msgspec.json.decode(row.value) for row in rows]


def _odd(name: str, held: Held, written: Written) -> bool:
    """A file that is neither the last nor the next one that we wrote."""
    return held.data is not None and held.digest not in written.files.get(name, ())


def _files_changed(found: list[Finding]) -> Refused:
    first = found[0]
    return Refused("files_changed", first.message, hint=first.hint, findings=found)


def _digest(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()
