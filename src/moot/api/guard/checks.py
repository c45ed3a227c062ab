"""The guard: may this agent write there? Asked before every edit, and before a commit.

A coding tool's hook asks `before_edit`, and so can a program of one's own: what is free is
reserved in the same transaction, so that agents which never reserve anything are protected too.
Whoever else holds a file, alive or not, is in the way; taking over is an act of its own. What lies
in no workspace is nobody's business.

A hook runs before every edit of every agent, so each import counts: this module loads only what
the question at hand needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.core.quoted import Quoted, quote_optional
from moot.flows.guard.unmerged import UnmergedChange

if TYPE_CHECKING:
    from pathlib import Path

    from moot.api.session import Session
    from moot.core.clock import Millis
    from moot.core.errors import Refused
    from moot.core.findings import Finding
    from moot.engine.job import JobOutcome
    from moot.flows.guard.guarded_paths import GuardedPaths
    from moot.protocols.presence.commands import Reserve
    from moot.protocols.presence.liveness import LivenessVerdict
    from moot.protocols.presence.model import State
    from moot.protocols.presence.overlap import OverlapConflict
    from moot.workspace.workspace import Workspace

BEAT_EVERY: Final[Millis] = 60_000
MOST_NOTED: Final = 200


class HeldPath(msgspec.Struct, frozen=True, rename={"overlap": "class"}):
    """A path that another agent holds, as `scope`: exactly (`overlap` exact) or partly (partial).

    `message` says all of it in one sentence. `holder` is the owner, or the alias of its sub-agent.
    """

    path: Quoted
    scope: Quoted
    overlap: str
    owner: str
    liveness: str
    last_seen_at: str | None
    work: Quoted | None
    since: str
    automatic: bool
    message: Quoted
    holder: str


class GuardCheck(msgspec.Struct, frozen=True):
    """`paths` are the scopes that were asked about: all names that the files have here."""

    allowed: bool
    agent: str | None
    paths: list[str]
    held: list[HeldPath]


class Holder(msgspec.Struct, frozen=True):
    """Who stands in the way of an edit of `path`, how alive they are, on what they work.

    `seen` says when they were last seen, or why that is not known. `is_wider`: they hold another
    scope than the path itself. `work` is what they hold it for, else what they work on at all.
    `holder` is the owner, or the alias of the owner's sub-agent that works there; `own_session`: it
    is one of the very session that asks.
    """

    path: Quoted
    scope: Quoted
    is_wider: bool
    owner: str
    liveness: str
    seen: str
    work: Quoted | None
    branch: Quoted | None
    since: str
    holder: str
    own_session: bool = False


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


class EndangeredFiles(msgspec.Struct, frozen=True):
    """Files of one owner that a command would destroy, the first few of `count`.

    `holder` is None if nobody holds them: they are a person's, or nobody knows whose.
    """

    files: tuple[Quoted, ...]
    count: int
    holder: Holder | None = None


class CommandVerdict(msgspec.Struct, frozen=True):
    """May a shell command run? If not: what in it (`act`) would destroy which files of whom.

    `is_understood` False: it is only known that it names them. `is_commit`: they would not be
    destroyed, but committed. `safer` is how a command begins that reaches the agent's `own` files
    alone. `changed_since`: what the agent holds itself was changed by somebody else since; this is
    said once.
    """

    allowed: bool
    agent: str | None = None
    act: str = ""
    endangered: tuple[EndangeredFiles, ...] = ()
    is_understood: bool = True
    is_commit: bool = False
    safer: str = ""
    own: tuple[Quoted, ...] = ()
    changed_since: bool = False


class CommitVerdict(msgspec.Struct, frozen=True):
    """What is staged and held by others. `agent` is None for a person, who may commit it.

    `is_too_late`: it has happened already, and git asks nobody.
    """

    agent: str | None = None
    held: tuple[HeldPath, ...] = ()
    is_too_late: bool = False


@operation("guard.check")
def check(session: Session, paths: Sequence[str], *, agent: str | None = None) -> GuardCheck:
    """May an agent write to these paths? Writes nothing, reserves nothing.

    Paths are relative to the root of the worktree, like all scopes, or absolute; a named resource
    (`port:3000`) is none and may be asked about too. Refused as
    `named_from_the_root` if one may mean another file in the session's folder, as `scope_outside`
    if it is not of this project. `agent` is who would write (default: whoever acts); if nobody is
    named, everyone who holds something there stands in the way.
    """
    from moot.api.guard.asked_paths import misnamed, read_asked_paths
    from moot.flows.guard.off_limits import require_allowed

    name, place = agent or session.acting, session.place
    asked = read_asked_paths(paths, session)
    scopes = list(dict.fromkeys(scope for each in asked for scope in each.names))
    require_allowed(_files_among(scopes), place.worktree, session.workspace.path)
    conflicts = _conflicts_of_all_names(session, scopes, name)
    for each in asked if not conflicts else ():
        for conflict in _conflicts_of_all_names(session, each.beside, name):
            if each.is_met_by(conflict.held.key):
                why = f"where it is free; beside you {conflict.sentence}"
                raise misnamed(each, why, place)
    held = [_held_path(conflict) for conflict in conflicts]
    return GuardCheck(not held, name, scopes, held)


def _conflicts_of_all_names(
    session: Session, scopes: Sequence[str], name: str | None
) -> tuple[OverlapConflict, ...]:
    """Whoever holds one of the scopes, or the same file under another name."""
    from moot.flows.guard.aliases import find_aliases
    from moot.flows.guard.blockers import find_blockers
    from moot.flows.guard.hard_links import names_in_held_folders
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.machine import MACHINE as PRESENCE
    from moot.protocols.presence.paths import read_path_or_resource as read

    workspace, root = session.workspace, session.place.worktree
    state, files = workspace.engine.state(PRESENCE, STREAM), _files_among(scopes)
    others = tuple(held for held in state.live if held.owner != name)
    links = names_in_held_folders(files, root, others)
    names = (*scopes, *(held.key for held in find_aliases(state, files, root)), *links)
    return find_blockers(
        workspace, names, root, name, session.stale_millis, session.sub_agent, read
    )


def _files_among(scopes: Sequence[str]) -> list[str]:
    """Without named resources: nothing on the disk is one."""
    from moot.protocols.presence.resources import is_resource

    return [scope for scope in scopes if not is_resource(scope)]


def _held_path(conflict: OverlapConflict) -> HeldPath:
    from moot.core.clock import to_text

    held, verdict = conflict.held, conflict.verdict
    seen = verdict.last_seen_at
    return HeldPath(
        path=Quoted(conflict.claim.shown),
        scope=Quoted(held.scope),
        overlap=str(conflict.kind),
        owner=held.owner,
        liveness=str(verdict.liveness),
        last_seen_at=None if seen is None else to_text(seen),
        work=quote_optional(held.work),
        since=to_text(held.since),
        automatic=held.automatic,
        message=Quoted(conflict.sentence),
        holder=held.holder,
    )


@operation("hook.before_edit", writes=True)
def before_edit(
    session: Session,
    paths: Sequence[str],
    *,
    whole: Sequence[str] = (),
    call_id: str = "",
    tells_unmerged: bool = True,
) -> EditVerdict:
    """May the session's agent write these files (absolute paths)? What is free is reserved for it.

    `whole` are those that it overwrites whatever is in them: if another changed one after the
    session last saw it, that is held back once, for the session to read it again.

    All or none of a workspace: one file that another agent holds, under whatever name, stops all,
    and the attempt is on record once as an INCURSION. Refused as `not_for_agents` for files that
    belong to git or Moot alone, as `other_root` if the agent holds another file under this name,
    as `actor_required` if nobody knows who acts, as `copy_failed` if there is no room for a copy of
    what stands there. Asking again for what one holds changes nothing, so a repeat needs no key.

    Changes of the files on another worktree, or on a branch that agents here worked on, which are
    not merged here are given with the verdict, once for each session and version, if
    `tells_unmerged`; where `moot.toml` says so they refuse the edit (`unmerged_changes`).
    `call_id` is what the tool calls this edit; `after_call` is told the same.
    """
    from moot.flows.guard.guarded_paths import find_guarded_paths
    from moot.flows.guard.off_limits import require_allowed
    from moot.flows.guard.unmerged import select_untold

    verdict = EditVerdict(allowed=True)
    unmerged: tuple[UnmergedChange, ...] = ()
    roots, unguarded = _roots_of_others(session), list[str]()
    all_guarded = find_guarded_paths(paths, session.folder, session.home, roots, unguarded)
    if unguarded:
        from moot.flows.guard.gone_workspaces import require_none_gone

        require_none_gone(unguarded, session.keys_path)
    for guarded in all_guarded:
        require_allowed(guarded.scopes, guarded.worktree_root, guarded.workspace)
        there = session.in_workspace(guarded.workspace)
        if guarded.is_outer and not _has_key_in(there):
            verdict = _look_into_outer(there, guarded, verdict)
            if not verdict.allowed:
                break
            continue
        changes = _require_merged(there, guarded)
        verdict = _check_and_reserve(there, guarded)
        if verdict.allowed:
            verdict = _look_before_write(there, guarded, verdict, whole)
        if not verdict.allowed:
            break
        if tells_unmerged:
            reader = there.tool_session_name, there.actor()
            unmerged += select_untold(changes, guarded, reader)
        if guarded.is_watched:
            _note_call(session, guarded, call_id, paths=tuple(paths))
    return msgspec.structs.replace(verdict, unmerged=unmerged) if unmerged else verdict


def _note_call(
    session: Session,
    guarded: GuardedPaths,
    call_id: str,
    *,
    folder: str = "",
    paths: tuple[str, ...] = (),
) -> None:
    """Say that a call begins: the files that an edit names, or where a command runs."""
    from moot.flows.guard.call_notes import CallNote, note_beginning

    calling = session.tool_session_name, session.acting or "", call_id
    note_beginning(guarded.workspace, *calling, CallNote(folder, paths))


def _require_merged(session: Session, guarded: GuardedPaths) -> tuple[UnmergedChange, ...]:
    """What is not merged; refused if the settings say so, unless a holder is the greater reason."""
    from moot.core.errors import Refused
    from moot.flows.guard.unmerged import require_merged

    workspace, name = session.workspace, session.actor()
    try:
        return require_merged(workspace, guarded, name, session.env)
    except Refused:
        from moot.flows.guard.blockers import find_blockers

        root, stale = guarded.worktree_root, session.stale_millis
        if not find_blockers(workspace, guarded.scopes, root, name, stale, session.sub_agent):
            raise
        return ()


def _look_before_write(
    session: Session, guarded: GuardedPaths, verdict: EditVerdict, whole: Sequence[str]
) -> EditVerdict:
    """Keep a copy of what is about to be overwritten, unless one was made when it was left.

    Where no file is yet, nothing can be lost and nothing was overlooked.
    """
    import os

    root = guarded.worktree_root
    if not any(os.path.lexists(os.path.join(root, scope)) for scope in guarded.scopes):
        return verdict
    from moot.flows.guard.copies import keep_copies

    keep_copies(session, guarded, guarded.scopes, f"before an edit by {verdict.agent}")
    has_session = session.tool_session is not None and bool(session.tool_session.keys)
    return _hold_if_unseen(session, guarded, verdict, whole) if whole and has_session else verdict


def _hold_if_unseen(
    session: Session, guarded: GuardedPaths, verdict: EditVerdict, whole: Sequence[str]
) -> EditVerdict:
    import os

    from moot.core.clock import to_text
    from moot.flows.guard.copies import Copies, Editor
    from moot.flows.guard.stale_reads import find_unseen

    root = guarded.worktree_root
    files = {name for path in whole for name in (os.path.normpath(path), os.path.realpath(path))}
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


def _look_into_outer(session: Session, guarded: GuardedPaths, inner: EditVerdict) -> EditVerdict:
    """An agent that is nobody there can reserve nothing; what is held there it leaves alone."""
    from moot.flows.guard.blockers import find_blockers
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.machine import MACHINE as PRESENCE
    from moot.protocols.presence.overlap import first_by_reservation

    workspace, root = session.workspace, guarded.worktree_root
    conflicts = find_blockers(workspace, guarded.scopes, root, None, session.stale_millis)
    if not conflicts:
        return inner
    state = workspace.engine.state(PRESENCE, STREAM)
    holders = tuple(
        describe_holder(conflict, state) for conflict in first_by_reservation(conflicts)
    )
    return EditVerdict(False, inner.agent, holders)


def _roots_of_others(session: Session) -> tuple[str, ...]:
    """From where others count, for a session whose own root is a guess; else nothing is read."""
    if session.home is None:
        return ()
    from moot.flows.guard.guarded_paths import find_guarded_folder, root_was_guessed

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None or not root_was_guessed(guarded):
        return ()
    from moot.flows.guard.roots import roots_in_use
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.machine import MACHINE as PRESENCE

    workspace = session.in_workspace(guarded.workspace).workspace
    return roots_in_use(workspace.engine.state(PRESENCE, STREAM))


def _check_and_reserve(session: Session, guarded: GuardedPaths) -> EditVerdict:
    from moot.core.errors import Refused
    from moot.protocols.presence import STREAM, sorted_index
    from moot.protocols.presence.machine import MACHINE as PRESENCE
    from moot.protocols.presence.machine import OVERLAP_CODES

    engine, name = session.workspace.engine, session.actor()
    state = engine.state(PRESENCE, STREAM)
    scopes = (*guarded.scopes, *_names_held_by_others(session, state, guarded, name))
    try:
        outcome = engine.execute(STREAM, _reserve_command(session, guarded, scopes), name)
    except Refused as refused:
        if refused.code not in OVERLAP_CODES:
            raise
        return _held_back(session, guarded, scopes, name, refused)
    after = PRESENCE.require_state(outcome.state)
    if outcome.recorded:
        between = after.fencing - state.fencing - len(_reserved_scopes(outcome))
        if between:
            return _give_back_if_late(session, guarded, name, outcome)
    else:
        member = sorted_index.find_member(after, name)
        beat_if_due(session.workspace, name, member.last_at if member is not None else 0)
    return EditVerdict(True, name)


def _names_held_by_others(
    session: Session, state: State, guarded: GuardedPaths, name: str
) -> tuple[str, ...]:
    """Other names under which others hold the same file: to ask for them too is to be refused."""
    from moot.flows.guard.aliases import find_aliases
    from moot.flows.guard.guarded_paths import root_was_guessed
    from moot.flows.guard.hard_links import names_in_held_folders
    from moot.flows.guard.requesters import requester_of
    from moot.protocols.presence.overlap import is_in_the_way

    stale_millis, sub_agent = session.stale_millis, session.sub_agent
    requester = requester_of(session.workspace, state, name, stale_millis, sub_agent)
    if root_was_guessed(guarded):
        from moot.flows.guard.roots import require_one_meaning

        require_one_meaning(state, guarded, (requester.name, requester.epoch))
    scopes, root = guarded.scopes, guarded.worktree_root
    aliases = find_aliases(state, scopes, root)
    names = (held.key for held in aliases if is_in_the_way(state, held, requester))
    others = (held for held in state.live if is_in_the_way(state, held, requester))
    return (*names, *names_in_held_folders(scopes, root, others))


def _reserve_command(session: Session, guarded: GuardedPaths, scopes: tuple[str, ...]) -> Reserve:
    from moot.flows.guard.guarded_paths import branch_of
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


def _give_back_if_late(
    session: Session, guarded: GuardedPaths, name: str, outcome: JobOutcome
) -> EditVerdict:
    """Others wrote between our look at the disk and our reservation.

    If one of them got the same file under another name, what we got is given back.
    """
    from moot.core.errors import Refused
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
    return _held_back(session, guarded, late, name, refused)


def _held_back(
    session: Session, guarded: GuardedPaths, scopes: tuple[str, ...], name: str, refused: Refused
) -> EditVerdict:
    """Looked up once more for the details; if it was freed meanwhile, the refusal stands."""
    from moot.flows.guard.blockers import find_blockers
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.machine import MACHINE as PRESENCE
    from moot.protocols.presence.overlap import first_by_reservation

    workspace = session.workspace
    root, stale_millis = guarded.worktree_root, session.stale_millis
    conflicts = find_blockers(workspace, scopes, root, name, stale_millis, session.sub_agent)
    if not conflicts:
        raise refused
    state = workspace.engine.state(PRESENCE, STREAM)
    first = first_by_reservation(conflicts)
    return EditVerdict(False, name, tuple(describe_holder(conflict, state) for conflict in first))


def describe_holder(conflict: OverlapConflict, state: State) -> Holder:
    """Who holds it, how alive they are and on what they work."""
    from moot.core.clock import to_text
    from moot.protocols.presence import sorted_index

    held, verdict = conflict.held, conflict.verdict
    member = sorted_index.find_member(state, held.owner)
    return Holder(
        path=Quoted(conflict.claim.shown),
        scope=Quoted(held.scope),
        is_wider=held.key != conflict.claim.key,
        owner=held.owner,
        liveness=str(verdict.liveness),
        seen=_last_seen(verdict),
        work=quote_optional(held.work or (member.work if member is not None else None)),
        branch=quote_optional(held.branch),
        since=to_text(held.since),
        holder=held.holder,
        own_session=conflict.own_session,
    )


def _last_seen(verdict: LivenessVerdict) -> str:
    from moot.protocols.presence.liveness import format_ago

    if verdict.reason or verdict.last_seen_at is None:
        return verdict.because
    return f"last seen {format_ago(verdict.now - verdict.last_seen_at)}"


@operation("hook.before_command", writes=True)
def before_command(
    session: Session, call_id: str = "", command: str = "", folder: str = ""
) -> CommandVerdict:
    """May this shell command run, or would it destroy others' work that git does not have?

    `command` is its text, `folder` where it runs. Held back is what would throw away, write over,
    remove or commit files of others, or a person's edits that the agent has not seen; the attempt
    on what others hold is on record once as an INCURSION. Refused as `not_for_agents` if it would
    reach the record itself, or all of git's own files. Before anything that does more than read, a
    copy is kept of all work in the worktree that git lacks; `copy_failed` if there is no room. When
    it begins is remembered under `call_id`, which `after_call` is told too. A repeat changes
    nothing, so it needs no key.
    """
    from contextlib import suppress

    from moot.core.errors import MootError
    from moot.flows.guard.command_stamps import stamp_beginning
    from moot.flows.guard.guarded_paths import find_guarded_folder
    from moot.flows.guard.shell.first_look import may_destroy, only_reads

    verdict = CommandVerdict(allowed=True)
    if command and may_destroy(command):
        from moot.api.guard.command_check import check_command

        verdict = check_command(session, command, folder)
    if verdict.allowed and command and not only_reads(command):
        _keep_unsaved(session, command, folder)
    with suppress(MootError):
        guarded = find_guarded_folder(session.folder, session.home) if verdict.allowed else None
        if guarded is not None:
            stamp_beginning(guarded.workspace, session.tool_session_name, call_id)
            if guarded.is_watched:
                _note_call(session, guarded, call_id, folder=str(session.folder))
    return verdict


def _keep_unsaved(session: Session, command: str, folder: str) -> None:
    """Where a workspace cannot be found, nothing is guarded either."""
    from pathlib import Path

    from moot.core.errors import MootError
    from moot.flows.guard.guarded_paths import find_guarded_folder

    try:
        guarded = find_guarded_folder(Path(folder or session.folder), session.home)
    except MootError:
        return
    if guarded is not None:
        from moot.flows.guard.unsaved_work import keep_unsaved_work

        keep_unsaved_work(session, guarded, command)


@operation("hook.before_commit", writes=True)
def before_commit(
    session: Session, hook: str = "pre-commit", arguments: Sequence[str] = ()
) -> CommitVerdict:
    """What is about to be committed in the session's worktree, and held by others than who acts.

    `hook` is the git hook that asks, with its arguments: a merge, cherry-pick, revert or rebase is
    looked at too. An agent that would commit it is on record once for each holder, as an INCURSION;
    whether it is stopped is for the caller. Refused only if it cannot be checked (`git_failed`).
    """
    from moot.flows.guard.guarded_paths import find_guarded_folder
    from moot.flows.guard.staged_files import TOO_LATE, files_to_change

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        from moot.flows.guard.gone_workspaces import require_none_gone

        require_none_gone((session.folder,), session.keys_path)
        return CommitVerdict()
    paths = files_to_change(guarded.worktree_root, hook, arguments)
    if not paths:
        return CommitVerdict()
    from moot.flows.guard.blockers import find_blockers

    there, root = session.in_workspace(guarded.workspace), guarded.worktree_root
    name = there.known_actor()
    stale_millis, sub_agent = session.stale_millis, session.sub_agent
    conflicts = find_blockers(there.workspace, paths, root, name, stale_millis, sub_agent)
    if conflicts and name is not None:
        touched = dict.fromkeys(conflict.claim.key for conflict in conflicts)
        note_incursions(there, tuple(touched)[:MOST_NOTED], root, name)
    held = tuple(_held_path(conflict) for conflict in conflicts)
    return CommitVerdict(name, held, is_too_late=hook in TOO_LATE)


def may_be_guarded(session: Session) -> bool:
    """True if a workspace guards the session's folder, or did, or if that cannot be told."""
    from moot.core.errors import MootError
    from moot.flows.guard.gone_workspaces import require_none_gone
    from moot.flows.guard.guarded_paths import find_guarded_folder

    try:
        if find_guarded_folder(session.folder, session.home) is not None:
            return True
        require_none_gone((session.folder,), session.keys_path)
    except MootError:
        return True
    return False


def note_incursions(
    session: Session,
    paths: tuple[str, ...],
    root: Path,
    name: str,
    blobs: tuple[str, str] | None = None,
) -> tuple[Finding, ...]:
    """Record that `name` touched what others hold; once for each agent and reservation.

    If the change itself was seen, `blobs` are git's ids of the one file before and after, and it is
    on record each time. Given back is what is new on record.
    """
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.commands import NoteIncursion

    command = NoteIncursion(
        paths=paths,
        project_root=str(session.workspace.root),
        worktree=str(root),
        stale_millis=session.stale_millis,
        sub_agent=session.sub_agent,
        sub_agent_kind=session.sub_agent_kind,
        once=blobs is None,
        blob_before=None if blobs is None else blobs[0],
        blob_after=None if blobs is None else blobs[1],
    )
    outcome = session.workspace.engine.execute(STREAM, command, name)
    return outcome.findings if outcome.recorded else ()


def beat_if_due(workspace: Workspace, name: str, acted_at: Millis = 0) -> None:
    """A sign of life, if the last one is a while ago; `acted_at` is when it last wrote an event."""
    now = workspace.engine.clock()
    with workspace.store.read() as view:
        last = view.heartbeat(name)
    if now - max(acted_at, last.at if last is not None else 0) >= BEAT_EVERY:
        workspace.engine.beat(name)
