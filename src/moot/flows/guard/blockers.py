"""Who stands in the way of writing some files? One look, which records nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from moot.core.errors import NotFound
from moot.flows.guard.hook_workspace import stale_millis
from moot.flows.presence.observation import observe
from moot.protocols.presence import STREAM, overlap, views
from moot.protocols.presence.overlap import OverlapConflict
from moot.protocols.presence.paths import read_path
from moot.workspace.workspace import Workspace


def in_the_way(
    space: Workspace, paths: Iterable[str], root: Path, name: str | None, env: Mapping[str, str]
) -> tuple[OverlapConflict, ...]:
    """Reservations of others than `name` that overlap `paths`, which are relative to `root`."""
    claims = [read_path(path, str(root)) for path in paths]
    state = space.engine.state(STREAM)
    moment = observe(space, overlap.find_owners(state, claims), stale_millis(env))
    return views.find_blockers(state, claims, _holder(space, name), moment)


def _holder(space: Workspace, name: str | None) -> tuple[str, int]:
    if name is None:
        return "", 0
    agent = space.engine.registry().agents.get(name)
    if agent is None:
        raise NotFound(
            "agent_not_found", f"no agent is called {name}", hint="`moot agent list` shows all"
        )
    return name, agent.epoch
