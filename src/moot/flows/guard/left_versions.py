"""What a call left, and whose work is gone from the disk since.

A file counts as changed if its bytes are no longer those that its holder last left, whatever git
calls it: put back to what was committed, it is as lost as if it had been overwritten.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.flows.guard.copies import Copies
from moot.flows.guard.incursions import may_be_meant, named_paths, reservations_around
from moot.workspace.file_versions import Act

if TYPE_CHECKING:
    from moot.flows.guard.incursions import ShellCommand
    from moot.protocols.presence.model import Reservation
    from moot.workspace.file_versions import FileVersion

MOST_LOSSES: Final = 200
_GIT: Final = "git"


class LostVersion(NamedTuple):
    """A file that its holder left as `blob_before`, and that a command changed to `blob_after`.

    Empty is a file that is not there. `reservation` is the number of what the holder holds.
    """

    worktree: Path
    path: str
    blob_before: str
    blob_after: str
    reservation: int


class HeldFiles(NamedTuple):
    """What others left and hold: `lost` to the command; `intact`: as its holder left it."""

    lost: tuple[LostVersion, ...] = ()
    intact: frozenset[str] = frozenset()


def compare_held(
    copies: Copies,
    command: ShellCommand,
    others: Iterable[Reservation],
    changed: Collection[str],
) -> HeldFiles:
    """Compare what others left in this worktree, and hold, with what is there after the command.

    `changed` is what git calls changed: what is not in it was put back to git's own version.
    """
    held = {reservation.key: reservation for reservation in others}
    root, lost, intact = copies.root, list[LostVersion](), set[str]()
    named = named_paths(command, root)
    for version, own in _held_versions(copies, held) if held else ():
        if not was_touched(f"{root}/{version.path}", command.began_ns):
            continue
        present = copies.read(version.path)
        if present is None or present.blob == version.blob:
            intact.add(version.path)
            continue
        is_gits = version.path not in changed
        put_back = is_gits and _GIT in command.text.split()
        if version.act is Act.KEPT and not (is_gits and present.blob):
            continue  # the holder itself may be at work, or have removed it before
        if put_back or may_be_meant(version.path, named, root, own):
            blobs = version.blob, present.blob
            lost.append(LostVersion(root, version.path, *blobs, own[-1].fencing))
    return HeldFiles(tuple(lost[:MOST_LOSSES]), frozenset(intact))


def _held_versions(
    copies: Copies, held: Mapping[str, Reservation]
) -> Iterator[tuple[FileVersion, list[Reservation]]]:
    """Of each file the newest version that its holder left, or that was kept before some command (a
    tool may not have told that an edit ended); and what is held of it."""
    newest: dict[str, tuple[FileVersion, list[Reservation]]] = {}
    worktree, versions = str(copies.root), copies.versions
    for version in (*versions.last_left(worktree), *versions.last_kept(worktree)):
        own = [
            reservation
            for reservation in reservations_around(version.path, held)
            if version.act is Act.KEPT or reservation.owner == version.agent
        ]
        before = newest.get(version.path)
        if own and (before is None or before[0].at < version.at):
            newest[version.path] = version, own
    yield from newest.values()


def find_lost_elsewhere(
    workspace: Path, command: ShellCommand, root: Path, others: Iterable[Reservation]
) -> Iterator[LostVersion]:
    """The same in other worktrees that the command names (`git -C ../main ...`)."""
    reservations = tuple(others)
    for other in {held.worktree for held in reservations} - {"", str(root)}:
        if named_paths(command, Path(other)):
            with Copies(workspace, Path(other)) as copies:
                named = (held for held in reservations if held.worktree == other)
                yield from compare_held(copies, command, named, ("",)).lost


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
