"""Before an edit: may this agent write these files? Free files are reserved for it at once.

A coding tool's hook calls `before_edit`, and any program may. Free files are reserved in the same
transaction, so agents that never reserve anything are protected too. Every other holder refuses the
edit, alive or not: taking over is a separate command. Files outside of a workspace are not checked.

A hook runs before every edit, so start-up time matters: this module imports late what few calls
need.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from moot.api.guard.holders import (
    Holder,
    LineConflict,
    describe_holder,
    find_blockers,
    requester_of,
)
from moot.api.guard.unmerged import UnmergedChange, claim_untold, require_merged
from moot.api.guard.who_changed import Announced as Announced
from moot.api.guard.who_changed import Hunk as Hunk
from moot.api.guard.who_changed import TextEdit as TextEdit
from moot.api.operation import operation
from moot.api.session import read_presence
from moot.core.errors import MootError, Refused, StoreFailed
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
    """A file that changed after the session last saw it: by whom (None if unknown), when and
    how."""

    path: Quoted
    agent: str | None
    at: str
    how: Quoted


class EditVerdict(msgspec.Struct, frozen=True):
    """Whether `agent` may write; if not, the `holders`, the `lines` of others that it would change,
    or the `unseen` changes it would overwrite.

    `agent` is None if no file is in a workspace. `unmerged` are changes of these files on other
    branches or worktrees; the model is told about them, and the edit is allowed.
    """

    allowed: bool
    agent: str | None = None
    holders: tuple[Holder, ...] = ()
    unseen: tuple[UnseenChange, ...] = ()
    unmerged: tuple[UnmergedChange, ...] = ()
    lines: tuple[LineConflict, ...] = ()


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
    """Check whether the session's agent may write these files (absolute paths), and reserve free
    ones.

    `whole` are files that the edit overwrites without reading them. If another agent changed one
    after the session last saw it, the edit is refused once, so that the model reads it again.

    All files of a workspace are reserved, or none: one held file, under any of its names, refuses
    the edit, and the attempt is recorded once as an INCURSION. Refused with `not_for_agents` for
    files of git or Moot, and for files that contain our hooks unless `announced` keeps them; with
    `other_root` if the agent holds another file under this name; with `actor_required` if the agent
    is unknown; with `copy_failed` if the disk has no room for a copy. Reserving again what the
    agent holds changes nothing, so a repeat needs no key.

    If `tells_unmerged`, the verdict lists unmerged changes of the files once for each session and
    version; `moot.toml` can make them a refusal (`unmerged_changes`). `call_id` and `tool` identify
    the edit for `after_call`. `tells_end` is False if the tool does not report the end of this
    edit: then the next call of any agent copies the result. `announced` is the new content of each
    path; it is kept in the call journal, which is not part of the record, to explain the change
    later.
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
        call = _EditCall((tool, call_id), announced, whole, tells_end)
        by_lines = _check_lines(there, guarded, call)
        verdict = by_lines or _check_and_reserve(there, guarded)
        if verdict.allowed and by_lines is None:
            verdict = _copy_before_write(there, guarded, verdict, whole)
        if not verdict.allowed:
            break
        if tells_unmerged:
            reader = there.tool_session_name, there.actor()
            unmerged += claim_untold(changes, guarded, reader)
        if by_lines is None:
            _journal_edit(there, guarded, call)
    return msgspec.structs.replace(verdict, unmerged=unmerged) if unmerged else verdict


def _require_hooks_kept(
    session: Session,
    paths: Sequence[str],
    all_guarded: Sequence[GuardedPaths],
    announced: Mapping[str, Announced],
) -> None:
    """Refuse an edit that would remove our hooks from a settings file.

    The user's own settings are in no workspace; they are checked against the session's folder.
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


class _EditCall(NamedTuple):
    """An edit: its tool and id, what it makes of each path, and which files it overwrites whole."""

    tool_and_id: tuple[str, str]
    announced: Mapping[str, Announced]
    whole: Sequence[str]
    tells_end: bool


def _check_lines(session: Session, guarded: GuardedPaths, call: _EditCall) -> EditVerdict | None:
    """Check the edit line by line, if settings say so and one of the files is held by lines.

    The edit is journaled before it is checked. Of two edits at the same time the later one sees the
    earlier one. If the local memory cannot be used, the files are held whole.
    """
    from moot.workspace.settings import holds_lines

    if session.sub_agent or not holds_lines(guarded.worktree_root, session.env):
        return None  # what a sub-agent edits is held whole
    from moot.api.guard.copies import Copies
    from moot.api.guard.line_edits import load_editable

    try:
        with Copies(guarded.workspace, guarded.worktree_root) as copies:
            if not load_editable(session, copies, guarded.scopes):
                return None
            return _check_journaled(session, guarded, call, copies)
    except StoreFailed:
        return None


def _check_journaled(
    session: Session, guarded: GuardedPaths, call: _EditCall, copies: Copies
) -> EditVerdict:
    from moot.api.guard.call_journaling import caller_of, copy_unreported_edits, journal_edit
    from moot.api.guard.line_edits import find_line_conflicts, find_regions, load_editable

    name, journal = session.actor(), copies.versions.journal
    caller = caller_of(session, name)
    copy_unreported_edits(guarded.workspace, copies, session.clock())
    number = journal_edit(
        copies, guarded, caller, call.tool_and_id, call.announced, tells_end=call.tells_end
    ).number
    verdict = EditVerdict(False, name)
    try:
        files = load_editable(session, copies, guarded.scopes)
        conflicts = find_line_conflicts(session, guarded, copies, files, call.announced, number)
        if conflicts:
            return EditVerdict(False, name, lines=conflicts)
        verdict = _check_and_reserve(session, guarded, find_regions(session, files))
        if verdict.allowed:
            verdict = _copy_before_write(session, guarded, verdict, call.whole)
        return verdict
    finally:
        if not verdict.allowed:
            journal.close([number])


def _journal_edit(session: Session, guarded: GuardedPaths, call: _EditCall) -> None:
    """Write the edit into the journal. Errors are ignored: without it less can be explained
    later."""
    from moot.api.guard.call_journaling import caller_of, copy_unreported_edits, journal_edit
    from moot.api.guard.copies import Copies

    caller = caller_of(session, session.actor())
    with suppress(MootError, OSError), Copies(guarded.workspace, guarded.worktree_root) as copies:
        copy_unreported_edits(guarded.workspace, copies, session.clock())
        before_ns = time.time_ns()
        journaled = journal_edit(
            copies, guarded, caller, call.tool_and_id, call.announced, tells_end=call.tells_end
        )
        _explain_own_changes(session, copies, journaled.present, before_ns)


def _explain_own_changes(
    session: Session, copies: Copies, present: Mapping[str, str], before_ns: int
) -> None:
    """Explain changes, made since the last explanation, of files that the agent holds and now
    edits.

    A file that it has only just reserved counts as explained.
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
    """Return unmerged changes. If the settings refuse them, a holder is still the better reason to
    give."""
    name = session.actor()
    try:
        return require_merged(session.workspace, guarded, name, session.env)
    except Refused:
        if not find_blockers(session, guarded.scopes, guarded.worktree_root, name):
            raise
        return ()


def _copy_before_write(
    session: Session, guarded: GuardedPaths, verdict: EditVerdict, whole: Sequence[str]
) -> EditVerdict:
    """Copy what the edit overwrites, then check that the session has seen it. A new file needs
    neither."""
    root = guarded.worktree_root
    if not any(os.path.lexists(os.path.join(root, scope)) for scope in guarded.scopes):
        return verdict
    from moot.api.guard.copies import keep_copies

    keep_copies(session.clock(), guarded, guarded.scopes, f"before an edit by {verdict.agent}")
    has_session = session.tool_session is not None and bool(session.tool_session.keys)
    return _refuse_if_unseen(session, guarded, verdict, whole) if whole and has_session else verdict


def _refuse_if_unseen(
    session: Session, guarded: GuardedPaths, verdict: EditVerdict, whole: Sequence[str]
) -> EditVerdict:
    """Refuse to overwrite a version that the session has not seen."""
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
    """True if the session's agent is registered in that workspace too."""
    name = session.acting or session.known_actor()
    agent = session.workspace.engine.registry().agents.get(name or "")
    return agent is not None and session.workspace.keys.find(agent.name, agent.kid) is not None


def _check_outer_workspace(
    session: Session, guarded: GuardedPaths, inner: EditVerdict
) -> EditVerdict:
    """Refuse if a file is held in an outer workspace, where this agent is unknown and reserves
    nothing."""
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
    """Return the roots that other sessions use, if this session had to guess its own."""
    if session.home is None:
        return ()
    from moot.api.guard.guarded_paths import find_guarded_folder, root_was_guessed

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None or not root_was_guessed(guarded):
        return ()
    from moot.api.guard.guarded_paths import roots_in_use

    workspace = session.in_workspace(guarded.workspace).workspace
    return roots_in_use(read_presence(workspace))


def _check_and_reserve(
    session: Session, guarded: GuardedPaths, regions: Mapping[str, str] = {}
) -> EditVerdict:
    """Reserve the files; of those in `regions` only the lines that the agent edits."""
    from moot.protocols.presence import STREAM, model
    from moot.protocols.presence.machine import MACHINE as PRESENCE
    from moot.protocols.presence.machine import OVERLAP_CODES

    engine, name = session.workspace.engine, session.actor()
    state = engine.state(PRESENCE, STREAM)
    claimed = tuple(regions.get(scope, scope) for scope in guarded.scopes)
    scopes = (*claimed, *_names_held_by_others(session, state, guarded, name))
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
    """Release what exited agents hold. Reads nothing if no other agent holds a file."""
    others = [owner for owner in owners if owner != name]
    if not others:
        return {}
    from moot.api.presence.exited_agents import end_exited_holders

    return {holder.agent: holder for holder in end_exited_holders(session, others)}


def _names_held_by_others(
    session: Session, state: State, guarded: GuardedPaths, name: str
) -> tuple[str, ...]:
    """Return other names under which others hold these files; reserving those too is refused."""
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
    """Release our reservation if another agent got the same file, under another name, at the same
    time.

    Names are looked up on disk before the transaction, so two agents can both find their name free.
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
    refused = Refused("reservation_conflict", "another agent was faster", hint="try again")
    return _refuse_for_holders(session, guarded, late, name, refused)


def _refuse_for_holders(
    session: Session,
    guarded: GuardedPaths,
    scopes: tuple[str, ...],
    name: str,
    refused: Refused,
    gone: Mapping[str, ExitedHolder] = {},
) -> EditVerdict:
    """Describe the holders; if they released the files meanwhile, raise the original refusal."""
    from moot.protocols.presence.overlap import first_by_reservation

    conflicts = find_blockers(session, scopes, guarded.worktree_root, name)
    if not conflicts:
        raise refused
    state = read_presence(session.workspace)
    first = first_by_reservation(conflicts)
    holders = tuple(describe_holder(conflict, state, gone) for conflict in first)
    return EditVerdict(False, name, holders)
