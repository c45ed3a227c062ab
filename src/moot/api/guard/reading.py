"""After a file was read: tell the model who else holds it, before it plans an edit.

Nothing is reserved or recorded, and reading is never refused; this saves the model from preparing
an edit that would be refused. The version that was read is noted if others changed the file since
the session last saw it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from moot.api.guard.holders import (
    Holder,
    LineNotice,
    describe_holder,
    find_blockers,
    is_region_of,
)
from moot.api.operation import operation
from moot.api.session import read_presence
from moot.core.errors import MootError

if TYPE_CHECKING:
    from moot.api.guard.guarded_paths import GuardedPaths
    from moot.api.session import Session
    from moot.protocols.presence.overlap import OverlapConflict


class ReadFiles(msgspec.Struct, frozen=True):
    """`agent` has read and is told about `holders`, each reservation once."""

    agent: str | None = None
    holders: tuple[Holder, ...] = ()
    lines: tuple[LineNotice, ...] = ()


@operation("hook.after_read")
def after_read(session: Session, paths: Sequence[str]) -> ReadFiles:
    """Return who holds these files (absolute paths), which the session's agent has read.

    Only living holders, and each reservation once for each session and sub-agent. Empty if the
    agent is unknown, if `moot.toml` says so (`protect.reading`), and outside of a workspace.
    Refused as `session_replaced` if another session adopted the name.
    """
    from moot.api.guard.guarded_paths import find_guarded_paths

    name: str | None = None
    told: list[Holder] = []
    lines: list[LineNotice] = []
    for guarded in find_guarded_paths(paths, session.folder, session.home):
        if guarded.is_outer:
            continue
        there = session.in_workspace(guarded.workspace)
        name = there.known_actor()
        if name is not None:
            claimed = list(_claim_holders(there, guarded, name))
            told += [each for each in claimed if isinstance(each, Holder)]
            lines += [each for each in claimed if isinstance(each, LineNotice)]
            _note_seen(there, guarded, name)
    return ReadFiles(name, tuple(told), tuple(lines))


def _note_seen(session: Session, guarded: GuardedPaths, name: str) -> None:
    """Note the versions that the session has now seen, so that it may overwrite these files."""
    from moot.api.guard.copies import Copies, Editor
    from moot.api.guard.stale_reads import find_unseen
    from moot.workspace.file_versions import FILE

    has_session = session.tool_session is not None and bool(session.tool_session.keys)
    if not has_session or not (guarded.workspace / FILE).is_file():
        return  # no hook saw the session start
    editor = Editor(name, session.tool_session_name, session.clock())
    with suppress(MootError, OSError), Copies(guarded.workspace, guarded.worktree_root) as copies:
        find_unseen(copies, guarded.scopes, editor)


def _claim_holders(
    session: Session, guarded: GuardedPaths, name: str
) -> Iterator[Holder | LineNotice]:
    conflicts = _find_living(session, guarded, name)
    if not conflicts:
        return
    from moot.workspace.settings import shows_readers_holders

    if not shows_readers_holders(guarded.worktree_root, session.env):
        return
    from moot.api.guard.notices import claim_notice
    from moot.protocols.presence.overlap import first_by_reservation

    state = read_presence(session.workspace)
    reader = "read", session.tool_session_name, name, str(session.sub_agent or "")
    first = first_by_reservation(conflicts)
    regions = [each.held for each in first if is_region_of(each.held.key, each.claim.key)]
    if regions:
        from moot.api.guard.line_edits import describe_lines

        for notice in describe_lines(session, guarded, regions):
            if claim_notice(guarded.workspace, *reader, notice.path, str(notice.ranges)):
                yield notice
    for conflict in (each for each in first if each.held not in regions):
        if claim_notice(guarded.workspace, *reader, str(conflict.held.fencing)):
            yield describe_holder(conflict, state)


def _find_living(session: Session, guarded: GuardedPaths, name: str) -> tuple[OverlapConflict, ...]:
    """Return the conflicts with active holders; what the others hold can be taken over."""
    from moot.protocols.presence.model import Liveness

    conflicts = find_blockers(session, guarded.scopes, guarded.worktree_root, name)
    return tuple(
        conflict
        for conflict in conflicts
        if conflict.verdict.liveness is Liveness.ACTIVE and not _is_gone(session, conflict)
    )


def _is_gone(session: Session, conflict: OverlapConflict) -> bool:
    """True if the holder's program has exited, although its last sign of life is recent."""
    from moot.api.presence.exited_agents import EXITED, find_run_evidence

    held = conflict.held
    evidence = find_run_evidence(session.workspace, held.owner, held.epoch)
    return evidence is not None and evidence.state == EXITED
