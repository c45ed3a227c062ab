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
    from moot.presence.commands import Reserve
    from moot.surfaces.hooks.actor import Who
    from moot.surfaces.hooks.place import Spot
    from moot.workspace.workspace import Workspace


def before(call: Call, env: Mapping[str, str], home: Path | None) -> str:
    """The answer: nothing, or the reason why not."""
    if shell_text(call) is not None:
        stamps.begin(call, home)
    paths = touched(call)
    if not paths:
        return answers.ALLOW
    from moot.surfaces.hooks.place import spots_of

    for spot in spots_of(paths, call.cwd, home):
        reason = _held_back(spot, call, env)
        if reason:
            return answers.block(reason)
    return answers.ALLOW


def _held_back(spot: Spot, call: Call, env: Mapping[str, str]) -> str | None:
    from moot.core.errors import Refused
    from moot.presence import STREAM, shelf
    from moot.presence.machine import OVERLAPS
    from moot.surfaces.hooks.actor import who_acts
    from moot.surfaces.hooks.space import beat, opened

    with opened(spot.workspace, env) as space:
        who = who_acts(space, call.session_key, env)
        command = _reserve(space, spot, env)
        try:
            outcome = space.engine.execute(STREAM, command, who.name)
        except Refused as refused:
            if refused.code not in OVERLAPS:
                raise
            return _reason(space, command, who, refused, env)
        if not outcome.recorded:
            member = shelf.member(outcome.state, who.name)
            beat(space, who.name, member.last_at if member is not None else 0)
    return None


def _reserve(space: Workspace, spot: Spot, env: Mapping[str, str]) -> Reserve:
    from moot.presence import STREAM
    from moot.presence.commands import Reserve
    from moot.surfaces.hooks.place import branch_of
    from moot.surfaces.hooks.space import stale_millis
    from moot.surfaces.hooks.twins import twins

    also = twins(space.engine.state(STREAM), spot.scopes, spot.root)
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
    from moot.presence import STREAM
    from moot.surfaces.hooks import reasons
    from moot.surfaces.hooks.look import in_the_way

    root = Path(command.worktree)
    found = in_the_way(space, command.scopes, root, who.name, env)
    return (
        reasons.held(found, space.engine.state(STREAM), who) if found else reasons.failed(refused)
    )
