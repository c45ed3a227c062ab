"""What a call left, and whose work is gone from the disk since.

A file counts as changed if its bytes are no longer those that stood there when the command began,
whatever git calls it: put back to what was committed, it is as lost as if it had been overwritten.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.flows.guard.copies import Copies
from moot.flows.guard.incursions import (
    changed_files,
    may_be_meant,
    named_paths,
    reservations_around,
)
from moot.flows.guard.worktree_before import (
    TouchedFile,
    find_blobs_before,
    find_committed_otherwise,
)
from moot.workspace.file_versions import Act

if TYPE_CHECKING:
    from moot.flows.guard.incursions import ShellCommand
    from moot.protocols.presence.model import Reservation
    from moot.workspace.file_versions import FileVersion

MOST_LOSSES: Final = 200
_GIT: Final = "git"


class LostVersion(NamedTuple):
    """A file that somebody holds, was `blob_before`, and was changed by a command to `blob_after`.

    Empty is a file that is not there. `reservation` is the number of what the holder holds.
    """

    worktree: Path
    path: str
    blob_before: str
    blob_after: str
    reservation: int


class HeldFiles(NamedTuple):
    """What others hold: `lost` to the command, or `intact`, as it was before."""

    lost: tuple[LostVersion, ...] = ()
    intact: frozenset[str] = frozenset()


def compare_held(
    copies: Copies,
    command: ShellCommand,
    others: Iterable[Reservation],
    changed: Collection[str],
    suspects: Iterable[str] = (),
) -> HeldFiles:
    """Compare what stood in the files that others hold, as far as it was seen, with what is there
    after the command.

    `changed` is what git calls changed: what is not in it was put back to git's own version.
    `suspects` are files that are looked at even if nothing was noted of them; so are those that git
    itself replaced, if the command ran it and the worktree is at another commit now.
    """
    held = {reservation.key: reservation for reservation in others}
    if not held:
        return HeldFiles()
    root, lost, intact = copies.root, list[LostVersion](), set[str]()
    changed_now = frozenset(changed)
    named, runs_git = named_paths(command, root), _GIT in command.text.split()
    worktree = command.worktree_before
    if runs_git and worktree is not None and worktree.root == str(root):
        suspects = (*suspects, *find_committed_otherwise(worktree))
    files = list(_touched_files(copies, command, held, suspects))
    blobs_before = _find_blobs_before(copies, command, files, held, changed_now)
    for path, _noted, present in files:
        before, own = blobs_before[path], reservations_around(path, held)
        if present is None or present == before:
            intact.add(path)
        elif before is not None and (here := [each for each in own if _is_held_in(each, root)]):
            put_back = runs_git and path not in changed_now
            if put_back or may_be_meant(path, named, root, own):
                lost.append(LostVersion(root, path, before, present, here[-1].fencing))
    return HeldFiles(tuple(lost[:MOST_LOSSES]), frozenset(intact))


def _is_held_in(reservation: Reservation, root: Path) -> bool:
    """Who works in another worktree has its own bytes there: nothing of it is lost here."""
    return reservation.worktree in ("", str(root))


def _touched_files(
    copies: Copies,
    command: ShellCommand,
    held: Mapping[str, Reservation],
    suspects: Iterable[str],
) -> Iterator[TouchedFile]:
    """The held files that are newer than the command, with what was last noted of each, whoever
    left or saw it: a tool may not have told that an edit ended."""
    noted: dict[str, FileVersion | None] = dict.fromkeys(suspects)
    noted |= {row.path: row for row in copies.versions.newest_of_each(str(copies.root))}
    for path, version in noted.items():
        is_held = bool(reservations_around(path, held))
        if is_held and was_touched(f"{copies.root}/{path}", command.began_ns):
            present = copies.read(path)
            yield TouchedFile(path, version, None if present is None else present.blob)


def _find_blobs_before(
    copies: Copies,
    command: ShellCommand,
    files: Collection[TouchedFile],
    held: Mapping[str, Reservation],
    changed: Collection[str],
) -> Mapping[str, str | None]:
    """What stood in each file when the command began. If the worktree was not looked at then, it
    is what its holder left; a copy that was kept of it counts only if git's version is back: else
    the holder itself may be at work, or have removed it before."""
    before = command.worktree_before
    if before is not None and before.root == str(copies.root):
        return find_blobs_before(before, files, changed, copies.versions)
    blobs: dict[str, str | None] = {}
    for path, noted, present in files:
        is_back = bool(present) and path not in changed
        is_evidence = noted is not None and (
            noted.blob == present or is_back or _was_left_so(copies, noted, held)
        )
        blobs[path] = noted.blob if noted is not None and is_evidence else None
    return blobs


def _was_left_so(copies: Copies, noted: FileVersion, held: Mapping[str, Reservation]) -> bool:
    """Is this what one of its holders left?"""
    return any(
        left is not None and left.blob == noted.blob
        for reservation in reservations_around(noted.path, held)
        for left in (
            copies.versions.last(noted.worktree, noted.path, Act.LEFT, agent=reservation.owner),
        )
    )


def find_lost_elsewhere(
    workspace: Path, command: ShellCommand, root: Path, others: Iterable[Reservation]
) -> Iterator[LostVersion]:
    """The same in other worktrees that the command names (`git -C ../main ...`) or ran in."""
    reservations = tuple(others)
    before = command.worktree_before
    for other in {held.worktree for held in reservations} - {"", str(root)}:
        if named_paths(command, Path(other)):
            ran_there = before is not None and before.root == other
            changed = changed_files(Path(other), []) if ran_there else ("",)
            with Copies(workspace, Path(other)) as copies:
                named = (held for held in reservations if held.worktree == other)
                yield from compare_held(copies, command, named, changed).lost


def find_touched(copies: Copies, began_ns: int, changed: Iterable[str]) -> Iterator[str]:
    """What a command may have changed: of what git calls changed, and of what agents left here
    before, the files that are newer than its beginning."""
    known = (version.path for version in copies.versions.last_left(str(copies.root)))
    for path in dict.fromkeys((*changed, *known)):
        if was_touched(f"{copies.root}/{path}", began_ns):
            yield path


def was_touched(file: str, began_ns: int | None) -> bool:
    """Is the file, its name or its permissions newer than the command's beginning?

    The system's own time of the change counts: a copy can bring an old date along. Of a file that
    is gone, the folder it was in tells. Without a beginning, all may be.
    """
    if began_ns is None:
        return True
    place = file
    while True:
        try:
            status = os.lstat(place)
        except OSError:
            above = os.path.dirname(place)
            if above == place:
                return False
            place = above
        else:
            return max(status.st_mtime_ns, status.st_ctime_ns) >= began_ns
