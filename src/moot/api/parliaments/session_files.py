"""Write the four files of a parliament as exports of the record, each whole or not at all.

A note in the workspace has the digests of what Moot is about to write. A file that matches neither
the old nor the new digest was changed by another program: Moot reports it and never overwrites it;
`restore` renames it first. After a crash between note and files, the next command updates both.
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
from moot.engine.replay import LoadedStream, read_record
from moot.protocols.parliament import session_files
from moot.protocols.parliament.events import MessageLogged
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
from moot.store.files import replace_own_file
from moot.workspace.workspace import Workspace

LOCK_SECONDS: Final = 30
NOTES_FOLDER: Final = "papers"  # existing workspaces have a folder of this name
_MAX_COPIES: Final = 1_000


class WrittenFiles(msgspec.Struct, frozen=True):
    """What Moot wrote: the last event, each file's digest before and after, and the folder.

    Notes of earlier versions have no folder (""): only its digest is in their name.
    """

    seq: int = -1
    files: dict[str, tuple[str, str]] = {}
    folder: str = ""


class FileOnDisk(NamedTuple):
    """A file on disk; None and an empty digest if it does not exist."""

    data: bytes | None
    digest: str


class SessionFiles:
    """The files of one session in one folder."""

    def __init__(self, workspace: Workspace, folder: Path, stream: str) -> None:
        self.folder = folder
        self._workspace = workspace
        self._stream = stream
        self._note = workspace.path / NOTES_FOLDER / _note_name(stream.partition("/")[2], folder)

    @property
    def quoted_folder(self) -> str:
        """The folder, quoted for a shell."""
        return shlex.quote(str(self.folder))

    def find_changed(self) -> list[Finding]:
        """Return a finding for each file that another program has changed."""
        written, on_disk = _read_note(self._note), self._read_files()
        if not any(_is_foreign(name, on_disk[name], written) for name in FILES):
            return []
        with self._lock():  # wait until no other Moot process writes them
            written, on_disk = _read_note(self._note), self._read_files()
            expected = self._encode(self._load_stream(), written, on_disk[LEDGER_FILE])
        foreign = (name for name in FILES if _is_foreign(name, on_disk[name], written))
        return [
            self._changed_finding(name) for name in foreign if on_disk[name].data != expected[name]
        ]

    def require_unchanged(self) -> None:
        """Refuse if another program has changed a file."""
        findings = self.find_changed()
        if findings:
            raise _files_changed(findings)

    def write(self) -> tuple[str, ...]:
        """Write the files as the record has them; return the names of those that changed."""
        return self._update(self._refuse_foreign)

    def restore(self) -> tuple[str, ...]:
        """Rename changed files and write ours; return the new names."""
        put_aside: list[str] = []
        self._update(lambda names: put_aside.extend(map(self.put_aside, names)))
        return tuple(put_aside)

    def _refuse_foreign(self, names: list[str]) -> None:
        if names:
            raise _files_changed([self._changed_finding(name) for name in names])

    def _update(self, handle_foreign: Callable[[list[str]], None]) -> tuple[str, ...]:
        with self._lock():
            written, on_disk, loaded = (
                _read_note(self._note),
                self._read_files(),
                self._load_stream(),
            )
            expected = self._encode(loaded, written, on_disk[LEDGER_FILE])
            outdated = tuple(name for name in FILES if on_disk[name].data != expected[name])
            handle_foreign([name for name in outdated if _is_foreign(name, on_disk[name], written)])
            if outdated or loaded.seq != written.seq:
                self._write_note(loaded.seq, on_disk, {name: expected[name] for name in outdated})
            for name in outdated:  # the ledger comes first: it is the one that counts (C-38)
                self._write_file(self.folder / name, expected[name])
        return outdated

    def _load_stream(self) -> LoadedStream:
        return self._workspace.engine.load(self._stream)

    def _read_files(self) -> dict[str, FileOnDisk]:
        contents = ((name, read_or_none(self.folder / name)) for name in FILES)
        return {name: FileOnDisk(data, _digest(data)) for name, data in contents}

    def _encode(
        self, loaded: LoadedStream, written: WrittenFiles, ledger: FileOnDisk
    ) -> dict[str, bytes]:
        """Return the bytes that each file should have now."""
        state = MACHINE.require_state(loaded.state)
        with self._workspace.store.read() as view:
            return {
                LEDGER_FILE: self._encode_ledger(view, state, written, ledger),
                SESSION_FILE: session_files.encode_session(state),
                BILL_FILE: session_files.encode_bill(state),
                SUMMARIES_FILE: session_files.encode_summaries(read_summaries(view, self._stream)),
            }

    def _encode_ledger(
        self, view: View, state: State, written: WrittenFiles, on_disk: FileOnDisk
    ) -> bytes:
        """Append to a ledger file that Moot wrote; write any other again from the record."""
        digests = written.files.get(LEDGER_FILE)
        if on_disk.data is not None and digests is not None and on_disk.digest == digests[1]:
            return session_files.append_to_ledger(
                on_disk.data, read_messages(view, self._stream, written.seq)
            )
        return session_files.encode_ledger(state, read_messages(view, self._stream))

    def _changed_finding(self, name: str) -> Finding:
        command = f"moot parliament export {self.quoted_folder}"
        return Finding(
            rule="C-38",
            code="file_changed",
            message=f"{name} was changed by another program",
            where=name,
            hint=f"`{command}` renames it and writes the recorded one",
        )

    def put_aside(self, name: str) -> str:
        """Rename a file so that what another program wrote is not lost; return the new name."""
        for number in range(1, _MAX_COPIES):
            new_path = self.folder / f"{name}.changed-{number}"
            if not new_path.exists():
                os.replace(self.folder / name, new_path)
                return new_path.name
        raise Refused(
            "too_many_copies", f"there are too many files {name}.changed-N", hint="remove some"
        )

    def _write_file(self, path: Path, data: bytes) -> None:
        try:
            replace_own_file(path, data)
        except OSError as error:
            raise Unavailable(
                "unwritable_file",
                f"{path.name} was not written ({error.strerror or error}); the record is safe",
                hint=f"fix the folder, then `moot parliament export {self.quoted_folder}`",
            ) from None

    def _write_note(
        self, seq: int, on_disk: dict[str, FileOnDisk], outdated: dict[str, bytes]
    ) -> None:
        """Write the note before the files, so that after a crash Moot knows them as its own."""
        digests = {}
        for name in FILES:
            before = on_disk[name].digest
            digests[name] = (before, _digest(outdated[name]) if name in outdated else before)
        folder = os.path.realpath(self.folder)
        self._write_file(self._note, msgspec.json.encode(WrittenFiles(seq, digests, folder)))

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Let only one process at a time write the files; the lock file is empty."""
        from filelock import FileLock, Timeout

        self._note.parent.mkdir(exist_ok=True)
        try:
            with FileLock(f"{self._note}.lock", timeout=LOCK_SECONDS):
                yield
        except Timeout:
            raise StoreFailed(
                "lock_timeout", "another program is writing these files", hint="try again"
            ) from None


def last_written_id(workspace: Workspace, folder: Path) -> str | None:
    """Return the session whose files Moot last wrote there, by its notes."""
    notes = list((workspace.path / NOTES_FOLDER).glob(f"*.{_folder_digest(folder)}.json"))
    newest = max(notes, key=lambda note: note.stat().st_mtime_ns, default=None)
    return newest.name.partition(".")[0] if newest is not None else None


def find_folder(workspace: Workspace, parliament_id: str) -> Path | None:
    """Return where a session's files were written last, if they still exist; else None."""
    notes = list((workspace.path / NOTES_FOLDER).glob(f"{parliament_id}.*.json"))
    for note in sorted(notes, key=lambda note: note.stat().st_mtime_ns, reverse=True):
        folder = Path(_read_note(note).folder)
        is_named = note.name == _note_name(parliament_id, folder)
        if is_named and (folder / LEDGER_FILE).is_file():
            return folder if last_written_id(workspace, folder) == parliament_id else None
    return None


def _read_note(note: Path) -> WrittenFiles:
    data = read_or_none(note)
    try:
        return msgspec.json.decode(data, type=WrittenFiles) if data else WrittenFiles()
    except msgspec.MsgspecError:
        return WrittenFiles()


def _note_name(parliament_id: str, folder: Path) -> str:
    return f"{parliament_id}.{_folder_digest(folder)}.json"


def _folder_digest(folder: Path) -> str:
    """Return a digest of the folder's real path, for the note's file name."""
    return hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:16]


def read_or_none(path: Path) -> bytes | None:
    """Return a file's bytes; None if it does not exist."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Unavailable(
            "unreadable_file", f"{path}: {error.strerror or error}", hint="check the path"
        ) from None


def read_messages(view: View, stream: str, after: int = -1) -> Iterator[LedgerMessage]:
    """Yield the session's recorded messages from the events after `after`."""
    return (message for message, _ in read_signed_messages(view, stream, after))


def read_signed_messages(
    view: View, stream: str, after: int = -1
) -> Iterator[tuple[LedgerMessage, str]]:
    """Yield each message with the name whose key signed it."""
    for record in view.records(stream, after):
        recorded = read_record(MACHINE, record)
        if isinstance(recorded.event, MessageLogged):
            yield read_message(recorded.event.message), recorded.actor.id


def read_summaries(view: View, stream: str) -> list[dict[str, Any]]:
    """Return the newest summary of each round."""
    rows = view.rows(SUMMARIES, f"{stream} ", limit=100_000)
    return [msgspec.json.decode(row.value) for row in rows]


def _is_foreign(name: str, on_disk: FileOnDisk, written: WrittenFiles) -> bool:
    """Return whether a file is neither what Moot wrote last nor what it was about to write."""
    return on_disk.data is not None and on_disk.digest not in written.files.get(name, ())


def _files_changed(findings: list[Finding]) -> Refused:
    first = findings[0]
    return Refused("files_changed", first.message, hint=first.hint, findings=findings)


def _digest(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()
