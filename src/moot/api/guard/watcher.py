"""The thread of `moot run` that watches files which others hold, from start to end of the run.

The operating system reports changes. If it cannot watch more folders, the thread says so once and
compares the files at each beat. The list of held files is refreshed when the ledger changes. Errors
(a removed worktree, a full disk, a busy ledger) are reported once and never end the run.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.api.guard.copies import Copies, Editor
from moot.api.guard.held_changes import Evidence, HeldChange
from moot.api.guard.holder_mail import claim_change, describe_change, describe_verdict, mail_holder
from moot.api.guard.watched_files import HeldFiles, find_uncommitted
from moot.api.guard.who_changed import FileChange
from moot.api.session import read_presence
from moot.core.errors import MootError, StoreFailed
from moot.core.paged_map import PagedMap
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import NoteIncursion
from moot.protocols.presence.events import IncursionNoted
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.presence.model import EventType, Reservation
from moot.system.folder_watch import TooManyWatches, WatchFolders, watch_folders

if TYPE_CHECKING:
    from moot.api.guard.watched_files import HeldFile, WatchedChange
    from moot.api.guard.who_changed import Verdict
    from moot.workspace.workspace import Workspace


# A run records only what its own agent is proved to have done. All other changes are mailed to the
# holder, after pauses that grow up to a minute.

FIRST_PAUSE_SECONDS: Final = 2.0
LONGEST_PAUSE_SECONDS: Final = 60.0
SHOWN_IN_LINE: Final = 3
MOST_INCURSIONS: Final = 20
MOST_PATHS: Final = 200
MOST_COPIED: Final = 500
_SLACK: Final = 50  # milliseconds


# Notifies the user: a text that is equal for equal notices, and the sentence.
TellPerson = Callable[[str, str], None]


def tell_nobody(_once: str, _sentence: str) -> None:
    """Do nothing: the user has no notification program."""


class Reports:
    """What one run reports about changes. `tell` prints one line for the user who started the
    run."""

    def __init__(
        self,
        workspace: Workspace,
        name: str,
        tell: Callable[[str], None],
        tell_person: TellPerson = tell_nobody,
    ) -> None:
        self._workspace = workspace
        self._name = name
        self._tell = tell
        self._tell_person = tell_person
        self._waiting: dict[str, list[HeldChange]] = {}
        # holder -> time of its last message, and the pause after it
        self._last_mails: dict[str, tuple[float, float]] = {}
        self._noted_here: set[str] = set()
        self._lacks_copies = False

    def report(self, changes: Iterable[WatchedChange]) -> None:
        """Explain the changes, copy the files, and record or mail each change once."""
        by_root: dict[str, list[WatchedChange]] = {}
        for change in changes:
            by_root.setdefault(change.file.root, []).append(change)
        for root, batch in by_root.items():
            explained = self._explain(Path(root), batch)
            own = {each.change.path: each.held.owner for each in explained if each.is_own}
            files = [change.file for change in batch]
            self.keep_copies([file for file in files if file.path in own], own)
            self.keep_copies([file for file in files if file.path not in own])
            self._record_or_queue([each for each in explained if not each.is_own])
        self.mail_holders()

    def _explain(self, root: Path, batch: list[WatchedChange]) -> list[HeldChange]:
        since = min(change.since_ns for change in batch)
        with Copies(self._workspace.path, root) as copies:
            evidence = Evidence(self._workspace, copies, since, program=self._name)
            explained = []
            for file, held, before, after, since_ns, at_ns in batch:
                change = FileChange(file.root, file.path, before, after, since_ns, at_ns)
                verdict = evidence.explain(change, held.holder)
                explained.append(HeldChange(change, held, verdict))
            evidence.close_finished()
        return explained

    def _record_or_queue(self, explained: list[HeldChange]) -> None:
        """Record what this run's agent is proved to have done; queue unproved changes for the
        holders."""
        for each in explained:
            if not each.is_proved:
                self._waiting.setdefault(each.held.owner, []).append(each)
        proved = (each for each in explained if each.is_proved and each.verdict.who == self._name)
        changes = (each.change for each in proved)
        self._note_incursions([change for change in changes if not self._is_noted(change)])

    def keep_copies(self, files: Iterable[HeldFile], owners: Mapping[str, str] = {}) -> None:
        """Copy these files; `owners`, by path, are the holders who changed their own files. If the
        disk is full, that is reported once and everything else continues."""
        by_editor: dict[tuple[str, str], list[str]] = {}
        for file in list(files)[:MOST_COPIED]:
            by_editor.setdefault((file.root, owners.get(file.path, "")), []).append(file.path)
        for (root, owner), paths in by_editor.items():
            editor = Editor(owner, "", time.time_ns() // 1_000_000, "as seen by the watcher")
            try:
                with Copies(self._workspace.path, Path(root)) as copies:
                    copies.keep(paths, editor)
            except StoreFailed as error:
                self._tell_of_no_copies(error)

    def _tell_of_no_copies(self, error: StoreFailed) -> None:
        if not self._lacks_copies:
            self._lacks_copies = True
            self._tell(f"files that others hold are not copied: {error}")

    def mail_holders(self, *, is_last: bool = False) -> None:
        """Mail each holder whose last message is long enough ago; at the end of the run, all of
        them.

        Changes are claimed only here, so that a run that is killed while it waits does not lose
        them.
        """
        now = time.monotonic()
        for owner in list(self._waiting):
            written_at, pause = self._last_mails.get(owner, (0.0, 0.0))
            if not is_last and now - written_at < pause:
                continue
            by_verdict: dict[Verdict, list[HeldChange]] = {}
            for each in self._waiting.pop(owner):
                if claim_change(self._workspace.path, each):
                    by_verdict.setdefault(each.verdict, []).append(each)
            for verdict, told in by_verdict.items():
                self._mail_holder(owner, verdict, told)
            if by_verdict:
                is_quiet = now - written_at > 2 * LONGEST_PAUSE_SECONDS
                longer = FIRST_PAUSE_SECONDS if is_quiet else pause * 2
                self._last_mails[owner] = now, min(longer, LONGEST_PAUSE_SECONDS)

    def _is_noted(self, change: FileChange) -> bool:
        """True if the agent's own hook has already recorded it."""
        since = change.until_ns // 1_000_000 - _SLACK
        return any(
            message.type is EventType.INCURSION
            and (message.sender, message.scope) == (self._name, change.path)
            and message.at >= since
            and message.id not in self._noted_here
            for message in read_presence(self._workspace).recent
        )

    def _note_incursions(self, changes: list[FileChange]) -> None:
        """Record each change with both versions; beyond a limit, one for each reservation."""
        for change in changes[:MOST_INCURSIONS]:
            self._execute(change.worktree, (change.path,), change)
        rest: dict[str, list[str]] = {}
        for change in changes[MOST_INCURSIONS:]:
            rest.setdefault(change.worktree, []).append(change.path)
        for root, paths in rest.items():
            self._execute(root, tuple(paths[:MOST_PATHS]), None)
        if changes:
            shown = _list_paths(change.path for change in changes)
            self._tell(f"{shown}: {self._name} changed what others hold; this is on record")
            once = "\n".join(
                (self._name, *(f"{each.path} {each.before} {each.after}" for each in changes))
            )
            self._tell_person(once, f"{shown}: {self._name} changed what others hold")

    def _execute(self, root: str, paths: tuple[str, ...], change: FileChange | None) -> None:
        command = NoteIncursion(
            paths=paths,
            project_root=str(self._workspace.root),
            worktree=root,
            once=change is None,
            blob_before=None if change is None else change.before or "",
            blob_after=None if change is None else change.after or "",
        )
        outcome = self._workspace.engine.execute(STREAM, command, self._name)
        noted = (recorded.event for recorded in outcome.recorded)
        self._noted_here.update(e.id for e in noted if isinstance(e, IncursionNoted))

    def _mail_holder(self, owner: str, verdict: Verdict, changes: list[HeldChange]) -> None:
        try:
            mail_holder(self._workspace, owner, verdict, changes)
        except MootError as error:
            self._tell(f"could not mail {owner}: {error}")
        shown = _list_paths(each.change.path for each in changes)
        sentence = f"{shown}: {describe_verdict(verdict)}, while {owner} holds it"
        self._tell(sentence)
        self._tell_person("\n".join((owner, *map(describe_change, changes))), sentence)


def _list_paths(paths: Iterable[str]) -> str:
    names = list(dict.fromkeys(paths))
    more = f" and {len(names) - SHOWN_IN_LINE} more" if len(names) > SHOWN_IN_LINE else ""
    return ", ".join(names[:SHOWN_IN_LINE]) + more


PAUSE_SECONDS: Final = 1.0
LONGEST_FIRST_LOOK_SECONDS: Final = 5.0
LONGEST_PAUSES: Final = 30
MOST_LINES: Final = 5


class WatchingRun(NamedTuple):
    """The run's agent, its worktree root, the seconds between comparisons if nothing can be
    watched, and how its user is notified."""

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
    """Watch during the block. `tell` prints a line for the user who started the run.

    The block starts after the first look at the files, so that its own changes are noticed.
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
    """The work of the thread."""

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
            self._reports.mail_holders(is_last=True)

    @contextmanager
    def _never_raising(self, over: threading.Event | None = None) -> Iterator[None]:
        """Report errors instead of raising them; after each one, wait longer before the next
        try."""
        try:
            yield
        except (MootError, OSError) as error:
            self._troubles += 1
            self._tell_once(f"files that others hold are not watched right now: {error}")
            if over is not None:
                over.wait(PAUSE_SECONDS * min(self._troubles, LONGEST_PAUSES))

    def _watch_for_a_while(self, over: threading.Event) -> None:
        """Watch until something else is held, or the run ends."""
        if not self._files.folders:
            over.wait(PAUSE_SECONDS)
            return
        if self._files.is_too_much:
            self._tell_once("others hold more files here than can be watched; some are not watched")
        folders, is_first = self._files.folders, True
        try:
            for paths in self._watch(folders, over, int(PAUSE_SECONDS * 1000)):
                looked_ns = time.time_ns()
                self._report_paths(paths)
                if not is_first:  # what the system reported before this answer is compared now
                    self._files.compared_ns = self._looked_ns
                self._looked_ns = looked_ns
                if is_first:  # changes before the watch began were not reported
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

    def _report_paths(self, paths: frozenset[str]) -> None:
        if paths:
            self._reports.report(self._files.take_changes(self._files.find(sorted(paths))))
        else:
            self._reports.mail_holders()

    def _compare_all(self) -> None:
        """Compare every file that others hold, including new ones."""
        self._refresh()
        self._reports.report(self._files.take_changes(self._files.files))

    def _refresh(self) -> None:
        """Refresh the list of held files, and copy those that git does not have."""
        engine = self._workspace.engine
        state = engine.state(PRESENCE, STREAM)
        self._live = state.live_by_key
        now, name = engine.clock(), self._run.name
        others = [held for held in state.live if held.owner != name and not held.has_ended(now)]
        fresh = self._files.refresh(others, self._run.root)
        self._reports.keep_copies(find_uncommitted(fresh))
        self._reports.report(self._files.take_changes(fresh))

    def _is_outdated(self, paths: frozenset[str]) -> bool:
        """True if something else is held now, or if a folder was created or removed."""
        if read_presence(self._workspace).live_by_key is not self._live:
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
