"""From where names are counted if neither git nor the workspace says it: a project without git
whose home was named and lies elsewhere.

Then the widest root counts that somebody at work there is known to count from, else the folder
one stands in. What is held from another root is found by where it lies (`find_aliases`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.errors import Refused
from moot.core.quoted import quote_name, shell_word

if TYPE_CHECKING:
    from moot.flows.guard.guarded_paths import GuardedPaths
    from moot.protocols.presence.model import State
    from moot.workspace.workspace import Workspace


def worktree_of(folder: Path, workspace: Workspace) -> Path:
    """The root of the worktree around `folder` that this workspace guards.

    A submodule is part of the project around it. Without git, and with the workspace elsewhere, it
    is the root that the hooks count from: two callers that guessed different roots would give one
    file two names, and both could reserve it.
    """
    from moot.flows.guard.guarded_paths import find_guarded_folder, widest_root_around
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.machine import MACHINE as PRESENCE
    from moot.workspace.find import worktree_root

    guarded = find_guarded_folder(folder, None)
    if guarded is not None and guarded.workspace.samefile(workspace.path):
        return guarded.worktree_root
    root = worktree_root(folder)
    if root is not None:
        return root
    known = roots_in_use(workspace.engine.state(PRESENCE, STREAM))
    return widest_root_around(str(folder), (*known, str(folder))) or folder


def roots_in_use(state: State) -> tuple[str, ...]:
    """The roots of all that is held, and of everyone who is here."""
    return tuple(sorted(state.worktrees))


def require_one_meaning(state: State, guarded: GuardedPaths, holder: tuple[str, int]) -> None:
    """Refused if one's own reservation has this name from another root: it guards another file."""
    from moot.flows.guard.aliases import covers_file
    from moot.flows.guard.guarded_paths import root_was_guessed
    from moot.protocols.presence import sorted_index
    from moot.protocols.presence.paths import read_path, write_typed

    root = guarded.worktree_root
    if not root_was_guessed(guarded):
        return
    for scope in guarded.scopes:
        key = read_path(scope, str(root)).key
        for held in (
            *sorted_index.reservations_above(state, key),
            *filter(None, (sorted_index.find_reservation(state, key),)),
        ):
            if held.is_held_by(*holder) and not covers_file(held, scope, root):
                release = f"moot release {shell_word(write_typed(held.scope))}"
                raise Refused(
                    "other_root",
                    f"you hold {quote_name(held.scope)} of {quote_name(held.worktree)}, and"
                    f" {quote_name(scope)} of {quote_name(str(root))} is"
                    " another file",
                    hint=f"`{release}` first; without git, and with the workspace elsewhere, stay"
                    " in one folder",
                )
