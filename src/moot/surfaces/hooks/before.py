"""Before an edit: check it and, if it is free, reserve it, in one transaction.

So agents that never reserve anything are protected too. Whoever else holds the file, alive or
not, stops the edit; taking over is an act of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from moot.surfaces.hooks import answers, stamps
from moot.surfaces.hooks.call import Call
from moot.surfaces.hooks.touched import shell_text, touched

if TYPE_CHECKING:
    from moot.core.errors import Refused
    from moot.engine.job import Outcome
    from moot.flows.guard.guarded_paths import Spot
    from moot.flows.guard.session_agent import Who
    from moot.protocols.presence.commands import Reserve
    from moot.protocols.presence.model import State
    from moot.workspace.workspace import Workspace


def before(call: Call, env: Mapping[str, str], home: Path | None) -> str:
    """The answer: nothing, or the reason why not."""
    if shell_text(call) is not None:
        stamps.begin(call, home)
    paths = touched(call)
    if not paths:
        return answers.ALLOW
    from moot.flows.guard.guarded_paths import spots_of
    from moot.flows.guard.roots import roots_around

    roots = roots_around(call.cwd, home, env)
    for spot in spots_of(paths, call.cwd, home, roots):
        reason = _held_back(spot, call, env)
        if reason:
            return answers.block(reason)
    return answers.ALLOW


def _held_back(spot: Spot, call: Call, env: Mapping[str, str]) -> str | None:
    from moot.core.errors import Refused
    from moot.flows.guard.hook_workspace import beat, opened
    from moot.flows.guard.off_limits import require_allowed
    from moot.flows.guard.session_agent import who_acts
    from moot.protocols.presence import STREAM, sorted_index
    from moot.protocols.presence.machine import OVERLAP_CODES

    require_allowed(spot.scopes, spot.root, spot.workspace)
    with opened(spot.workspace, env) as space:
        who = who_acts(space, call.session_key, env)
        state = space.engine.state(STREAM)
        command = _reserve(space, spot, _other_names(space, state, spot, who), env)
        try:
            outcome = space.engine.execute(STREAM, command, who.name)
        except Refused as refused:
            if refused.code not in OVERLAP_CODES:
                raise
            return _reason(space, command, who, refused, env)
        if outcome.recorded:
            between = outcome.state.fencing - state.fencing - len(_reserved(outcome))
            return _too_late(space, spot, who, outcome, env) if between else None
        member = sorted_index.find_member(outcome.state, who.name)
        beat(space, who.name, member.last_at if member is not None else 0)
    return None


def _other_names(space: Workspace, state: State, spot: Spot, who: Who) -> tuple[str, ...]:
    """Those under which others hold the same file: to ask for them too is to be refused."""
    from moot.flows.guard.aliases import twins
    from moot.flows.guard.roots import require_one_meaning

    agent, now = space.engine.registry().agents.get(who.name), space.engine.clock()
    holder = who.name, agent.epoch if agent is not None else 0
    require_one_meaning(state, spot, holder)
    found = twins(state, spot.scopes, spot.root)
    return tuple(one.key for one in found if not (one.is_held_by(*holder) or one.has_ended(now)))


def _too_late(
    space: Workspace, spot: Spot, who: Who, outcome: Outcome, env: Mapping[str, str]
) -> str | None:
    """Somebody was quicker by another name: what we got is given back."""
    from moot.core.errors import Refused
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.commands import Release

    late = _other_names(space, outcome.state, spot, who)
    if not late:
        return None
    ours = _reserved(outcome)
    if ours:
        root = str(spot.root)
        release = Release(scopes=ours, project_root=str(space.root), worktree=root)
        space.engine.execute(STREAM, release, who.name)
    freed = Refused("reservation_conflict", "another agent had it a moment ago", hint="try again")
    command = _reserve(space, spot._replace(scopes=()), late, env)
    return _reason(space, command, who, freed, env)


def _reserved(outcome: Outcome) -> tuple[str, ...]:
    from moot.protocols.presence.events import ScopeReserved

    events = (one.event for one in outcome.recorded)
    return tuple(event.scope for event in events if isinstance(event, ScopeReserved))


def _reserve(
    space: Workspace, spot: Spot, also: tuple[str, ...], env: Mapping[str, str]
) -> Reserve:
    from moot.flows.guard.guarded_paths import branch_of
    from moot.flows.guard.hook_workspace import stale_millis
    from moot.protocols.presence.commands import Reserve

    return Reserve(
        scopes=(*spot.scopes, *also),
        project_root=str(space.root),
        worktree=str(spot.root),
        branch=branch_of(spot.root),
        stale_millis=stale_millis(env),
        automatic=True,
        once=True,
    )


def _reason(
    space: Workspace, command: Reserve, who: Who, refused: Refused, env: Mapping[str, str]
) -> str:
    """Looked up once more for the details; if it was freed meanwhile, the refusal speaks."""
    from moot.flows.guard.blockers import in_the_way
    from moot.protocols.presence import STREAM
    from moot.surfaces.hooks import reasons

    root = Path(command.worktree)
    found = in_the_way(space, command.scopes, root, who.name, env)
    return (
        reasons.held(found, space.engine.state(STREAM), who) if found else reasons.failed(refused)
    )
