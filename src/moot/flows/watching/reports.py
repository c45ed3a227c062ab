"""What comes of a change: an INCURSION, a letter to the holder, a copy of the holder's bytes.

A run puts on record only what its own agent did, under that agent's key; an agent that works in
another run, or by its hooks alone, is put on record there. Of a change whose cause is unknown the
holder gets one letter from the system, whichever run sees it first; letters to one holder are at
least a minute apart and tell of all changes since.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.core.errors import MootError, StoreFailed
from moot.core.names import SYSTEM
from moot.flows.guard.told_once import is_first_time
from moot.flows.watching.causes import UNKNOWN, Evidence
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import NoteIncursion
from moot.protocols.presence.events import IncursionNoted
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.presence.model import EventType

if TYPE_CHECKING:
    from moot.flows.watching.held_files import Change, HeldFile
    from moot.workspace.workspace import Workspace

LETTER_PAUSE_SECONDS: Final = 60.0
SHOWN: Final = 20
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
        self._waiting: dict[str, list[Change]] = {}
        self._written_at: dict[str, float] = {}
        self._noted_here: set[str] = set()
        self._lacks_copies = False

    def report(self, changes: Iterable[Change]) -> None:
        """Each change once."""
        batch = list(changes)
        if not batch:
            return
        evidence = Evidence(self._workspace)
        causes = [(change, evidence.find_cause(change)) for change in batch]
        by_holder = [change for change, cause in causes if cause == change.held.owner]
        self.keep_copies([change.file for change in by_holder], by_holder)
        for change, cause in causes:
            if cause == UNKNOWN and self._is_first(change):
                self._waiting.setdefault(change.held.owner, []).append(change)
        ours = (change for change, cause in causes if cause == self._name != change.held.owner)
        self._note_incursions([change for change in ours if not self._is_noted(change)])
        self.write_letters()

    def keep_copies(self, files: Iterable[HeldFile], changes: Iterable[Change] = ()) -> None:
        """Copies of what holders have in these files. Where the disk is full there is none: this is
        told once, less can be brought back then, and nothing else stops."""
        from moot.flows.guard.copies import Copies, Editor

        owners = {change.file: change.held.owner for change in changes}
        by_editor: dict[tuple[str, str], list[str]] = {}
        for file in list(files)[:MOST_COPIED]:
            by_editor.setdefault((file.root, owners.get(file, "")), []).append(file.path)
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
        """To each holder whose last letter is a while ago; at the end of the run to all."""
        now = time.monotonic()
        for owner in list(self._waiting):
            if is_last or now - self._written_at.get(owner, 0.0) >= LETTER_PAUSE_SECONDS:
                self._written_at[owner] = now
                self._write_letter(owner, self._waiting.pop(owner))

    def _is_first(self, change: Change) -> bool:
        moment = str(change.at_ns) if change.after else "gone"
        blobs = change.before or "", change.after or ""
        return is_first_time(self._workspace.path, "changed", *change.file, *blobs, moment)

    def _is_noted(self, change: Change) -> bool:
        """Was the agent's own hook faster?"""
        since = change.at_ns // 1_000_000 - _SLACK
        return any(
            message.type is EventType.INCURSION
            and (message.sender, message.scope) == (self._name, change.file.path)
            and message.at >= since
            and message.id not in self._noted_here
            for message in self._workspace.engine.state(PRESENCE, STREAM).recent
        )

    def _note_incursions(self, changes: list[Change]) -> None:
        """One each, with both versions. Of thousands at once the rest is one for each lease."""
        for change in changes[:MOST_INCURSIONS]:
            self._execute(change.file.root, (change.file.path,), change)
        rest: dict[str, list[str]] = {}
        for change in changes[MOST_INCURSIONS:]:
            rest.setdefault(change.file.root, []).append(change.file.path)
        for root, paths in rest.items():
            self._execute(root, tuple(paths[:MOST_PATHS]), None)
        if changes:
            shown = _list_paths(change.file.path for change in changes)
            self._tell(f"{self._name} changed what others hold, which is on record: {shown}")
            once = "\n".join((self._name, *map(_describe, changes)))
            self._tell_person(once, f"{self._name} changed what others hold: {shown}")

    def _execute(self, root: str, paths: tuple[str, ...], change: Change | None) -> None:
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

    def _write_letter(self, owner: str, changes: list[Change]) -> None:
        from moot.flows.mail.letters import Letter, send_letter

        paths = list(dict.fromkeys(change.file.path for change in changes))
        many = f"{len(paths)} files" if len(paths) > 1 else paths[0]
        lines = [_describe(change) for change in changes[:SHOWN]]
        if len(changes) > SHOWN:
            lines.append(f"- and {len(changes) - SHOWN} more changes")
        letter = Letter(
            to=(owner,),
            subject=" ".join(f"INFO: changed by someone unknown: {many}".split())[:200],
            body="\n".join(
                ("What you hold was changed by someone unknown:", "", *lines, "", _ADVICE)
            ),
            importance="high",
        )
        try:
            send_letter(self._workspace, SYSTEM, letter)
        except MootError as error:
            self._tell(f"{owner} was not told: {error}")
        shown = _list_paths(paths)
        sentence = f"changed by someone unknown, while {owner} holds it: {shown}"
        self._tell(sentence)
        self._tell_person("\n".join((owner, *map(_describe, changes))), sentence)


_ADVICE: Final = (
    "Who did it is not known: nobody's hook or command was seen doing it. Look at the files before"
    " you go on."
)


def _list_paths(paths: Iterable[str]) -> str:
    names = list(dict.fromkeys(paths))
    more = f" and {len(names) - SHOWN_IN_LINE} more" if len(names) > SHOWN_IN_LINE else ""
    return ", ".join(names[:SHOWN_IN_LINE]) + more


def _describe(change: Change) -> str:
    act = "deleted" if change.after == "" else "made" if change.before == "" else "changed"
    ids = f"{change.before or 'nothing'} -> {change.after or 'nothing'}"
    return f"- {change.file.path} in {change.file.root}: {act} ({ids})"
