"""What comes of a change: an INCURSION, a letter to the holder, a copy of the holder's bytes.

A run puts on record only what its own agent is proved to have done, under that agent's key; an
agent that works in another run, or by its hooks alone, is put on record there. Of every other
change that is not its own the holder gets one letter from the system, whichever run or hook sees it
first; letters to one holder come after pauses that grow up to a minute, and tell of all changes
since.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.core.errors import MootError, StoreFailed
from moot.flows.guard.held_changes import HeldChange
from moot.flows.watching.letters import (
    describe_change,
    describe_verdict,
    is_untold,
    write_letter,
)
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import NoteIncursion
from moot.protocols.presence.events import IncursionNoted
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.presence.model import EventType

if TYPE_CHECKING:
    from moot.flows.guard.who_changed import FileChange, Verdict
    from moot.flows.watching.held_files import Change, HeldFile
    from moot.workspace.workspace import Workspace

FIRST_PAUSE_SECONDS: Final = 2.0
LONGEST_PAUSE_SECONDS: Final = 60.0
SHOWN_IN_LINE: Final = 3
MOST_INCURSIONS: Final = 20
MOST_PATHS: Final = 200
MOST_COPIED: Final = 500
_SLACK: Final = 50  # milliseconds


# Tells a person who may be elsewhere: what makes it the same happening, and the sentence.
TellPerson = Callable[[str, str], None]


def tell_nobody(_once: str, _sentence: str) -> None:
    """For runs whose person has no program that could be told."""


class Reports:
    """What one run has to say about changes. `tell` gets one line for whoever started the run."""

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
        # by holder: when it got its last letter, and how long the pause after it is
        self._last_letters: dict[str, tuple[float, float]] = {}
        self._noted_here: set[str] = set()
        self._lacks_copies = False

    def report(self, changes: Iterable[Change]) -> None:
        """Each change once."""
        by_root: dict[str, list[Change]] = {}
        for change in changes:
            by_root.setdefault(change.file.root, []).append(change)
        for root, batch in by_root.items():
            explained = self._explain(Path(root), batch)
            own = {each.change.path: each.held.owner for each in explained if each.is_own}
            files = [change.file for change in batch]
            self.keep_copies([file for file in files if file.path in own], own)
            self.keep_copies([file for file in files if file.path not in own])
            self._sort_out([each for each in explained if not each.is_own])
        self.write_letters()

    def _explain(self, root: Path, batch: list[Change]) -> list[HeldChange]:
        from moot.flows.guard.copies import Copies
        from moot.flows.guard.held_changes import Evidence
        from moot.flows.guard.who_changed import FileChange

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

    def _sort_out(self, explained: list[HeldChange]) -> None:
        """What is proved is left to whose doing it is; everything else is told to the holder."""
        for each in explained:
            if not each.is_proved:
                self._waiting.setdefault(each.held.owner, []).append(each)
        proved = (each for each in explained if each.is_proved and each.verdict.who == self._name)
        changes = (each.change for each in proved)
        self._note_incursions([change for change in changes if not self._is_noted(change)])

    def keep_copies(self, files: Iterable[HeldFile], owners: Mapping[str, str] = {}) -> None:
        """Copies of what holders have in these files, `owners` by path if it is their own doing.
        Where the disk is full there is none: this is told once, less can be brought back then, and
        nothing else stops."""
        from moot.flows.guard.copies import Copies, Editor

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
            self._tell(f"no copies are kept of what others hold: {error}")

    def write_letters(self, *, is_last: bool = False) -> None:
        """To each holder whose last letter is a while ago; at the end of the run to all.

        What another run or hook has told meanwhile is left out: it is claimed only now, so that
        nothing is lost with a run that is killed while it waits.
        """
        now = time.monotonic()
        for owner in list(self._waiting):
            written_at, pause = self._last_letters.get(owner, (0.0, 0.0))
            if not is_last and now - written_at < pause:
                continue
            by_verdict: dict[Verdict, list[HeldChange]] = {}
            for each in self._waiting.pop(owner):
                if is_untold(self._workspace.path, each):
                    by_verdict.setdefault(each.verdict, []).append(each)
            for verdict, told in by_verdict.items():
                self._write_letter(owner, verdict, told)
            if by_verdict:
                is_quiet = now - written_at > 2 * LONGEST_PAUSE_SECONDS
                longer = FIRST_PAUSE_SECONDS if is_quiet else pause * 2
                self._last_letters[owner] = now, min(longer, LONGEST_PAUSE_SECONDS)

    def _is_noted(self, change: FileChange) -> bool:
        """Was the agent's own hook faster?"""
        since = change.until_ns // 1_000_000 - _SLACK
        return any(
            message.type is EventType.INCURSION
            and (message.sender, message.scope) == (self._name, change.path)
            and message.at >= since
            and message.id not in self._noted_here
            for message in self._workspace.engine.state(PRESENCE, STREAM).recent
        )

    def _note_incursions(self, changes: list[FileChange]) -> None:
        """One each, with both versions. Of thousands at once the rest is one for each lease."""
        for change in changes[:MOST_INCURSIONS]:
            self._execute(change.worktree, (change.path,), change)
        rest: dict[str, list[str]] = {}
        for change in changes[MOST_INCURSIONS:]:
            rest.setdefault(change.worktree, []).append(change.path)
        for root, paths in rest.items():
            self._execute(root, tuple(paths[:MOST_PATHS]), None)
        if changes:
            shown = _list_paths(change.path for change in changes)
            self._tell(f"{self._name} changed what others hold, which is on record: {shown}")
            once = "\n".join(
                (self._name, *(f"{each.path} {each.before} {each.after}" for each in changes))
            )
            self._tell_person(once, f"{self._name} changed what others hold: {shown}")

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

    def _write_letter(self, owner: str, verdict: Verdict, changes: list[HeldChange]) -> None:
        try:
            write_letter(self._workspace, owner, verdict, changes)
        except MootError as error:
            self._tell(f"{owner} was not told: {error}")
        shown = _list_paths(each.change.path for each in changes)
        sentence = f"{describe_verdict(verdict)}, while {owner} holds it: {shown}"
        self._tell(sentence)
        self._tell_person("\n".join((owner, *map(describe_change, changes))), sentence)


def _list_paths(paths: Iterable[str]) -> str:
    names = list(dict.fromkeys(paths))
    more = f" and {len(names) - SHOWN_IN_LINE} more" if len(names) > SHOWN_IN_LINE else ""
    return ", ".join(names[:SHOWN_IN_LINE]) + more
