"""What a killed program holds is in the way until it is stale. A person may end it sooner.

Agents are not told: they would end each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from moot.core.machine import KeyClass
from moot.presence import paths, shelf

if TYPE_CHECKING:
    from moot.surfaces.cli.here import Here


def freed_by(scopes: Iterable[str], here: Here) -> str:
    """What frees these scopes if their holder is dead; empty if nobody may be told."""
    names = _holders(scopes, here) if _person(here) else []
    if not names:
        return ""
    name = names[0] if len(names) == 1 else "HOLDER"
    alone = "env -u MOOT_AGENT " if here.shell.env.get("MOOT_AGENT") else ""
    return f"if its program is dead, `{alone}moot agent retire {name}` frees it"


def _person(here: Here) -> bool:
    """Someone at a terminal, or under a person's name."""
    known = here.space.engine.registry().agents.get(here.shell.acting or "")
    return here.shell.interactive() or (known is not None and known.kind is KeyClass.HUMAN)


def _holders(scopes: Iterable[str], here: Here) -> list[str]:
    """Agents in the way that can be ended from here and are under no live `moot run`."""
    from moot.keys.running import is_running

    folder, origin = here.space.folder, here.space.trust.origin
    agents, keys = here.space.engine.registry().agents, set(folder.names(origin))
    found = dict.fromkeys(
        held.owner
        for text in scopes
        for held in shelf.overlapping(here.state, paths.read_scope(text, str(here.worktree)).key)
    )
    return [
        name
        for name in found
        if name in keys
        and name != here.shell.acting
        and agents[name].kind is KeyClass.AGENT
        and not is_running(folder, origin, name)
    ]
