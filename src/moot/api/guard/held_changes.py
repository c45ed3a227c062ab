"""Find changes of held files on disk, and gather the evidence about who made them.

`Evidence` collects who was at work, from the call journal and from presence, for the pure function
that decides (`who_changed.py`). `holder_mail.py` tells the holder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.api.guard.copies import Copies
from moot.api.guard.who_changed import (
    Announced,
    Cause,
    CauseKind,
    Certainty,
    FileChange,
    Verdict,
    explain,
    identify_words,
)
from moot.api.session import read_presence
from moot.protocols.presence.model import (
    Liveness,
    Member,
    Reservation,
    find_member,
    is_resource,
    key_of_file,
    name_with_alias,
)
from moot.workspace.call_journal import REMOVED, Call, CallFile, CallKind, Look

if TYPE_CHECKING:
    from moot.api.guard.worktree_before import WorktreeBefore
    from moot.protocols.presence.model import State
    from moot.workspace.workspace import Workspace

# File times tick in steps and may be this much behind.
LAG_NS: Final = 20_000_000
# An edit of other files counts as a cause for this long; its end may never be reported.
OTHER_FILES_NS: Final = 60 * 10**9
GIT_SECONDS: Final = 3.0
MOST_CHANGES: Final = 200
CHANGED_UNKNOWN: Final = "changed by someone unknown"


class HeldChange(NamedTuple):
    """A change of a file that `held` covers, and who made it."""

    change: FileChange
    held: Reservation
    verdict: Verdict

    @property
    def is_own(self) -> bool:
        return self.verdict.who == self.held.holder

    @property
    def is_proved(self) -> bool:
        return self.verdict.certainty is Certainty.PROVED


class Evidence:
    """Who was at work since a given time; read once for all changes.

    `program` is the agent of the run that asks, if its program has no hooks: it counts as a
    command. `own` is the command that has just ended, which may not be in the journal.
    """

    def __init__(
        self,
        workspace: Workspace,
        copies: Copies,
        since_ns: int,
        program: str = "",
        own: Call | None = None,
    ) -> None:
        self._workspace = workspace
        self._copies = copies
        self._program = program
        self._own = own
        self._journal = copies.versions.journal
        self.state: State = read_presence(workspace)
        self._calls = [
            call
            for call in self._journal.list_overlapping(since_ns, time.time_ns())
            if call.kind is not CallKind.READING and (own is None or call.number != own.number)
        ]
        self._calls += [] if own is None else [own]
        self._unguarded: tuple[str, ...] | None = None

    def explain(self, change: FileChange, holder: str, *, only_calls: bool = False) -> Verdict:
        """Return who made a change. With `only_calls`, agents without hooks do not count."""
        causes = list(self._find_causes(change))
        if not only_calls:
            for name in self._list_unguarded():
                is_program = name == self._program
                causes.append(Cause(name, CauseKind.COMMAND if is_program else CauseKind.UNGUARDED))
        others = len({cause.who for cause in causes}) > 1
        if others and any(change.after in cause.predicted for cause in causes):
            change = msgspec.structs.replace(change, is_new=self._is_new(change))
        elif any(cause.announced is not None for cause in causes):
            data = self._copies.read_version(change.before)
            is_new = self._is_new(change) if others else True
            change = msgspec.structs.replace(change, data=data, is_new=is_new)
        if any(cause.who == holder and cause.predicted for cause in causes):
            change = msgspec.structs.replace(change, words=self._identify_words(change))
        return explain(change, causes, holder, self._copies.identify)

    def find_session(self, change: FileChange, who: str) -> str:
        """Return the session whose call made a change."""
        calls = (call for call in self._calls if self._name_of_caller(call) == who)
        return next((call.session for call in calls if _find_call_file(call, change)), "")

    def close_finished(self) -> None:
        """Close journal entries of calls that have ended. Call it last: they count as causes until
        then."""
        from moot.system.background_processes import read_start

        self._journal.close(
            call.number
            for call in self._calls
            if call.ended_ns is None
            and call is not self._own
            and (
                all(read_start(each.number) != each.started for each in call.processes)
                if call.processes
                else self._has_left(call)
            )
        )

    def _find_causes(self, change: FileChange) -> Iterator[Cause]:
        for call in self._calls:
            is_over = call.ended_ns is not None and call.ended_ns <= change.since_ns
            if is_over or call.began_ns > change.until_ns:
                continue
            who = self._name_of_caller(call)
            file = _find_call_file(call, change)
            if file is not None:
                kind = CauseKind.EDIT if call.kind is CallKind.EDIT else CauseKind.COMMAND
                announced = _decode_announced(file.announced)
                predicted = frozenset("" if each == REMOVED else each for each in file.predicted)
                yield Cause(who, kind, predicted, announced)
            elif call.kind is CallKind.COMMAND:
                yield Cause(who, CauseKind.COMMAND)
            elif call.ended_ns is not None or change.since_ns - call.began_ns < OTHER_FILES_NS:
                yield Cause(who, CauseKind.OTHER_FILES)

    def _name_of_caller(self, call: Call) -> str:
        """Return the caller's name; a session without a name is found by its session key."""
        member = self._member_of(call)
        name = call.agent or (member.name if member is not None else "")
        if not call.sub_agent or not name:
            return name
        known = member.sub_agents if member is not None else ()
        alias = next((each.alias for each in known if each.tool_id == call.sub_agent), None)
        return name_with_alias(name, alias or call.sub_agent)

    def _member_of(self, call: Call) -> Member | None:
        if call.agent:
            return find_member(self.state, call.agent)
        found = (each for each in self.state.members if each.session_key == call.session)
        return next(found, None)

    def _has_left(self, call: Call) -> bool:
        member = self._member_of(call)
        return member is not None and member.left

    def _list_unguarded(self) -> tuple[str, ...]:
        """Return living agents, in any worktree, whose hooks have never called."""
        if self._unguarded is None:
            from moot.api.presence.observation import observe
            from moot.protocols.presence.views import observe_liveness

            heard = self._journal.list_active_names()
            silent = [
                member.name
                for member in self.state.members
                if not member.left and not {member.name, member.session_key} & heard
            ]
            observation = observe(self._workspace, silent) if silent else None
            self._unguarded = tuple(
                name
                for name in silent
                if observation is not None
                and observe_liveness(self.state, name, observation).liveness is Liveness.ACTIVE
            )
        return self._unguarded

    def _identify_words(self, change: FileChange) -> str:
        """Return the id of the words in the file; empty if it has another version, or is not
        here."""
        is_held_in = change.worktree == str(self._copies.root)
        present = self._copies.read(change.path) if is_held_in else None
        if present is None or present.blob != change.after or present.data is None:
            return ""
        return identify_words(present.data)

    def _is_new(self, change: FileChange) -> bool:
        """True if the file never had this content before."""
        if not change.after:
            return False
        since = change.since_ns // 1_000_000
        if self._copies.versions.was_seen(change.worktree, change.path, change.after, since):
            return False
        from moot.system.git_commands import find_blobs

        name = f"HEAD:{change.path}"
        committed = find_blobs(Path(change.worktree), [name], GIT_SECONDS)
        return committed is not None and committed[name] != change.after


class CommandBeginning(NamedTuple):
    """When a command began, in nanoseconds, and the state of its worktree; None if unknown."""

    began_ns: int | None = None
    worktree: WorktreeBefore | None = None


class FoundChanges(NamedTuple):
    """Changes with the reservation of each file, and the present version of each file."""

    changes: list[tuple[FileChange, Reservation]]
    present: dict[str, str]


def find_changes(
    copies: Copies,
    others: Iterable[Reservation],
    beginning: CommandBeginning,
    changed: Collection[str],
) -> FoundChanges:
    """Compare held files in a worktree with their earlier version.

    That is the last explained version, or else the version when the command began. `changed` is
    what git reports as changed now.
    """
    root, held = str(copies.root), index_by_key(others)
    if not held:
        return FoundChanges([], {})
    looks = copies.versions.journal.find_looks(root)
    began_ns = beginning.began_ns
    holders = dict[str, Reservation]()
    for path in dict.fromkeys((*list_candidates(copies, beginning, changed), *looks)):
        holder = _find_holder(path, held, root)
        if holder is None:
            continue
        look = _valid_look(looks.get(path), holder, root)
        looks.pop(path, None)
        if look is not None:
            looks[path] = look
        since = began_ns if look is None else look.at_ns
        if was_touched(f"{root}/{path}", since):
            holders[path] = holder
    present = {path: file.blob for path in holders if (file := copies.read(path)) is not None}
    at_beginning = _versions_at_beginning(copies, beginning, present, changed)
    found = [
        (change, holders[path])
        for path in present
        for change in _compare(
            root, path, looks.get(path), (at_beginning.get(path), began_ns), present[path]
        )
    ]
    here = {path: blob for path, blob in present.items() if is_held_in(holders[path], root)}
    return FoundChanges(found[:MOST_CHANGES], here)


def list_candidates(
    copies: Copies, beginning: CommandBeginning, changed: Collection[str]
) -> Iterator[str]:
    """Yield files that a command may have changed: those that git reports as changed now or
    reported when the command began, and those that differ between the two commits. If the beginning
    is unknown, also files that agents wrote here before."""
    from moot.api.guard.worktree_before import find_committed_otherwise

    yield from changed
    before = beginning.worktree
    if before is not None and before.root == str(copies.root):
        yield from before.changed
        yield from before.gone
        yield from find_committed_otherwise(before)
    else:
        yield from (version.path for version in copies.versions.last_left(str(copies.root)))


def find_changes_elsewhere(
    workspace: Path, root: Path, others: Iterable[Reservation], beginning: CommandBeginning
) -> Iterator[tuple[Path, FoundChanges]]:
    """Do the same in other worktrees. Files there need an explained version, unless the command ran
    there."""
    from moot.api.guard.git_changes import list_changed_or_empty

    reservations = tuple(others)
    for other in sorted({held.worktree for held in reservations} - {"", str(root)}):
        if not os.path.isdir(other):
            continue
        ran_there = beginning.worktree is not None and beginning.worktree.root == other
        began = beginning if ran_there else CommandBeginning()
        with Copies(workspace, Path(other)) as copies:
            changed = list_changed_or_empty(Path(other)) if ran_there else ()
            here = [held for held in reservations if held.worktree == other]
            yield Path(other), find_changes(copies, here, began, changed)


def index_by_key(reservations: Iterable[Reservation]) -> dict[str, Reservation]:
    """Return the reservations by key, without named resources, which are not files."""
    return {held.key: held for held in reservations if not is_resource(held.key)}


def reservations_around(path: str, held: Mapping[str, Reservation]) -> list[Reservation]:
    """Return the reservations of the path itself and of its parent folders."""
    key = key_of_file(path)
    folders = ("", *(key[:at] for at, letter in enumerate(key) if letter == "/"), key)
    return [held[folder] for folder in folders if folder in held]


def was_touched(file: str, since_ns: int | None) -> bool:
    """True if the file changed since then by its ctime, or if the time is unknown."""
    return since_ns is None or change_time(file) >= since_ns - LAG_NS


def change_time(file: str) -> int:
    """Return the ctime of the file, or of the nearest existing folder if it was removed."""
    place = file
    while True:
        try:
            return os.lstat(place).st_ctime_ns
        except OSError:
            above = os.path.dirname(place)
            if above == place:
                return 0
            place = above


def latest_change_time(file: str) -> int:
    """Return the latest time at which the file may have changed: file clocks tick in steps."""
    return change_time(file) + LAG_NS


def _find_holder(path: str, held: Mapping[str, Reservation], root: str) -> Reservation | None:
    """Return the innermost reservation of a file, preferring one of this worktree."""
    around = reservations_around(path, held)
    here = [each for each in around if is_held_in(each, root)]
    return next(reversed(here or around), None)


def is_held_in(held: Reservation, root: str) -> bool:
    """True if the holder works in this worktree; a holder elsewhere loses nothing by a change
    here."""
    return held.worktree in ("", root)


def _valid_look(look: Look | None, holder: Reservation, root: str) -> Look | None:
    """Return the last explained version, unless it is older than the reservation."""
    if look is None or not is_held_in(holder, root):
        return None
    return look if look.at_ns // 1_000_000 >= holder.since else None


def _versions_at_beginning(
    copies: Copies,
    beginning: CommandBeginning,
    present: Mapping[str, str],
    changed: Collection[str],
) -> Mapping[str, str | None]:
    from moot.api.guard.worktree_before import TouchedFile, find_blobs_before

    before, root = beginning.worktree, str(copies.root)
    if before is None or before.root != root:
        return {}
    files = [
        TouchedFile(path, copies.versions.newest(root, path), blob)
        for path, blob in present.items()
    ]
    return find_blobs_before(before, files, changed, copies.versions)


def _compare(
    root: str,
    path: str,
    look: Look | None,
    beginning: tuple[str | None, int | None],
    present: str,
) -> Iterator[FileChange]:
    """Yield at most two changes: one before the command began, and one since."""
    blob, began_ns = beginning
    until = latest_change_time(f"{root}/{path}")
    if look is not None and (began_ns is None or look.at_ns >= began_ns or blob is None):
        if look.blob != present:
            yield FileChange(root, path, look.blob, present, look.at_ns, until)
        return
    if began_ns is None:
        return
    if look is not None and blob is not None and look.blob != blob:
        yield FileChange(root, path, look.blob, blob, look.at_ns, min(until, began_ns - 1))
    if blob != present:
        yield FileChange(root, path, blob, present, began_ns, until)


def _find_call_file(call: Call, change: FileChange) -> CallFile | None:
    """Return what the call says about this file, under any name of it."""
    for file in call.files:
        if (file.worktree, file.path) == (change.worktree, change.path):
            return file
    full = os.path.realpath(f"{change.worktree}/{change.path}")
    names = ((os.path.realpath(f"{file.worktree}/{file.path}"), file) for file in call.files)
    return next((file for name, file in names if name == full), None)


def _decode_announced(announced: bytes) -> Announced | None:
    try:
        return msgspec.json.decode(announced, type=Announced) if announced else None
    except msgspec.DecodeError:
        return None
