"""What `moot ledger doctor` looks at: one workspace, opened only to read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import cached_property
from pathlib import Path

from moot.core.clock import Millis
from moot.core.errors import MootError
from moot.core.ledger import View
from moot.core.registry.model import State as Registry
from moot.engine.keys import LedgerTrust
from moot.engine.machines import Machines
from moot.engine.rebuild import DerivedData, compare_derived
from moot.engine.replay import Replay
from moot.keys.folder import KeyFolder
from moot.keys.seen_checkpoints import SeenLedger, read_seen_ledger
from moot.store.artifacts import FileArtifacts
from moot.workspace import trust as trust_files
from moot.workspace.database import open_to_check

# Codes of errors that say nothing about the state of the ledger.
UNREADABLE_CODES = {
    "changed_meanwhile",
    "log_unreadable",
    "store_unreachable",
    "store_busy",
    "disk_full",
    "disk_failed",
    "kept_unreadable",
}


class Checkup:
    """One look at one workspace; each thing is read at most once, and only if a check asks."""

    def __init__(self, path: Path, folder: KeyFolder, now: Millis) -> None:
        self.path = path
        self.folder = folder
        self.now = now
        self.artifacts = FileArtifacts(path / "artifacts")
        self.trust: LedgerTrust | None = None
        self.view: View | None = None
        self.trust_problem = ""
        self.store_problems: list[str] = []

    @contextmanager
    def opened(self) -> Iterator[Checkup]:
        """Open what can be opened; why the rest could not is noted as a problem."""
        with ExitStack() as stack:
            self._read_trust()
            self._open(stack)
            yield self

    def _read_trust(self) -> None:
        try:
            self.trust = trust_files.read_trust_file(self.path / "trust.json").trust()
        except MootError as error:
            self.trust_problem = str(error)

    def _open(self, stack: ExitStack) -> None:
        try:
            reader = stack.enter_context(closing(open_to_check(self.path, self.folder)))
            self.store_problems = reader.integrity()
            if not self.store_problems:
                opened: AbstractContextManager[View] = reader.read()
                self.view = stack.enter_context(opened)
        except MootError as error:
            _require_ailment(error)
            self.store_problems = [str(error)]

    @cached_property
    def derived(self) -> DerivedData | None:
        if self.view is None or self.trust is None:
            return None
        return compare_derived(self.view, Replay(self.trust, Machines()))

    @cached_property
    def registry(self) -> Registry | None:
        if self.view is None or self.trust is None:
            return None
        try:
            return Replay(self.trust, Machines()).registry(self.view)
        except MootError:
            return None

    @cached_property
    def seen_ledger(self) -> SeenLedger | MootError:
        """The newest checkpoint and heads in the key folder, or why they cannot be read."""
        origin = self.trust.origin if self.trust is not None else ""
        try:
            return read_seen_ledger(self.folder.user_folder.path / "kept.db", origin)
        except MootError as error:
            _require_ailment(error)
            return error

    @cached_property
    def stored(self) -> list[str]:
        return list(self.artifacts.all_hashes())


def _require_ailment(error: MootError) -> None:
    """Raise an error that only says that something could not be read: nobody knows then whether it
    is damaged, so it must not become a finding."""
    if error.code in UNREADABLE_CODES:
        raise error
