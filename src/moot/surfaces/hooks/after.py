"""After a tool call: note what slipped past the guard, hand over what waits, record what was seen.

Nothing can be stopped any more. An INCURSION is on record once for each agent and reservation.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from moot.flows.guard.guarded_paths import Spot, session_spot, spots_of
from moot.flows.tools.coding_tools import Moment
from moot.surfaces.hooks import answers
from moot.surfaces.hooks.call import Call
from moot.surfaces.hooks.touched import shell_text

if TYPE_CHECKING:
    from moot.flows.guard.session_agent import Who
    from moot.protocols.presence.model import State
    from moot.workspace.workspace import Workspace


def after(call: Call, env: Mapping[str, str], home: Path | None) -> str:
    from moot.flows.guard.hook_workspace import beat, opened
    from moot.flows.guard.session_agent import who_acts
    from moot.surfaces.hooks import stamps
    from moot.surfaces.hooks.observing import observe
    from moot.surfaces.hooks.waiting import waiting_line

    spot = session_spot(call.cwd, home)
    if spot is None:
        return answers.ALLOW
    with opened(spot.workspace, env) as space:
        who = who_acts(space, call.session_key, env)
        began = None if shell_text(call) is None else stamps.ended(spot.workspace, call)
        slipped = _slipped(space, call, spot, who, home, began)
        said = [_note(space, slipped, spot, who, env), waiting_line(space, who)]
        beat(space, who.name, 0)
        observe(space, call, spot, who.name, began, home)
    text = "\n".join(line for line in said if line)
    return answers.context(call.tool, Moment.AFTER, text)


def _note(
    space: Workspace, paths: tuple[str, ...], spot: Spot, who: Who, env: Mapping[str, str]
) -> str | None:
    """Record what slipped past; the agent that did it is told."""
    from moot.flows.guard.hook_workspace import stale_millis
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.commands import NoteIncursion

    if not paths:
        return None
    noted = NoteIncursion(
        paths=paths,
        project_root=str(space.root),
        worktree=str(spot.root),
        stale_millis=stale_millis(env),
    )
    outcome = space.engine.execute(STREAM, noted, who.name)
    if not outcome.recorded:
        return None
    told = "; ".join(finding.message for finding in outcome.findings[:3])
    return f"moot: this changed what others hold, and that is on record: {told}. Tell the holder."


def _slipped(
    space: Workspace, call: Call, spot: Spot, who: Who, home: Path | None, began: int | None
) -> tuple[str, ...]:
    """Edits were checked beforehand; should one have come through all the same, it counts too."""
    from moot.flows.guard import incursions as slipped
    from moot.protocols.presence import STREAM
    from moot.surfaces.hooks.touched import shell_folder, touched

    text = shell_text(call)
    state: State = space.engine.state(STREAM)
    agent = space.engine.registry().agents.get(who.name)
    epoch = agent.epoch if agent is not None else 0
    others = tuple(one for one in state.live if not one.is_held_by(who.name, epoch))
    if text is not None:
        command = slipped.Command(text, shell_folder(call), began)
        return slipped.slipped_past(command, spot.root, others)
    same = (one for one in spots_of(touched(call), call.cwd, home) if one.root == spot.root)
    return slipped.held(tuple(scope for one in same for scope in one.scopes), others)
