"""An open workspace: its ledger, its artifacts, its keys, and whether it may be written.

The cost of opening does not depend on the length of the history. Before anything is written, the
ledger is compared with what the key folder remembers of it: if an older copy has replaced it, or
events were removed, nothing is written. Reading works on a read-only disk.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from moot.core.clock import Clock, Millis, fixed_clock, system_clock
from moot.core.errors import Malformed, MootError, Refused, StoreFailed, Tampered, Unavailable
from moot.engine.checkpoints import RollbackGuard
from moot.engine.engine import Engine
from moot.engine.signers import LedgerTrust
from moot.keys.folder import LOANS_FOLDER, AskPassphrase, FolderKeys, KeyFolder, never_ask
from moot.keys.seen_checkpoints import SeenCheckpoint, SeenCheckpoints, read_seen_ledger
from moot.store.artifacts import FileArtifacts
from moot.store.files import write_new_file
from moot.store.sqlite.read_only import ReadOnlyStore, open_for_reading, open_for_writing
from moot.workspace import trust as trust_files
from moot.workspace.find import is_in_database, is_joined
from moot.workspace.relocatable_store import RelocatableStore, find_location
from moot.workspace.rollback_guard import (
    MemoryRollbackGuard,
    missing_checkpoint_error,
    was_rolled_back,
)
from moot.workspace.user_folders import key_folder_path, require_outside

if TYPE_CHECKING:
    from moot.core.debug import DebugLog
    from moot.hosts.opening import JoinedLedger
    from moot.store.sqlite.store import SqliteStore

HEARTBEAT_INTERVAL: Final[Millis] = 60_000
# How many parent processes are searched for a `moot run`.
MAX_ANCESTORS: Final = 32


class Workspace:
    """An open `.moot` folder. Use it in a `with` block, or `close()` it: that makes a
    checkpoint."""

    def __init__(
        self,
        path: Path,
        folder: KeyFolder,
        ask: AskPassphrase = never_ask,
        clock_text: str = "",
        *,
        only_reads: bool = False,
        debug: DebugLog | None = None,
    ) -> None:
        """`only_reads`: open it for reading, even on a read-only disk.

        `debug` logs what is opened, locked, decided and committed.
        """
        if folder.path.is_relative_to(path.parent):
            require_outside(folder.path, path.parent)
        self.path = path
        self.folder = folder
        self._only_reads = only_reads
        self._debug = debug
        self.trust = _read_trust(path, folder)
        self.seen_checkpoints = SeenCheckpoints(folder.user_folder.path / "kept.db")
        self._rollback_guard = MemoryRollbackGuard(self.seen_checkpoints, self.trust)
        self.artifacts = FileArtifacts(path / "artifacts")
        self.keys = FolderKeys(folder, self.trust.origin, ask)
        place = find_location(path)
        self.store: SqliteStore | ReadOnlyStore = self._open_store()
        # The error that every attempt to write raises, if the ledger is read-only here.
        self.write_error: MootError | None = None
        if isinstance(self.store, ReadOnlyStore):
            self.write_error = self.store.why
        self.left: MootError | None = None  # of a machine that joined and has left
        self.joined = self._follow_keeper() if is_joined(path) else None
        if self.joined is None and place is not None:
            store = RelocatableStore(path, self.store, place, self._open_store)
            self.store = cast("SqliteStore", store)
        try:
            self.rollback = self._find_rollback()
            frozen = self.rollback or self.write_error
            self.engine = self._make_engine(system_clock, frozen, self._rollback_guard)
            if clock_text:
                self.engine.clock = self._test_clock(clock_text)
        except BaseException:
            self.seen_checkpoints.close()
            self.store.close()
            raise

    @property
    def root(self) -> Path:
        """Return the folder that contains `.moot`."""
        return self.path.parent

    def engine_ignoring_loss(self) -> Engine:
        """Return an engine that writes to a rolled-back ledger, only to record an accepted loss."""
        return self._make_engine(self.engine.clock, None, None)

    def pin_trust(self, folder: KeyFolder) -> None:
        """Store the public keys of this ledger in another key folder."""
        place = folder.ledger_folder(self.trust.origin) / "trust.json"
        with suppress(FileExistsError):
            write_new_file(
                place, trust_files.trust_file_bytes(trust_files.trust_file_of(self.trust)), 0o600
            )

    def beat_if_due(self, name: str, acted_at: Millis = 0) -> None:
        """Record a heartbeat if the last one is old; `acted_at` is when `name` last wrote."""
        now = self.engine.clock()
        with self.store.read() as view:
            last = view.heartbeat(name)
        if now - max(acted_at, last.at if last is not None else 0) >= HEARTBEAT_INTERVAL:
            self.engine.beat(name)

    def close(self, *, checkpoint: bool = True) -> None:
        """Make a checkpoint and close; without `checkpoint` the next command makes it."""
        try:
            (self.engine if checkpoint else self.store).close()
        finally:
            self.seen_checkpoints.close()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _make_engine(
        self, clock: Clock, write_error: MootError | None, rollback_guard: RollbackGuard | None
    ) -> Engine:
        if self.joined is not None:
            return self.joined.make_engine(
                self.keys,
                clock,
                on_checkpoint=self._rollback_guard.remember,
                write_error=write_error,
                rollback_guard=rollback_guard,
                debug=self._debug,
            )
        return Engine(
            self.store,
            self.keys,
            self.trust,
            clock,
            on_checkpoint=self._rollback_guard.remember,
            artifacts=self.artifacts,
            write_error=write_error,
            rollback_guard=rollback_guard,
            debug=self._debug,
            request_timeouts=None if self.folder.loan is None else self._request_timeouts,
        )

    def _open_store(self) -> SqliteStore | ReadOnlyStore:
        if is_in_database(self.path):
            from moot.hosts.opening import open_database

            found = open_database(self.path, self.folder, self.trust.origin)
            return cast("SqliteStore", found)
        ledger = self.path / "ledger.db"
        if self._only_reads:
            return open_for_reading(ledger, self._debug)
        return open_for_writing(ledger, self._debug)

    def _follow_keeper(self) -> JoinedLedger | None:
        """Open the copy of a ledger that another machine keeps; None if this machine has left."""
        from moot.hosts.opening import JoinedLedger, machine_left, read_joined_file, read_membership

        file = read_joined_file(self.path)
        if file.left_at is not None:
            self.left = machine_left(file)
            self.write_error = self.write_error or self.left
            return None
        membership = read_membership(self.path, self.folder, self.trust.origin)
        if not isinstance(self.store, ReadOnlyStore):
            self.store.relax_durability()
        joined = JoinedLedger(self.store, self.artifacts, self.trust, membership)
        self.store = cast("SqliteStore", joined.store)
        self.artifacts = cast("FileArtifacts", joined.artifacts)
        return joined

    def ask_runner_to(self, *question: bytes) -> bool:
        """Ask the `moot run` that lent our key folder to do what needs the user's keys.

        False if the folder is the user's own. Unavailable (`runner_away`) without an answer.
        """
        if self.folder.loan is None:
            return False
        from moot.keys.runner_connection import ask_runner

        ask_runner(Path(self.folder.loan.socket), *question)
        return True

    def _request_timeouts(self, stream: str) -> None:
        with suppress(Unavailable):  # it stays due
            self.ask_runner_to(b"settle", stream.encode())

    def _newest_seen_checkpoint(self) -> SeenCheckpoint | None:
        """Return the newest remembered checkpoint. If the key folder is write-protected, reading
        still works and writing is refused."""
        try:
            return self.seen_checkpoints.newest(self.trust.origin)
        except StoreFailed as error:
            if not self._only_reads or error.code != "kept_read_only":
                raise
            self.write_error = self.write_error or error
        return read_seen_ledger(self.folder.user_folder.path / "kept.db", self.trust.origin).newest

    def _find_rollback(self) -> Tampered | None:
        """Return the error if this is an older copy. Compares only the newest checkpoint, so that
        opening stays fast; `moot verify` compares everything (LDG-039)."""
        kept = self._newest_seen_checkpoint()
        if kept is None:
            return None
        with self.store.read() as view:
            return (
                missing_checkpoint_error(kept) if was_rolled_back(view, self.trust, kept) else None
            )

    def _test_clock(self, text: str) -> Clock:
        if self.engine.registry().clock != "fixed":
            raise Refused(
                "clock_not_allowed",
                "MOOT_CLOCK is for tests, and this workspace uses the real clock",
                hint="unset MOOT_CLOCK",
            )
        return fixed_clock(text)


def _read_trust(path: Path, folder: KeyFolder) -> LedgerTrust:
    """Read the workspace's trust file; Tampered if the key folder remembers other keys for it."""
    file = trust_files.read_trust_file(path / "trust.json")
    pinned = folder.ledger_folder(file.origin) / "trust.json"
    if pinned.is_file():
        known = trust_files.read_trust_file(pinned)
        if (known.root, known.checkpoint) != (file.root, file.checkpoint):
            raise Tampered("the workspace's trust file was changed", code="trust_changed")
    return file.trust()


def key_folder(env: Mapping[str, str]) -> KeyFolder:
    """Return the key folder: `MOOT_KEYS`, else in the user's data folder. A program of `moot run`
    may use only the folder that the run lent."""
    if not env.get("MOOT_KEYS") and env.get("HOME") == "":
        raise Malformed("HOME is empty", code="no_key_folder", hint="set MOOT_KEYS=FOLDER")
    folder = KeyFolder(key_folder_path(env))
    _require_lent(folder, env.get("MOOT_SOCKET", ""))
    return folder


def _require_lent(folder: KeyFolder, socket: str) -> None:
    """Raise Refused if a parent `moot run` lent another folder with keys of the same ledger.

    A program that drops or changes `MOOT_KEYS` would act under another name. The run is found by
    its socket and by the parent processes, independent of `MOOT_KEYS`.
    """
    other: KeyFolder | None = None
    for lent in (*_lent_by(folder, socket), *_lent_above()):
        if lent.path == folder.path:
            return
        ledgers = (place.name for place in lent.path.iterdir() if place.is_dir())
        if any((folder.path / name).is_dir() for name in ledgers):
            other = other or lent
    if other is not None and other.loan is not None:
        raise Refused(
            "key_folder_not_lent",
            f"`moot run` lent {other.loan.agent} the key folder {other.path}, not {folder.path}",
            hint="leave MOOT_KEYS as `moot run` has set it, or run this outside of `moot run`",
        )


def _lent_by(folder: KeyFolder, socket: str) -> Iterator[KeyFolder]:
    """Yield the folder that this one has lent to the program whose run listens at `socket`."""
    if socket:
        for place in (folder.path / LOANS_FOLDER).glob("*/"):
            lent = KeyFolder(place)
            if lent.loan is not None and lent.loan.socket == socket:
                yield lent


def _lent_above() -> Iterator[KeyFolder]:
    """Yield the lent folders that parent processes were started with, or keep locked (Linux)."""
    number = os.getppid()
    for _ in range(MAX_ANCESTORS if sys.platform == "linux" else 0):
        places = list[str]()
        with suppress(OSError):  # another user's
            settings = Path(f"/proc/{number}/environ").read_bytes().split(b"\0")
            places += (os.fsdecode(each[10:]) for each in settings if each[:10] == b"MOOT_KEYS=")
            for each in os.scandir(f"/proc/{number}/fd"):
                with suppress(OSError):  # closed just now
                    places += (os.path.dirname(os.readlink(each)),)
        for place in dict.fromkeys(places):
            lent = KeyFolder(Path(place))
            if lent.loan is not None:
                yield lent
        try:
            status = Path(f"/proc/{number}/stat").read_bytes()
        except OSError:
            return
        number = int(status.rpartition(b")")[2].split()[1])
