"""From where names are counted if neither git nor the workspace says it: a project without git
whose home was named and lies elsewhere.

Then the widest root counts that somebody at work there is known to count from, else the folder
one stands in. What is held from another root is found by where it lies (`twins`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from moot.core.errors import Refused

if TYPE_CHECKING:
    from moot.flows.guard.guarded_paths import Spot
    from moot.protocols.presence.model import State
    from moot.workspace.workspace import Workspace


def worktree_of(folder: Path, workspace: Workspace) -> Path:
    """The root of the worktree around `folder` that this workspace guards.

    A submodule is part of the project around it. Without git, and with the workspace elsewhere, it
    is the root that the hooks count from: two callers that guessed different roots would give one
    file two names, and both could reserve it.
    """
    from moot.flows.guard.guarded_paths import outermost, session_spot
    from moot.protocols.presence import STREAM
    from moot.workspace.find import worktree_root

    spot = session_spot(str(folder), None)
    if spot is not None and spot.workspace.samefile(workspace.path):
        return spot.root
    root = worktree_root(folder)
    if root is not None:
        return root
    known = roots_in_use(workspace.engine.state(STREAM))
    return outermost(str(folder), (*known, str(folder))) or folder


def roots_in_use(state: State) -> tuple[str, ...]:
    """The roots of all that is held, and of everyone who is here."""
    members = (one.worktree for one in state.members if not one.left)
    held = (one.worktree for one in state.live)
    return tuple(dict.fromkeys(root for root in (*members, *held) if root))


def roots_around(cwd: str, home: Path | None, env: Mapping[str, str]) -> tuple[str, ...]:
    """Those that a session must know; for every other one, nothing is opened or read."""
    from moot.flows.guard.guarded_paths import adrift, session_spot
    from moot.flows.guard.hook_workspace import opened
    from moot.protocols.presence import STREAM

    session = session_spot(cwd, home) if home is not None else None
    if session is None or not adrift(session):
        return ()
    with opened(session.workspace, env) as space:
        return roots_in_use(space.engine.state(STREAM))


def require_one_meaning(state: State, spot: Spot, holder: tuple[str, int]) -> None:
    """Refused if one's own reservation has this name from another root: it guards another file."""
    from moot.flows.guard.aliases import covers
    from moot.flows.guard.guarded_paths import adrift
    from moot.protocols.presence import sorted_index
    from moot.protocols.presence.paths import read_path

    if not adrift(spot):
        return
    for scope in spot.scopes:
        key = read_path(scope, str(spot.root)).key
        for held in (
            *sorted_index.reservations_above(state, key),
            *filter(None, (sorted_index.find_reservation(state, key),)),
        ):
            if held.is_held_by(*holder) and not covers(held, scope, spot.root):
                raise Refused(
                    "other_root",
                    f"you hold {held.scope} of {held.worktree}, and {scope} of {spot.root} is"
                    " another file",
                    hint=f"`moot release {quote(held.scope)}` first; without git, and with the"
                    " workspace elsewhere, stay in one folder",
                )
