"""Who stands in the way of writing some files? One look, which records nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from moot.core.errors import NotFound
from moot.flows.presence.observation import observe
from moot.protocols.presence import STREAM, overlap, sub_agents, views
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.presence.overlap import OverlapConflict
from moot.protocols.presence.paths import Scope, read_path

if TYPE_CHECKING:
    from moot.core.clock import Millis
    from moot.workspace.workspace import Workspace


def find_blockers(
    workspace: Workspace,
    paths: Iterable[str],
    root: Path,
    name: str | None,
    stale_millis: Millis | None,
    sub_agent: str | UnsetType = UNSET,
    read: Callable[[str, str], Scope] = read_path,
) -> tuple[OverlapConflict, ...]:
    """Reservations of others than `name` that overlap `paths`, which are relative to `root`.

    If nobody is named, everyone who holds something there stands in the way. `sub_agent` says who
    of the session of `name` asks: then its siblings at work stand in the way too. `read` reads a
    path: usually the name of a real file.
    """
    claims = [read(path, str(root)) for path in paths]
    state = workspace.engine.state(PRESENCE, STREAM)
    observation = observe(workspace, overlap.find_owners(state, claims), stale_millis)
    holder = _holder(workspace, name)
    alias = sub_agents.read_alias(state, *holder, sub_agent)
    return views.find_blockers(state, claims, holder, observation, alias)


def _holder(workspace: Workspace, name: str | None) -> tuple[str, int]:
    if name is None:
        return "", 0
    agent = workspace.engine.registry().agents.get(name)
    if agent is None:
        raise NotFound(
            "agent_not_found", f"no agent is called {name}", hint="`moot agent list` shows all"
        )
    return name, agent.epoch
