"""After a call: what it changed although others hold it, and the version of each file it left.

What it left is noted with a copy of the bytes, so that it can be brought back (`moot undo`). That
is best effort: trouble with it never reaches the tool, and the next edit is held back instead if
there is still no room for a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from moot.api.guard.checks import note_incursions
from moot.flows.guard import incursions
from moot.flows.guard.copies import MOST_FILES_AT_ONCE, Copies, Editor
from moot.flows.guard.guarded_paths import GuardedPaths, find_guarded_paths
from moot.flows.observed.tool_use import never_in_the_way

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.findings import Finding
    from moot.flows.guard.incursions import ShellCommand
    from moot.flows.guard.left_versions import LostVersion
    from moot.protocols.presence.model import Reservation


class AfterLook(msgspec.Struct, frozen=True):
    """`noted` are the INCURSIONs that are new on record, `files` what the call seems to have
    changed in its own worktree."""

    noted: tuple[Finding, ...]
    files: tuple[str, ...]


def look_after_edit(
    session: Session,
    paths: Iterable[str],
    root: Path,
    editor: Editor,
    others: Iterable[Reservation],
) -> AfterLook:
    """Edits were checked beforehand; should one have come through all the same, it counts too."""
    places = find_guarded_paths(paths, session.folder, session.home)
    files = tuple(scope for each in places if each.worktree_root == root for scope in each.scopes)
    with never_in_the_way():
        for guarded in places:
            with Copies(guarded.workspace, guarded.worktree_root) as copies:
                copies.note_left(guarded.scopes, editor)
    held = incursions.held_by_others(files, others)
    return AfterLook(note_incursions(session, held, root, editor.agent) if held else (), files)


def look_after_command(
    session: Session,
    command: ShellCommand,
    guarded: GuardedPaths,
    editor: Editor,
    others: tuple[Reservation, ...],
) -> AfterLook:
    """What stood in the files that others hold is compared with what is there now; of what nobody
    looked at before, git tells what is changed. A command that only reads has changed nothing,
    whatever others did meanwhile."""
    from moot.flows.guard.left_versions import HeldFiles, compare_held, find_lost_elsewhere
    from moot.flows.guard.shell.first_look import only_reads
    from moot.flows.guard.stale_reads import note_printed

    if only_reads(command.text):
        with never_in_the_way(), Copies(guarded.workspace, guarded.worktree_root) as copies:
            note_printed(copies, command.text, command.folder, editor)
        return AfterLook((), ())
    root, began = guarded.worktree_root, command.began_ns
    changed = tuple(incursions.changed_files(root, [])) if others or began is not None else ()
    suspects = incursions.changed_by_command(command, root, others, changed)
    held, elsewhere = HeldFiles(), list["LostVersion"]()
    with never_in_the_way():
        with Copies(guarded.workspace, root) as copies:
            held = compare_held(copies, command, others, changed, suspects)
            own = {lost.path for lost in held.lost}.union(suspects) - held.intact
            left = _left_by_command(copies, command, others, changed, own)
            copies.note_left(left, editor)
            note_printed(copies, command.text, command.folder, editor)
        elsewhere += find_lost_elsewhere(guarded.workspace, command, root, others)
    seen = held.intact.union(lost.path for lost in held.lost)
    unseen = tuple(path for path in suspects if path not in seen)
    noted = list(_note_losses(session, (*held.lost, *elsewhere), editor.agent))
    if unseen:
        noted += note_incursions(session, unseen, root, editor.agent)
    newer = [path for path in changed if began and incursions.is_newer(root / path, began)]
    return AfterLook(tuple(noted), tuple(newer))


def _left_by_command(
    copies: Copies,
    command: ShellCommand,
    others: tuple[Reservation, ...],
    changed: Iterable[str],
    although_held: set[str],
) -> list[str]:
    """What is newer than the command, but for what others hold and it cannot have meant."""
    from moot.flows.guard.left_versions import find_touched

    if command.began_ns is None:
        return sorted(although_held)
    touched = list(find_touched(copies, command.began_ns, changed))
    held = set(incursions.held_by_others(touched, others)) - although_held
    return [path for path in touched if path not in held][:MOST_FILES_AT_ONCE]


def _note_losses(session: Session, losses: Iterable[LostVersion], name: str) -> Iterator[Finding]:
    """One INCURSION for each reservation, with what the first of its files was and has become."""
    first: dict[int, LostVersion] = {}
    for lost in losses:
        first.setdefault(lost.reservation, lost)
    for lost in first.values():
        blobs = lost.blob_before, lost.blob_after
        yield from note_incursions(session, (lost.path,), lost.worktree, name, blobs)
