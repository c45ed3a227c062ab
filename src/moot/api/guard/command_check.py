"""Decide whether a shell command would destroy uncommitted work of other agents or of a person.

The text of the command is read, then git or the disk tells which files it would reach. Only if
there are such files, the ledger is opened to find their holders. Reading is never refused, and
files outside of a workspace are not checked.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.api.guard.checks import MOST_NOTED, note_incursions
from moot.api.guard.commands import CommandVerdict, EndangeredFiles
from moot.api.guard.destruction import ReachedFiles, find_reached, find_written
from moot.api.guard.files_by_name import contains_file_named, find_named
from moot.api.guard.guarded_paths import (
    GuardedPaths,
    find_guarded_folder,
    may_carry_hooks,
    require_no_missing_workspace,
)
from moot.api.guard.holders import describe_holder, file_of_region, find_blockers
from moot.api.guard.input_files import read_script_file
from moot.api.guard.shell.act import DestructiveAct, InputKind, Reach
from moot.api.guard.shell.acts import UNREAD, destructive_acts
from moot.api.guard.shell.script import Surroundings
from moot.api.guard.unsaved_work import (
    Observer,
    SplitChanges,
    keep_unsaved_work,
    note_changes_shown,
    split_changes,
)
from moot.api.session import read_presence
from moot.core.errors import Refused
from moot.core.text import Quoted
from moot.workspace.find import FOLDER

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.protocols.presence.model import State
    from moot.protocols.presence.overlap import OverlapConflict


# Acts that remove a folder with everything in it.
_REMOVING: Final = frozenset({"rm", "mv", "trash", "find -delete", "git worktree remove"})


def check_command(session: Session, text: str, folder: str) -> CommandVerdict:
    """Return whether this shell command may run. The first act that may not decides the verdict;
    attempts of later acts are recorded too."""
    here = folder or str(session.folder)
    guarded = find_guarded_folder(Path(here), session.home)
    root = "" if guarded is None else str(guarded.worktree_root)
    acts = tuple(_all_acts(text, Surroundings(here, root, session.env)))
    if guarded is None:
        _require_no_missing_workspace(session, acts)
    refused: CommandVerdict | None = None
    others: dict[str, GuardedPaths] = {}
    for act in acts:
        if act is UNREAD and guarded is not None:
            _require_unnamed(guarded, text)
        if guarded is not None:
            _require_hooks_unwritten(session, act, here, guarded, text)
        for reached in find_reached(act, Path(here), session.home):
            there = session.in_workspace(reached.guarded.workspace)
            if refused is not None:
                note_attempt(there, reached)
                continue
            _require_record_kept(reached)
            _require_hooks_unreached(session, reached)
            verdict = judge_reached(there, reached)
            refused = None if verdict.allowed else verdict
            others[str(reached.guarded.worktree_root)] = reached.guarded
    if refused is None:
        for other in (each for name, each in others.items() if name != root):
            keep_unsaved_work(session.clock, other, text)
    return refused or CommandVerdict(allowed=True)


def _require_no_missing_workspace(session: Session, acts: Iterable[DestructiveAct]) -> None:
    """Refuse a write (`workspace_gone`) where a workspace was and is missing, as for an edit.

    Acts that write nothing there are allowed, and so is restoring `.moot` itself.
    """
    written: list[str] = []
    for act in acts:
        if act.folder is None or act.reach in (Reach.NAMED, Reach.HEAD):
            continue
        files = [os.path.join(act.folder, word.text) for word in act.paths if word.is_known]
        taken = [word.text for word in act.copied]
        taken += act.read_from.members if act.read_from is not None else ()
        if not taken or not all(FOLDER in Path(each).parts for each in taken):
            written += files or [act.folder]
    require_no_missing_workspace(
        (file for file in written if FOLDER not in Path(file).parts), session.keys_path
    )


def _all_acts(text: str, around: Surroundings) -> Iterator[DestructiveAct]:
    """Yield the acts of the text and of the script files that it gives to a shell."""
    for act in destructive_acts(text, around):
        if act.read_from is None or act.read_from.kind is not InputKind.SCRIPT:
            yield act
            continue
        script = read_script_file(act.read_from)
        if script is not None:
            inside = around._replace(folder=act.folder or around.folder)
            yield from destructive_acts(script, inside, nested=1)


def _require_unnamed(guarded: GuardedPaths, text: str) -> None:
    """Refuse a command that is too long to read if it names the record or git's own files."""
    names = {guarded.workspace.name: "moot", ".git": "git"}
    for name, owner in names.items():
        if name in text:
            raise Refused(
                "not_for_agents",
                f"{UNREAD.name} names {name}, which only `{owner}` itself writes",
                hint="split it into several commands",
            )


def _require_hooks_unwritten(
    session: Session, act: DestructiveAct, here: str, guarded: GuardedPaths, text: str
) -> None:
    """Refuse an act that would write or remove a file with our hooks, also outside of this
    worktree: the user's own settings apply to all their projects. If the files of an act are
    unknown, every such file that the text names counts."""
    if act.reach is Reach.NAMED:
        from moot.api.hook_setup.guard_files import require_unnamed

        require_unnamed(act.name, text, guarded, session.env)
        return
    is_removing = act.name in _REMOVING and not act.only_called
    _require_out_of_reach(session, act.name, find_written(act, here), is_removing, guarded)


def _require_hooks_unreached(session: Session, reached: ReachedFiles) -> None:
    """Do the same for files that a patch, an archive or git would write or remove."""
    act, root = reached.act, reached.guarded.worktree_root
    if act.reach.is_commit:
        return
    for is_removing in (False, True):
        paths = [str(root / path) for path in reached.paths if path.endswith("/") is is_removing]
        _require_out_of_reach(session, act.name, paths, is_removing, reached.guarded)


def _require_out_of_reach(
    session: Session, act: str, paths: Iterable[str], is_removing: bool, guarded: GuardedPaths
) -> None:
    """Check only files that may contain hooks, and folders that would be removed."""
    meant = [each for each in paths if may_carry_hooks(each) or (is_removing and isdir(each))]
    if meant:
        from moot.api.hook_setup.guard_files import require_out_of_reach

        require_out_of_reach(act, meant, is_removing, guarded, session.env)


def _require_record_kept(reached: ReachedFiles) -> None:
    """Refuse an act that would overwrite or remove the record, or all of git's files."""
    guarded, act = reached.guarded, reached.act
    kept = {str(guarded.workspace): "moot"}
    if (guarded.worktree_root / ".git").is_dir():  # a file in a linked worktree, which may go
        kept[str(guarded.worktree_root / ".git")] = "git"
    for path in () if act.reach.is_commit else reached.paths:
        full = os.path.normpath(guarded.worktree_root / path)
        for each, owner in kept.items():
            is_inside = full.startswith(f"{each}/") and owner == "moot"
            is_around = each.startswith(f"{full}/") and act.name in _REMOVING
            if full == each or is_inside or (is_around and not act.only_called):
                raise Refused(
                    "not_for_agents",
                    f"{act.name} would reach {each}, which only `{owner}` itself writes",
                    hint="leave it out: `-e .moot` for git clean, else name the files you mean",
                )


SHOWN_FILES: Final = 10


def judge_reached(session: Session, reached: ReachedFiles) -> CommandVerdict:
    """Return whether an act may reach these files. An attempt on held files is recorded once."""
    name = session.known_actor()
    if reached.act.reach is Reach.HEAD:
        return _judge_moved_head(session, reached, name)
    conflicts = note_attempt(session, reached)
    state = read_presence(session.workspace)
    changes = _split(session, state, reached, name or "", conflicts)
    if not conflicts and not changes.unseen:
        return CommandVerdict(True, name)
    endangered = list(_group_by_owner(conflicts, state))
    if changes.unseen:
        endangered.append(_describe_endangered(changes.unseen))
    return CommandVerdict(
        allowed=False,
        agent=name,
        act=reached.act.name,
        endangered=tuple(endangered),
        is_understood=reached.act.is_understood and not reached.is_anywhere,
        is_commit=reached.act.reach.is_commit,
        is_hidden=reached.act.reach is Reach.HIDDEN,
        safer=str(reached.act.safer),
        own=tuple(Quoted(path) for path in changes.own[:SHOWN_FILES]),
        changed_since=bool(changes.changed_since) and not conflicts,
    )


def _judge_moved_head(session: Session, reached: ReachedFiles, name: str | None) -> CommandVerdict:
    """Refuse to move HEAD while another agent works in the same worktree: its next commit would be
    on a branch that it did not choose."""
    from moot.api.presence.exited_agents import EXITED, find_run_evidence
    from moot.api.presence.observation import observe
    from moot.protocols.presence import views
    from moot.protocols.presence.liveness import format_ago
    from moot.protocols.presence.model import Liveness

    workspace, root = session.workspace, str(reached.guarded.worktree_root)
    state = read_presence(session.workspace)
    here = {member.name: member.epoch for member in state.members if member.worktree == root}
    here |= {held.owner: held.epoch for held in state.live if held.worktree == root}
    left = {member.name for member in state.members if member.left}
    others = sorted(here.keys() - left - {name})
    observation = observe(workspace, others, session.stale_millis)
    living: list[str] = []
    for other in others:
        verdict = views.observe_liveness(state, other, observation)
        evidence = find_run_evidence(workspace, other, here[other])
        is_gone = evidence is not None and evidence.state == EXITED
        if verdict.liveness is Liveness.ACTIVE and not is_gone and verdict.last_seen_at is not None:
            ago = format_ago(verdict.now - verdict.last_seen_at)
            living.append(f"{other} (active, last seen {ago})")
    return CommandVerdict(
        allowed=not living,
        agent=name,
        act=reached.act.name,
        safer=str(reached.act.safer),
        also_here=tuple(living[:SHOWN_FILES]),
    )


def note_attempt(session: Session, reached: ReachedFiles) -> tuple[OverlapConflict, ...]:
    """Return what others hold of these files, and record the attempt once."""
    if reached.act.reach is Reach.HEAD:
        return ()
    name = session.known_actor()
    state = read_presence(session.workspace)
    conflicts = tuple(_conflicts(session, state, reached, name))
    if conflicts and name is not None:
        keys = tuple(dict.fromkeys(conflict.held.key or "." for conflict in conflicts))
        root = reached.guarded.worktree_root
        note_incursions(session, keys[:MOST_NOTED], root, name, was_refused=True)
    return conflicts


def _conflicts(
    session: Session, state: State, reached: ReachedFiles, name: str | None
) -> Iterator[OverlapConflict]:
    """Yield the reservations of others that the act would harm.

    An agent in another worktree has its own bytes there, so discarding files here does not harm it.
    """
    from moot.api.guard.aliases import find_aliases

    if not state.live_by_key:
        return
    root = reached.guarded.worktree_root
    paths: Sequence[str] = reached.paths
    if reached.is_anywhere:
        paths = (".",)
    elif reached.named_ends:
        paths = _held_keys_ending_in(state, reached.named_ends)
    elif reached.act.reach is Reach.NAMED:
        paths = find_named(
            reached, [(file_of_region(held.key), held.worktree) for held in state.live]
        )
    elif reached.act.reach is Reach.WRITTEN:
        paths = (*paths, *(held.key for held in find_aliases(state, paths, root)))
    claims = [_as_scope(path) for path in paths]
    for conflict in find_blockers(session, claims, root, name):
        is_held_in = reached.is_anywhere or conflict.held.worktree in ("", str(root))
        is_vague = reached.act.reach is Reach.NAMED
        only_here = (
            is_vague or reached.is_discarded or reached.is_replaced or not conflict.claim.key
        )
        if (is_held_in or not only_here) and _has_matching_name(conflict, reached):
            yield conflict


def _as_scope(path: str) -> str:
    """Replace characters that no scope may contain; a reservation of the folder still matches."""
    scope = "".join(
        "_" if letter in "*?" or not letter.isprintable() else letter for letter in path
    )
    return scope.rstrip("/") or "."


def _held_keys_ending_in(state: State, ends: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        key or "."
        for key in (file_of_region(held.key) for held in state.live)
        if any(key == end or key.endswith(f"/{end}") or end.startswith(f"{key}/") for end in ends)
    )


def _has_matching_name(conflict: OverlapConflict, reached: ReachedFiles) -> bool:
    """True if the act applies to all names, or if the held part contains a matching file."""
    patterns = reached.act.only_called
    if not patterns:
        return True
    deeper = max(conflict.claim.key, conflict.held.key, key=len)
    return contains_file_named(reached.guarded.worktree_root, deeper, patterns)


def _split(
    session: Session,
    state: State,
    reached: ReachedFiles,
    name: str,
    conflicts: Sequence[OverlapConflict],
) -> SplitChanges:
    """Separate the agent's own files from those it has not seen, among files that others do not
    hold."""
    if not (reached.is_discarded or reached.act.reach.is_commit):
        return SplitChanges((), ())
    agent = session.workspace.engine.registry().agents.get(name)
    epoch = agent.epoch if agent is not None else 0
    of_others = {conflict.claim.key for conflict in conflicts}
    paths = [path for path in reached.paths if _as_scope(path) not in of_others]
    held = frozenset(path for path in paths if _holds(state, path, (name, epoch)))
    workspace, root = reached.guarded.workspace, reached.guarded.worktree_root
    observer = Observer(name, session.tool_session_name, held)
    changes = split_changes(workspace, root, paths, observer)
    if reached.act.reach.is_commit or reached.act.also_ignored:
        return changes._replace(unseen=(), changed_since=())
    if changes.changed_since and not conflicts:
        now = session.workspace.engine.clock()
        note_changes_shown(workspace, root, changes.changed_since, observer, now)
    return changes


def _holds(state: State, path: str, holder: tuple[str, int]) -> bool:
    from moot.protocols.presence import model

    same = model.find_reservation(state, path)
    around = (*model.reservations_above(state, path), *((same,) if same else ()))
    return any(held.is_held_by(*holder) for held in around)


def _group_by_owner(
    conflicts: Sequence[OverlapConflict], state: State
) -> Iterator[EndangeredFiles]:
    """Yield the files of each owner, described by the owner's first reservation."""
    by_owner: dict[str, list[OverlapConflict]] = {}
    for conflict in conflicts:
        by_owner.setdefault(conflict.held.owner, []).append(conflict)
    for owned in by_owner.values():
        files = dict.fromkeys(_file_of(conflict) for conflict in owned)
        yield _describe_endangered(tuple(files), owned[0], state)


def _file_of(conflict: OverlapConflict) -> str:
    """Return the deeper of the claimed and the held path: the part that would be lost."""
    is_inside = len(conflict.held.key) > len(conflict.claim.key)
    return conflict.held.scope if is_inside else conflict.claim.shown


def _describe_endangered(
    files: Sequence[str], conflict: OverlapConflict | None = None, state: State | None = None
) -> EndangeredFiles:
    holder = None
    if conflict is not None and state is not None:
        holder = describe_holder(conflict, state)
    shown = tuple(Quoted(file) for file in files[:SHOWN_FILES])
    return EndangeredFiles(shown, len(files), holder)
