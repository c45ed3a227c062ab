"""Whose are the files that a command would reach? Others' that they hold, a person's, or one's own.

Others' are held back and the attempt is on record; so are changes that the agent has not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from moot.api.guard.checks import MOST_NOTED, note_incursions
from moot.api.guard.commands import CommandVerdict, EndangeredFiles
from moot.api.guard.holders import describe_holder
from moot.core.quoted import Quoted
from moot.flows.guard.blockers import find_blockers
from moot.flows.guard.destruction import ReachedFiles
from moot.flows.guard.named_files import find_named
from moot.flows.guard.shell.act import Reach
from moot.flows.guard.unseen_changes import (
    Observer,
    SplitChanges,
    remember_told,
    split_changes,
)
from moot.protocols.presence import STREAM, sorted_index
from moot.protocols.presence.machine import MACHINE as PRESENCE

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.protocols.presence.model import State
    from moot.protocols.presence.overlap import OverlapConflict

SHOWN_FILES: Final = 10


def judge_reached(session: Session, reached: ReachedFiles) -> CommandVerdict:
    """May an act reach these files? An attempt on what others hold goes on record once."""
    name = session.known_actor()
    if reached.act.reach is Reach.HEAD:
        return _judge_moved_head(session, reached, name)
    conflicts = note_attempt(session, reached)
    state = session.workspace.engine.state(PRESENCE, STREAM)
    changes = _split(session, state, reached, name or "", conflicts)
    if not conflicts and not changes.unseen:
        return CommandVerdict(True, name)
    endangered = list(_by_holder(conflicts, state))
    if changes.unseen:
        endangered.append(_shown(changes.unseen))
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
    """May HEAD go elsewhere? Not while another agent is at work in the same worktree: what it
    commits next would be on a branch that it did not choose."""
    from moot.flows.presence.observation import observe
    from moot.flows.presence.run_evidence import GONE, look_at_run
    from moot.protocols.presence import views
    from moot.protocols.presence.liveness import format_ago
    from moot.protocols.presence.model import Liveness

    workspace, root = session.workspace, str(reached.guarded.worktree_root)
    state = workspace.engine.state(PRESENCE, STREAM)
    here = {member.name: member.epoch for member in state.members if member.worktree == root}
    here |= {held.owner: held.epoch for held in state.live if held.worktree == root}
    left = {member.name for member in state.members if member.left}
    others = sorted(here.keys() - left - {name})
    observation = observe(workspace, others, session.stale_millis)
    living: list[str] = []
    for other in others:
        verdict = views.observe_liveness(state, other, observation)
        evidence = look_at_run(workspace, other, here[other])
        is_gone = evidence is not None and evidence.state == GONE
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
    """What others hold of these files; that it was to be reached goes on record once."""
    if reached.act.reach is Reach.HEAD:
        return ()
    name = session.known_actor()
    state = session.workspace.engine.state(PRESENCE, STREAM)
    conflicts = tuple(_conflicts(session, state, reached, name))
    if conflicts and name is not None:
        keys = tuple(dict.fromkeys(conflict.held.key or "." for conflict in conflicts))
        root = reached.guarded.worktree_root
        note_incursions(session, keys[:MOST_NOTED], root, name, was_refused=True)
    return conflicts


def _conflicts(
    session: Session, state: State, reached: ReachedFiles, name: str | None
) -> Iterator[OverlapConflict]:
    """What others hold of it.

    Who works in another worktree has its own bytes there: those are not discarded here, nor are
    they removed with all of this one.
    """
    from moot.flows.guard.aliases import find_aliases

    if not state.live_by_key:
        return
    root = reached.guarded.worktree_root
    paths: Sequence[str] = reached.paths
    if reached.is_anywhere:
        paths = (".",)
    elif reached.named_ends:
        paths = _ending_so(state, reached.named_ends)
    elif reached.act.reach is Reach.NAMED:
        paths = find_named(reached, [(held.key, held.worktree) for held in state.live])
    elif reached.act.reach is Reach.WRITTEN:
        paths = (*paths, *(held.key for held in find_aliases(state, paths, root)))
    claims = [_as_scope(path) for path in paths]
    asking = root, name, session.stale_millis, session.sub_agent
    for conflict in find_blockers(session.workspace, claims, *asking):
        is_here = reached.is_anywhere or conflict.held.worktree in ("", str(root))
        is_vague = reached.act.reach is Reach.NAMED
        only_here = (
            is_vague or reached.is_discarded or reached.is_replaced or not conflict.claim.key
        )
        if (is_here or not only_here) and _is_called_so(conflict, reached):
            yield conflict


def _as_scope(path: str) -> str:
    """A file's name may hold what no scope can; whoever holds its folder holds it too."""
    scope = "".join(
        "_" if letter in "*?" or not letter.isprintable() else letter for letter in path
    )
    return scope.rstrip("/") or "."


def _ending_so(state: State, ends: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        held.key or "."
        for held in state.live
        if any(
            held.key == end or held.key.endswith(f"/{end}") or end.startswith(f"{held.key}/")
            for end in ends
        )
    )


def _is_called_so(conflict: OverlapConflict, reached: ReachedFiles) -> bool:
    """If only files of certain names are meant: is there one of them in what is held?"""
    patterns = reached.act.only_called
    if not patterns:
        return True
    from moot.flows.guard.called_files import holds_file_called

    deeper = max(conflict.claim.key, conflict.held.key, key=len)
    return holds_file_called(reached.guarded.worktree_root, deeper, patterns)


def _split(
    session: Session,
    state: State,
    reached: ReachedFiles,
    name: str,
    conflicts: Sequence[OverlapConflict],
) -> SplitChanges:
    """Of what is not held by others: what is the agent's own, what it has not seen."""
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
        remember_told(workspace, root, changes.changed_since, observer, now)
    return changes


def _holds(state: State, path: str, holder: tuple[str, int]) -> bool:
    same = sorted_index.find_reservation(state, path)
    around = (*sorted_index.reservations_above(state, path), *((same,) if same else ()))
    return any(held.is_held_by(*holder) for held in around)


def _by_holder(conflicts: Sequence[OverlapConflict], state: State) -> Iterator[EndangeredFiles]:
    """The files of each owner together, with the first reservation of it that is met."""
    by_owner: dict[str, list[OverlapConflict]] = {}
    for conflict in conflicts:
        by_owner.setdefault(conflict.held.owner, []).append(conflict)
    for owned in by_owner.values():
        files = dict.fromkeys(_file_of(conflict) for conflict in owned)
        yield _shown(tuple(files), owned[0], state)


def _file_of(conflict: OverlapConflict) -> str:
    """The deeper of what is claimed and what is held: the part that would be lost."""
    is_inside = len(conflict.held.key) > len(conflict.claim.key)
    return conflict.held.scope if is_inside else conflict.claim.shown


def _shown(
    files: Sequence[str], conflict: OverlapConflict | None = None, state: State | None = None
) -> EndangeredFiles:
    holder = None
    if conflict is not None and state is not None:
        holder = describe_holder(conflict, state)
    shown = tuple(Quoted(file) for file in files[:SHOWN_FILES])
    return EndangeredFiles(shown, len(files), holder)
