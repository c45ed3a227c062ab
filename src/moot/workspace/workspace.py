"""An open workspace: its ledger, its artifacts, its keys, and whether it may be written.

Opening costs the same however long the history is. Before anything is written, the newest
checkpoint remembered in the key folder is compared with the ledger's, and each stream with what is
remembered of it: an older copy in the ledger's place, or events taken out of it, are noticed and
nothing is written on top. To read, nothing needs to be writable.
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
from moot.workspace.relocatable_store import StoreWherever, find_place
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

BEAT_EVERY: Final[Millis] = 60_000
# How many processes above are looked at for a `moot run`.
_MOST_ABOVE: Final = 32


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
        """`only_reads`: only to read; then it is opened even where it may not be written.

        `debug` is told what is opened, locked, decided and committed here.
        """
        if folder.path.is_relative_to(path.parent):
            require_outside(folder.path, path.parent)
        self.path = path
        self.folder = folder
        self._only_reads = only_reads
        self._debug = debug
        self.trust = _read_trust(path, folder)
        self.seen_checkpoints = SeenCheckpoints(folder.user_folder.path / "kept.db")
        self._seen_checkpoints_guard = MemoryRollbackGuard(self.seen_checkpoints, self.trust)
        self.artifacts = FileArtifacts(path / "artifacts")
        self.keys = FolderKeys(folder, self.trust.origin, ask)
        place = find_place(path)
        self.store: SqliteStore | ReadOnlyStore = self._open_store()
        # The error that every attempt to write raises, if the ledger may only be read here.
        self.write_error: MootError | None = None
        if isinstance(self.store, ReadOnlyStore):
            self.write_error = self.store.why
        self.left: MootError | None = None  # of a machine that joined and has left
        self.joined = self._follow_keeper() if is_joined(path) else None
        if self.joined is None and place is not None:
            store = StoreWherever(path, self.store, place, self._open_store)
            self.store = cast("SqliteStore", store)
        try:
            self.rollback = self._find_rollback()
            frozen = self.rollback or self.write_error
            self.engine = self._make_engine(system_clock, frozen, self._seen_checkpoints_guard)
            if clock_text:
                self.engine.clock = self._test_clock(clock_text)
        except BaseException:
            self.seen_checkpoints.close()
            self.store.close()
            raise

    @property
    def root(self) -> Path:
        """The folder that holds `.moot`."""
        return self.path.parent

    def engine_despite_loss(self) -> Engine:
        """An engine that writes to a rolled-back ledger; only for recording that a loss is
        accepted."""
        return self._make_engine(self.engine.clock, None, None)

    def pin_trust(self, folder: KeyFolder) -> None:
        """Let another key folder remember the keys of this ledger."""
        place = folder.ledger_folder(self.trust.origin) / "trust.json"
        with suppress(FileExistsError):
            write_new_file(
                place, trust_files.trust_file_bytes(trust_files.trust_file_of(self.trust)), 0o600
            )

    def beat_if_due(self, name: str, acted_at: Millis = 0) -> None:
        """A sign of life, if the last is a while ago; `acted_at` is when it last wrote an event."""
        now = self.engine.clock()
        with self.store.read() as view:
            last = view.heartbeat(name)
        if now - max(acted_at, last.at if last is not None else 0) >= BEAT_EVERY:
            self.engine.beat(name)

    def close(self, *, checkpoint: bool = True) -> None:
        """Without a checkpoint only the files are closed; the next command makes it."""
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
                on_checkpoint=self._seen_checkpoints_guard.remember,
                write_error=write_error,
                rollback_guard=rollback_guard,
                debug=self._debug,
            )
        return Engine(
            self.store,
            self.keys,
            self.trust,
            clock,
            on_checkpoint=self._seen_checkpoints_guard.remember,
            artifacts=self.artifacts,
            write_error=write_error,
            rollback_guard=rollback_guard,
            debug=self._debug,
            request_timeouts=None if self.folder.loan is None else self._let_runner_settle,
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
        """The ledger is kept elsewhere: what is here is a copy, and others write it. None if this
        machine has left: then nobody writes it any more."""
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

    def let_runner_do(self, *question: bytes) -> bool:
        """Let the `moot run` that lent our key folder do what its key is needed for; False if the
        folder is the user's own. Unavailable (`runner_away`) if nobody listens."""
        if self.folder.loan is None:
            return False
        from moot.keys.runner_connection import ask_runner

        ask_runner(Path(self.folder.loan.socket), *question)
        return True

    def _let_runner_settle(self, stream: str) -> None:
        with suppress(Unavailable):  # it stays due
            self.let_runner_do(b"settle", stream.encode())

    def _newest_seen_checkpoint(self) -> SeenCheckpoint | None:
        """The newest remembered checkpoint. If the key folder is write-protected, a caller that
        only reads gets it all the same, and writing is refused."""
        try:
            return self.seen_checkpoints.newest(self.trust.origin)
        except StoreFailed as error:
            if not self._only_reads or error.code != "kept_read_only":
                raise
            self.write_error = self.write_error or error
        return read_seen_ledger(self.folder.user_folder.path / "kept.db", self.trust.origin).newest

    def _find_rollback(self) -> Tampered | None:
        """The error for an older copy, if this is one. Only the newest checkpoint is compared, so
        that opening stays quick; `moot verify` compares everything (LDG-039)."""
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
                "MOOT_CLOCK is for tests: this workspace was made under the real clock",
                hint="unset MOOT_CLOCK",
            )
        return fixed_clock(text)


def _read_trust(path: Path, folder: KeyFolder) -> LedgerTrust:
    """The workspace's own trust file; Tampered if the key folder remembers other keys for it."""
    file = trust_files.read_trust_file(path / "trust.json")
    pinned = folder.ledger_folder(file.origin) / "trust.json"
    if pinned.is_file():
        known = trust_files.read_trust_file(pinned)
        if (known.root, known.checkpoint) != (file.root, file.checkpoint):
            raise Tampered("the workspace's trust file was changed", code="trust_changed")
    return file.trust()


def key_folder(env: Mapping[str, str]) -> KeyFolder:
    """`MOOT_KEYS`, else the user's data folder. Below a `moot run` only the one that it lent."""
    if not env.get("MOOT_KEYS") and env.get("HOME") == "":
        raise Malformed("HOME is empty", code="no_key_folder", hint="set MOOT_KEYS=FOLDER")
    folder = KeyFolder(key_folder_path(env))
    _require_lent(folder, env.get("MOOT_SOCKET", ""))
    return folder


def _require_lent(folder: KeyFolder, socket: str) -> None:
    """Refused if a `moot run` above this process lent another folder with keys of the same ledger.

    A program that drops or changes `MOOT_KEYS` would act under another name. The run is found by
    its socket and by the processes above, whatever is said here.
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
    """What this folder has lent to the program whose run listens at `socket`."""
    if socket:
        for place in (folder.path / LOANS_FOLDER).glob("*/"):
            lent = KeyFolder(place)
            if lent.loan is not None and lent.loan.socket == socket:
                yield lent


def _lent_above() -> Iterator[KeyFolder]:
    """The folders that the processes above were started with, or have lent and keep locked; where
    the system shows that."""
    number = os.getppid()
    for _ in range(_MOST_ABOVE if sys.platform == "linux" else 0):
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
