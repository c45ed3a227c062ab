"""After a file was read: does another agent hold it? The model is told before it thinks about it.

A look. Nothing is reserved, nothing goes on record, and reading is never stopped: the edit is what
would be refused, and by then a minute of thinking may be in vain. Only which version was read is
remembered, if others changed the file since the session last saw it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from moot.api.guard.holders import Holder, describe_holder, find_blockers
from moot.api.operation import operation
from moot.api.session import read_presence
from moot.core.errors import MootError

if TYPE_CHECKING:
    from moot.api.guard.guarded_paths import GuardedPaths
    from moot.api.session import Session
    from moot.protocols.presence.overlap import OverlapConflict


class ReadFiles(msgspec.Struct, frozen=True):
    """`holders` are those of whom `agent`, who has read, is to be told: each reservation once."""

    agent: str | None = None
    holders: tuple[Holder, ...] = ()


@operation("hook.after_read")
def after_read(session: Session, paths: Sequence[str]) -> ReadFiles:
    """Who keeps the session's agent from writing these files (absolute paths), which it has read?

    Only holders that are alive, and each reservation once for each session and sub-agent.
    Nothing if nobody knows who acts, if `moot.toml` says so (`protect.reading`), and for what lies
    in no workspace. Refused as `session_replaced` if another session has adopted the name.
    """
    from moot.api.guard.guarded_paths import find_guarded_paths

    name: str | None = None
    told: list[Holder] = []
    for guarded in find_guarded_paths(paths, session.folder, session.home):
        if guarded.is_outer:
            continue
        there = session.in_workspace(guarded.workspace)
        name = there.known_actor()
        if name is not None:
            told += _claim_holders(there, guarded, name)
            _note_seen(there, guarded, name)
    return ReadFiles(name, tuple(told))


def _note_seen(session: Session, guarded: GuardedPaths, name: str) -> None:
    """Remember the versions that the session has now seen, where it would else be held back for
    them before it writes the file whole."""
    from moot.api.guard.copies import Copies, Editor
    from moot.api.guard.stale_reads import find_unseen
    from moot.workspace.file_versions import FILE

    has_session = session.tool_session is not None and bool(session.tool_session.keys)
    if not has_session or not (guarded.workspace / FILE).is_file():
        return  # nobody saw it begin
    editor = Editor(name, session.tool_session_name, session.clock())
    with suppress(MootError, OSError), Copies(guarded.workspace, guarded.worktree_root) as copies:
        find_unseen(copies, guarded.scopes, editor)


def _claim_holders(session: Session, guarded: GuardedPaths, name: str) -> Iterator[Holder]:
    conflicts = _find_living(session, guarded, name)
    if not conflicts:
        return
    from moot.workspace.settings import tells_reading

    if not tells_reading(guarded.worktree_root, session.env):
        return
    from moot.api.guard.notices import claim_notice
    from moot.protocols.presence.overlap import first_by_reservation

    state = read_presence(session.workspace)
    reader = "read", session.tool_session_name, name, str(session.sub_agent or "")
    for conflict in first_by_reservation(conflicts):
        if claim_notice(guarded.workspace, *reader, str(conflict.held.fencing)):
            yield describe_holder(conflict, state)


def _find_living(session: Session, guarded: GuardedPaths, name: str) -> tuple[OverlapConflict, ...]:
    """Whoever would refuse the edit, and works: what the others hold can be had."""
    from moot.protocols.presence.model import Liveness

    conflicts = find_blockers(session, guarded.scopes, guarded.worktree_root, name)
    return tuple(
        conflict
        for conflict in conflicts
        if conflict.verdict.liveness is Liveness.ACTIVE and not _is_gone(session, conflict)
    )


def _is_gone(session: Session, conflict: OverlapConflict) -> bool:
    """Is its program gone, although its last sign of life is not old?"""
    from moot.api.presence.exited_agents import EXITED, find_run_evidence

    held = conflict.held
    evidence = find_run_evidence(session.workspace, held.owner, held.epoch)
    return evidence is not None and evidence.state == EXITED
