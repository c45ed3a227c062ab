"""Before an edit: may this agent write these files? What is free is reserved for it at once.

A coding tool's hook asks `before_edit`, and so can a program of one's own: what is free is
reserved in the same transaction, so that agents which never reserve anything are protected too.
Whoever else holds a file, alive or not, is in the way; taking over is an act of its own. What lies
in no workspace is nobody's business.

A hook runs before every edit of every agent, so each import counts: this module loads only what
the question at hand needs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from moot.api.guard.holders import Holder, describe_holder, find_blockers, requester_of
from moot.api.guard.unmerged import UnmergedChange, claim_untold, require_merged
from moot.api.guard.who_changed import Announced as Announced
from moot.api.guard.who_changed import Hunk as Hunk
from moot.api.guard.who_changed import TextEdit as TextEdit
from moot.api.operation import operation
from moot.api.session import read_presence
from moot.core.errors import MootError, Refused
from moot.core.text import Quoted
from moot.workspace.find import spell_as_listed

if TYPE_CHECKING:
    from moot.api.guard.copies import Copies
    from moot.api.guard.guarded_paths import GuardedPaths
    from moot.api.presence.exited_agents import ExitedHolder
    from moot.api.session import Session
    from moot.engine.job import JobOutcome
    from moot.protocols.presence.commands import Reserve
    from moot.protocols.presence.model import State


class UnseenChange(msgspec.Struct, frozen=True):
    """A file that was changed after the session last saw it: by whom, if known, when and how."""

    path: Quoted
    agent: str | None
    at: str
    how: Quoted


class EditVerdict(msgspec.Struct, frozen=True):
    """May `agent` write? If not, `holders` says why, each reservation once; or `unseen` does, the
    changes that it would overwrite from memory.

    `agent` is None if none of the files lies in a workspace. `unmerged` is to be told with an
    allowed edit: changes of these files elsewhere that are not merged here.
    """

    allowed: bool
    agent: str | None = None
    holders: tuple[Holder, ...] = ()
    unseen: tuple[UnseenChange, ...] = ()
    unmerged: tuple[UnmergedChange, ...] = ()


@operation("hook.before_edit", writes=True)
def before_edit(
    session: Session,
    paths: Sequence[str],
    *,
    whole: Sequence[str] = (),
    call_id: str = "",
    tool: str = "",
    announced: Mapping[str, Announced] = {},
    tells_unmerged: bool = True,
    tells_end: bool = True,
) -> EditVerdict:
    """May the session's agent write these files (absolute paths)? What is free is reserved for it.

    `whole` are those that it overwrites whatever is in them: if another changed one after the
    session last saw it, that is held back once, for the session to read it again.

    All or none of a workspace: one file that another agent holds, under whatever name, stops all,
    and the attempt is on record once as an INCURSION. Refused as `not_for_agents` for files that
    belong to git or Moot alone, and for those that carry our hooks unless `announced` shows that
    they are kept; as `other_root` if the agent holds another file under this name, as
    `actor_required` if nobody knows who acts, as `copy_failed` if there is no room for a copy of
    what is there. Asking again for what one holds changes nothing, so a repeat needs no key.

    Changes of the files on another worktree, or on a branch that agents here worked on, which are
    not merged here are given with the verdict, once for each session and version, if
    `tells_unmerged`; where `moot.toml` says so they refuse the edit (`unmerged_changes`).
    `call_id` is what the tool calls this edit, by its `tool`; `after_call` is told the same, unless
    the tool may not tell that it ended (`tells_end`): then the next call of anyone copies what it
    left. `announced` is what the edit makes of each path, for comparing it with what is there
    later. It is written into the journal of calls, which is no part of the record.
    """
    from moot.api.guard.guarded_paths import find_guarded_paths, require_allowed

    verdict = EditVerdict(allowed=True)
    unmerged: tuple[UnmergedChange, ...] = ()
    roots, unguarded = _other_roots(session), list[str]()
    all_guarded = find_guarded_paths(paths, session.folder, session.home, roots, unguarded)
    if unguarded:
        from moot.api.guard.guarded_paths import require_no_missing_workspace

        require_no_missing_workspace(unguarded, session.keys_path)
    _require_hooks_kept(session, paths, all_guarded, announced)
    for guarded in all_guarded:
        require_allowed(guarded.scopes, guarded.worktree_root, guarded.workspace)
        there = session.in_workspace(guarded.workspace)
        if guarded.is_outer and not _has_key_in(there):
            verdict = _check_outer_workspace(there, guarded, verdict)
            if not verdict.allowed:
                break
            continue
        changes = _require_merged(there, guarded)
        verdict = _check_and_reserve(there, guarded)
        if verdict.allowed:
            verdict = _copy_before_write(there, guarded, verdict, whole)
        if not verdict.allowed:
            break
        if tells_unmerged:
            reader = there.tool_session_name, there.actor()
            unmerged += claim_untold(changes, guarded, reader)
        _journal_edit(there, guarded, (tool, call_id), announced, tells_end=tells_end)
    return msgspec.structs.replace(verdict, unmerged=unmerged) if unmerged else verdict


def _require_hooks_kept(
    session: Session,
    paths: Sequence[str],
    all_guarded: Sequence[GuardedPaths],
    announced: Mapping[str, Announced],
) -> None:
    """Refused if the edit would take our hooks out of a file; nearly every file has another name.

    The user's own settings lie in no workspace: they are asked about where the session works.
    """
    from moot.api.guard.guarded_paths import may_carry_hooks

    if not any(map(may_carry_hooks, paths)):
        return
    from moot.api.guard.guarded_paths import find_guarded_folder
    from moot.api.hook_setup.guard_files import require_hooks_kept

    around = find_guarded_folder(session.folder, session.home)
    every = {each.worktree_root: each for each in all_guarded}
    if around is not None:
        every.setdefault(around.worktree_root, around)
    for guarded in every.values():
        require_hooks_kept(paths, announced, guarded, session.env)


def _journal_edit(
    session: Session,
    guarded: GuardedPaths,
    call: tuple[str, str],
    announced: Mapping[str, Announced],
    *,
    tells_end: bool,
) -> None:
    """Write the edit down before it is made. Best effort: without it, less can be explained."""
    from moot.api.guard.call_journaling import Caller, copy_unreported_edits, journal_edit
    from moot.api.guard.copies import Copies

    sub_agent = session.sub_agent if isinstance(session.sub_agent, str) else ""
    caller = Caller(session.tool_session_name, session.actor(), sub_agent)
    with suppress(MootError, OSError), Copies(guarded.workspace, guarded.worktree_root) as copies:
        copy_unreported_edits(guarded.workspace, copies, session.clock())
        before_ns = time.time_ns()
        present = journal_edit(copies, guarded, caller, call, announced, tells_end=tells_end)
        _explain_own_changes(session, copies, present, before_ns)


def _explain_own_changes(
    session: Session, copies: Copies, present: Mapping[str, str], before_ns: int
) -> None:
    """What the agent holds and is about to edit: was it changed since it was last explained?

    A file that it has just got is explained as it is.
    """
    journal, root = copies.versions.journal, str(copies.root)
    looks = {path: journal.find_look(root, path) for path in present}
    fresh = {path: blob for path, blob in present.items() if looks[path] is None}
    changed = {path: look for path, look in looks.items() if look and look.blob != present[path]}
    if changed:
        from moot.api.guard.after_call import explain_own_changes

        fresh |= explain_own_changes(session, copies, changed, present, before_ns)
    if fresh:
        journal.note_looks(root, fresh, before_ns)


def _require_merged(session: Session, guarded: GuardedPaths) -> tuple[UnmergedChange, ...]:
    """What is not merged; refused if the settings say so, unless a holder is the greater reason."""
    name = session.actor()
    try:
        return require_merged(session.workspace, guarded, name, session.env)
    except Refused:
        from moot.api.guard.holders import find_blockers

        if not find_blockers(session, guarded.scopes, guarded.worktree_root, name):
            raise
        return ()


def _copy_before_write(
    session: Session, guarded: GuardedPaths, verdict: EditVerdict, whole: Sequence[str]
) -> EditVerdict:
    """Keep a copy of what is about to be overwritten, unless one was made when it was left.

    Where no file is yet, nothing can be lost and nothing was overlooked.
    """
    root = guarded.worktree_root
    if not any(os.path.lexists(os.path.join(root, scope)) for scope in guarded.scopes):
        return verdict
    from moot.api.guard.copies import keep_copies

    keep_copies(session, guarded, guarded.scopes, f"before an edit by {verdict.agent}")
    has_session = session.tool_session is not None and bool(session.tool_session.keys)
    return _refuse_if_unseen(session, guarded, verdict, whole) if whole and has_session else verdict


def _refuse_if_unseen(
    session: Session, guarded: GuardedPaths, verdict: EditVerdict, whole: Sequence[str]
) -> EditVerdict:
    from moot.api.guard.copies import Copies, Editor
    from moot.api.guard.stale_reads import find_unseen
    from moot.core.clock import to_text

    root = guarded.worktree_root
    names = {name for path in whole for name in (os.path.normpath(path), os.path.realpath(path))}
    files = set(map(spell_as_listed, names))
    scopes = [scope for scope in guarded.scopes if os.path.normpath(root / scope) in files]
    editor = Editor(verdict.agent or "", session.tool_session_name, session.clock())
    with Copies(guarded.workspace, root) as copies:
        unseen = find_unseen(copies, scopes, editor)
    changes = tuple(
        UnseenChange(Quoted(each.path), each.agent, to_text(each.at), Quoted(each.how))
        for each in unseen
    )
    return EditVerdict(not changes, verdict.agent, unseen=changes)


def _has_key_in(session: Session) -> bool:
    """Is the agent of this session one of that workspace, too?"""
    name = session.acting or session.known_actor()
    agent = session.workspace.engine.registry().agents.get(name or "")
    return agent is not None and session.workspace.keys.find(agent.name, agent.kid) is not None


def _check_outer_workspace(
    session: Session, guarded: GuardedPaths, inner: EditVerdict
) -> EditVerdict:
    """An agent that is nobody there can reserve nothing; what is held there it leaves alone."""
    from moot.protocols.presence.overlap import first_by_reservation

    conflicts = find_blockers(session, guarded.scopes, guarded.worktree_root, None)
    if not conflicts:
        return inner
    state = read_presence(session.workspace)
    holders = tuple(
        describe_holder(conflict, state) for conflict in first_by_reservation(conflicts)
    )
    return EditVerdict(False, inner.agent, holders)


def _other_roots(session: Session) -> tuple[str, ...]:
    """From where others count, for a session whose own root is a guess; else nothing is read."""
    if session.home is None:
        return ()
    from moot.api.guard.guarded_paths import find_guarded_folder, root_was_guessed

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None or not root_was_guessed(guarded):
        return ()
    from moot.api.guard.guarded_paths import roots_in_use

    workspace = session.in_workspace(guarded.workspace).workspace
    return roots_in_use(read_presence(workspace))


def _check_and_reserve(session: Session, guarded: GuardedPaths) -> EditVerdict:
    from moot.protocols.presence import STREAM, model
    from moot.protocols.presence.machine import MACHINE as PRESENCE
    from moot.protocols.presence.machine import OVERLAP_CODES

    engine, name = session.workspace.engine, session.actor()
    state = engine.state(PRESENCE, STREAM)
    scopes = (*guarded.scopes, *_names_held_by_others(session, state, guarded, name))
    command = _reserve_command(session, guarded, scopes)
    gone = _free_exited_owners(session, PRESENCE.needs_signs_of(state, command), name)
    try:
        outcome = engine.execute(STREAM, command, name)
    except Refused as refused:
        if refused.code not in OVERLAP_CODES:
            raise
        return _refuse_for_holders(session, guarded, scopes, name, refused, gone)
    after = PRESENCE.require_state(outcome.state)
    if outcome.recorded:
        between = after.fencing - state.fencing - len(_reserved_scopes(outcome))
        if between:
            return _release_if_raced(session, guarded, name, outcome)
    else:
        member = model.find_member(after, name)
        session.workspace.beat_if_due(name, member.last_at if member is not None else 0)
    return EditVerdict(True, name)


def _free_exited_owners(
    session: Session, owners: Iterable[str], name: str
) -> dict[str, ExitedHolder]:
    """Looked at only where somebody else holds something there."""
    others = [owner for owner in owners if owner != name]
    if not others:
        return {}
    from moot.api.presence.exited_agents import end_exited_holders

    return {holder.agent: holder for holder in end_exited_holders(session, others)}


def _names_held_by_others(
    session: Session, state: State, guarded: GuardedPaths, name: str
) -> tuple[str, ...]:
    """Other names under which others hold the same file: to ask for them too is to be refused."""
    from moot.api.guard.aliases import find_aliases, names_in_held_folders
    from moot.api.guard.guarded_paths import root_was_guessed
    from moot.protocols.presence.overlap import is_in_the_way

    requester = requester_of(session, state, name)
    if root_was_guessed(guarded):
        from moot.api.guard.guarded_paths import require_one_meaning

        require_one_meaning(state, guarded, (requester.name, requester.epoch))
    scopes, root = guarded.scopes, guarded.worktree_root
    aliases = find_aliases(state, scopes, root)
    names = (held.key for held in aliases if is_in_the_way(state, held, requester))
    every = state.live_by_key.values()
    others = (held for held in every if is_in_the_way(state, held, requester))
    return (*names, *names_in_held_folders(scopes, root, others))


def _reserve_command(session: Session, guarded: GuardedPaths, scopes: tuple[str, ...]) -> Reserve:
    from moot.api.guard.guarded_paths import branch_of
    from moot.protocols.presence.commands import Reserve

    return Reserve(
        scopes=scopes,
        project_root=str(session.workspace.root),
        worktree=str(guarded.worktree_root),
        branch=branch_of(guarded.worktree_root),
        stale_millis=session.stale_millis,
        automatic=True,
        once=True,
        sub_agent=session.sub_agent,
        sub_agent_kind=session.sub_agent_kind,
    )


def _reserved_scopes(outcome: JobOutcome) -> tuple[str, ...]:
    from moot.protocols.presence.events import ScopeReserved

    events = (recorded.event for recorded in outcome.recorded)
    return tuple(event.scope for event in events if isinstance(event, ScopeReserved))


def _release_if_raced(
    session: Session, guarded: GuardedPaths, name: str, outcome: JobOutcome
) -> EditVerdict:
    """Others wrote between our look at the disk and our reservation.

    If one of them got the same file under another name, what we got is given back.
    """
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.commands import Release
    from moot.protocols.presence.machine import MACHINE as PRESENCE

    late = _names_held_by_others(session, PRESENCE.require_state(outcome.state), guarded, name)
    if not late:
        return EditVerdict(True, name)
    workspace, ours = session.workspace, _reserved_scopes(outcome)
    if ours:
        root = str(guarded.worktree_root)
        release = Release(scopes=ours, project_root=str(workspace.root), worktree=root)
        workspace.engine.execute(STREAM, release, name)
    refused = Refused("reservation_conflict", "another agent had it a moment ago", hint="try again")
    return _refuse_for_holders(session, guarded, late, name, refused)


def _refuse_for_holders(
    session: Session,
    guarded: GuardedPaths,
    scopes: tuple[str, ...],
    name: str,
    refused: Refused,
    gone: Mapping[str, ExitedHolder] = {},
) -> EditVerdict:
    """Looked up once more for the details; if it was freed meanwhile, the refusal stands."""
    from moot.protocols.presence.overlap import first_by_reservation

    conflicts = find_blockers(session, scopes, guarded.worktree_root, name)
    if not conflicts:
        raise refused
    state = read_presence(session.workspace)
    first = first_by_reservation(conflicts)
    holders = tuple(describe_holder(conflict, state, gone) for conflict in first)
    return EditVerdict(False, name, holders)
