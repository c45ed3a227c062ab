"""What a killed program holds is in the way until it is stale. A person may end it sooner.

Agents are not told: they would end each other. Only the agent's own key gives back what it holds;
where that is not, an ended name's scopes are taken over once it is stale.
"""

from __future__ import annotations

from collections.abc import Iterable
from shlex import join
from typing import TYPE_CHECKING, Final

from moot.core.clock import to_text
from moot.core.machine import KeyClass
from moot.protocols.presence import STREAM, paths, sorted_index, views

if TYPE_CHECKING:
    from moot.protocols.presence.model import State
    from moot.surfaces.cli.presence.here import Here
    from moot.surfaces.terminal.shell import Shell
    from moot.workspace.workspace import Workspace

MOST_NAMED: Final = 5


def freed_by(scopes: Iterable[str], here: Here) -> str:
    """What frees these scopes if their holder is dead; empty if nobody may be told."""
    names = _holders(scopes, here) if _person(here) else []
    if not names:
        return ""
    alone = "env -u MOOT_AGENT " if here.shell.env.get("MOOT_AGENT") else ""
    each = " && ".join(f"{alone}moot agent retire {name}" for name in names[:MOST_NAMED])
    dead = "its program is" if len(names) == 1 else "their programs are"
    return f"if {dead} dead, `{each}` frees it{_others(names)}"


def _others(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return f" from them; {more} more hold parts of it: `moot scope list`" if more > 0 else ""


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
        for held in sorted_index.overlapping_reservations(
            here.state, paths.read_scope(text, str(here.worktree)).key
        )
    )
    return [
        name
        for name in found
        if name in keys
        and name != here.shell.acting
        and agents[name].kind is KeyClass.AGENT
        and not is_running(folder, origin, name)
    ]


def still_held(space: Workspace, name: str) -> list[str]:
    """What a name that has ended could not give back."""
    state: State = space.engine.state(STREAM)
    now = space.engine.clock()
    return [
        one.scope for one in sorted_index.reservations_of(state, name) if not one.has_ended(now)
    ]


def stale_line(shell: Shell, name: str, scopes: list[str]) -> list[str]:
    """From when on, and how, others have what it still holds."""
    if not scopes:
        return []
    from moot.surfaces.cli.presence.here import Here

    here = Here(shell)
    at = views.observe_liveness(here.state, name, here.moment([name])).stale_at
    when = "now" if at is None or at <= here.now else f"from {to_text(at)} on"
    taken = f"moot reserve {join(scopes)} --takeover-stale"
    return [
        f"it still holds {', '.join(scopes)}: no key of its own gave that back",
        f"{when} `{taken}` takes it over",
    ]
