"""An open workspace: its ledger, its artifacts, its keys, and whether it may be written.

Opening costs the same however long the history is. Before anything is written, the newest
checkpoint remembered in the key folder is compared with the ledger's, and each stream with what is
remembered of it: an older copy in the ledger's place, or events taken out of it, are noticed and
nothing is written on top. To read, nothing needs to be writable.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.clock import Clock, fixed_clock, system_clock
from moot.core.errors import Malformed, MootError, Refused, StoreFailed, Tampered
from moot.engine.engine import Engine
from moot.engine.evidence import Evidence
from moot.engine.keys import Trust
from moot.keys.folder import KeyFolder
from moot.keys.held import AskPassphrase, FolderKeys, never_ask
from moot.keys.kept import KeptNote, KeptNotes, look
from moot.store.artifacts import FileArtifacts
from moot.store.files import write_new
from moot.store.sqlite.read_only import ReadOnlyStore, open_to_read, open_to_write
from moot.workspace import trust as trust_files
from moot.workspace.remembered import Remembered, lacks, lacks_note

if TYPE_CHECKING:
    from moot.core.debug import DebugLog


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
        reads: bool = False,
        debug: DebugLog | None = None,
    ) -> None:
        """`reads`: only to read; then it is opened even where it may not be written.

        `debug` is told what is opened, locked, decided and committed here.
        """
        self.path = path
        self.folder = folder
        self._reads = reads
        self._debug = debug
        self.trust = _read_trust(path, folder)
        self.kept = KeptNotes(folder.path / "kept.db")
        self._remembered = Remembered(self.kept, self.trust)
        self.artifacts = FileArtifacts(path / "artifacts")
        self.keys = FolderKeys(folder, self.trust.origin, ask)
        ledger = path / "ledger.db"
        self.store = open_to_read(ledger, debug) if reads else open_to_write(ledger, debug)
        # The error that every attempt to write raises, if the ledger may only be read here.
        self.read_only = self.store.why if isinstance(self.store, ReadOnlyStore) else None
        try:
            self.rolled_back = self._find_rollback()
            frozen = self.rolled_back or self.read_only
            self.engine = self._make_engine(system_clock, frozen, self._remembered)
            if clock_text:
                self.engine.clock = self._test_clock(clock_text)
        except BaseException:
            self.kept.close()
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
        place = folder.ledger(self.trust.origin) / "trust.json"
        with suppress(FileExistsError):
            write_new(place, trust_files.to_bytes(trust_files.of(self.trust)), 0o600)

    def close(self) -> None:
        try:
            self.engine.close()
        finally:
            self.kept.close()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _make_engine(
        self, clock: Clock, frozen: MootError | None, evidence: Evidence | None
    ) -> Engine:
        return Engine(
            self.store,
            self.keys,
            self.trust,
            clock,
            on_checkpoint=self._remembered.keep,
            artifacts=self.artifacts,
            frozen=frozen,
            evidence=evidence,
            debug=self._debug,
        )

    def _newest_seen_checkpoint(self) -> KeptNote | None:
        """The newest remembered checkpoint. If the key folder is write-protected, a caller that
        only reads gets it all the same, and writing is refused."""
        try:
            return self.kept.newest(self.trust.origin)
        except StoreFailed as error:
            if not self._reads or error.code != "kept_read_only":
                raise
            self.read_only = self.read_only or error
        return look(self.folder.path / "kept.db", self.trust.origin).newest

    def _find_rollback(self) -> Tampered | None:
        """The error for an older copy, if this is one. Only the newest checkpoint is compared, so
        that opening stays quick; `moot verify` compares everything."""
        kept = self._newest_seen_checkpoint()
        if kept is None:
            return None
        with self.store.read() as view:
            return lacks_note(kept) if lacks(view, self.trust, kept) else None

    def _test_clock(self, text: str) -> Clock:
        if self.engine.registry().clock != "fixed":
            raise Refused(
                "clock_not_allowed",
                "MOOT_CLOCK is for tests: this workspace was made under the real clock",
                hint="unset MOOT_CLOCK",
            )
        return fixed_clock(text)


def _read_trust(path: Path, folder: KeyFolder) -> Trust:
    """The workspace's own trust file; Tampered if the key folder remembers other keys for it."""
    file = trust_files.read(path / "trust.json")
    pinned = folder.ledger(file.origin) / "trust.json"
    if pinned.is_file():
        known = trust_files.read(pinned)
        if (known.root, known.checkpoint) != (file.root, file.checkpoint):
            raise Tampered("the workspace's trust file was changed", code="trust_changed")
    return file.trust()


def key_folder(env: Mapping[str, str]) -> KeyFolder:
    """`MOOT_KEYS`, else the user's data folder."""
    chosen = env.get("MOOT_KEYS")
    if chosen:
        return KeyFolder(Path(chosen).absolute())
    if env.get("HOME") == "":
        raise Malformed("HOME is empty", code="no_key_folder", hint="set MOOT_KEYS=FOLDER")
    from platformdirs import user_data_path  # not needed when MOOT_KEYS is set

    return KeyFolder(user_data_path("moot", appauthor=False) / "keys")
