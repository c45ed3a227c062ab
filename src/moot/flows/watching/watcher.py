"""The thread of a run that watches what others hold, from its start to its end.

The system tells it what changes. Where the system watches no more folders, it says so once and
compares the files at each beat instead. What is held is looked at again whenever the ledger has
changed. Trouble (a worktree that was removed, a full disk, a busy ledger) is told once and never
ends the run.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.core.errors import MootError
from moot.core.paged_map import PagedMap
from moot.flows.watching.held_files import HeldFiles, find_uncommitted
from moot.flows.watching.reports import Reports, TellPerson, tell_nobody
from moot.protocols.presence import STREAM
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.presence.model import Reservation
from moot.system.watching import TooManyWatches, WatchFolders, watch_folders

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

PAUSE_SECONDS: Final = 1.0
LONGEST_FIRST_LOOK_SECONDS: Final = 5.0
LONGEST_PAUSES: Final = 30
MOST_LINES: Final = 5


class WatchingRun(NamedTuple):
    """Whose run it is: its agent, the root of its worktree, how often it compares in need, and how
    its person is told of what others' work has come to."""

    name: str
    root: Path
    beat_seconds: float = 60.0
    tell_person: TellPerson = tell_nobody


@contextmanager
def watching(
    workspace: Workspace,
    run: WatchingRun,
    tell: Callable[[str], None],
    watch: WatchFolders = watch_folders,
) -> Iterator[None]:
    """Watch for as long as the block goes on. `tell` gets a line for whoever started the run.

    The block begins once it is known how the files are now, so that its own changes are noticed.
    """
    over = threading.Event()
    watcher = Watcher(workspace, run, tell, watch)
    thread = threading.Thread(target=watcher.run, args=(over,), name="moot-watch", daemon=True)
    thread.start()
    watcher.has_looked.wait(LONGEST_FIRST_LOOK_SECONDS)
    try:
        yield
    finally:
        over.set()
        thread.join()


class Watcher:
    """What the thread does."""

    def __init__(
        self,
        workspace: Workspace,
        run: WatchingRun,
        tell: Callable[[str], None],
        watch: WatchFolders = watch_folders,
    ) -> None:
        self._workspace = workspace
        self._run = run
        self._tell = tell
        self._watch = watch
        self._files = HeldFiles()
        self._reports = Reports(workspace, run.name, tell, run.tell_person)
        self._live: PagedMap[Reservation] | None = None
        self._told: set[str] = set()
        self._troubles = 0
        self._looked_ns = 0
        self.has_looked = threading.Event()

    def run(self, over: threading.Event) -> None:
        while not over.is_set():
            with self._never_raising(over):
                self._refresh()
                self.has_looked.set()
                self._watch_for_a_while(over)
        with self._never_raising():
            self._compare_all()
        with self._never_raising():
            self._reports.write_letters(is_last=True)

    @contextmanager
    def _never_raising(self, over: threading.Event | None = None) -> Iterator[None]:
        """Trouble is told and not fatal; each time it takes longer until it is tried again."""
        try:
            yield
        except (MootError, OSError) as error:
            self._troubles += 1
            self._tell_once(f"what others hold is not watched right now: {error}")
            if over is not None:
                over.wait(PAUSE_SECONDS * min(self._troubles, LONGEST_PAUSES))

    def _watch_for_a_while(self, over: threading.Event) -> None:
        """Until something else is held, or the run is over."""
        if not self._files.folders:
            over.wait(PAUSE_SECONDS)
            return
        if self._files.is_too_much:
            self._tell_once("others hold more files here than can be watched; not all of them are")
        folders, is_first = self._files.folders, True
        try:
            for paths in self._watch(folders, over, int(PAUSE_SECONDS * 1000)):
                looked_ns = time.time_ns()
                self._look(paths)
                if not is_first:  # what the system told until its answer before this one
                    self._files.compared_ns = self._looked_ns
                self._looked_ns = looked_ns
                if is_first:  # nobody told what happened before the system began to watch
                    self._compare_all()
                    is_first = False
                if self._files.folders != folders or self._is_outdated(paths):
                    return
        except TooManyWatches as limit:
            self._tell_once(
                f"the system watches no more folders ({limit}); files that others hold are compared"
                f" every {self._run.beat_seconds:g} seconds instead"
            )
            over.wait(self._run.beat_seconds)
            self._compare_all()

    def _look(self, paths: frozenset[str]) -> None:
        if paths:
            self._reports.report(self._files.take_changes(self._files.find(sorted(paths))))
        else:
            self._reports.write_letters()

    def _compare_all(self) -> None:
        """Every file that others hold, with those that are new."""
        self._refresh()
        self._reports.report(self._files.take_changes(self._files.files))

    def _refresh(self) -> None:
        """Look what others hold by now, and keep copies of what git does not have of it."""
        engine = self._workspace.engine
        state = engine.state(PRESENCE, STREAM)
        self._live = state.live_by_key
        now, name = engine.clock(), self._run.name
        others = [held for held in state.live if held.owner != name and not held.has_ended(now)]
        fresh = self._files.refresh(others, self._run.root)
        self._reports.keep_copies(find_uncommitted(fresh))
        self._reports.report(self._files.take_changes(fresh))

    def _is_outdated(self, paths: frozenset[str]) -> bool:
        """Something else is held, or a folder has come or gone."""
        if self._workspace.engine.state(PRESENCE, STREAM).live_by_key is not self._live:
            return True
        folders = self._files.folders
        if any(not folder.is_dir() for folder in folders):
            return True
        new = {path for path in paths if Path(path).is_dir()} - {str(folder) for folder in folders}
        return any(self._files.find(new))

    def _tell_once(self, line: str) -> None:
        if line not in self._told and len(self._told) < MOST_LINES:
            self._told.add(line)
            self._tell(line)
