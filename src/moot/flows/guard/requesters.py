"""Who asks to write: which holder of a name, which of its session's agents, and at what time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from moot.protocols.presence import sub_agents
from moot.protocols.presence.overlap import Requester, is_in_the_way

if TYPE_CHECKING:
    from moot.core.clock import Millis
    from moot.protocols.presence.model import Reservation, State
    from moot.workspace.workspace import Workspace


def requester_of(
    workspace: Workspace,
    state: State,
    name: str,
    stale_millis: Millis | None,
    sub_agent: str | UnsetType = UNSET,
) -> Requester:
    """`name` now. `sub_agent` is who of its session asks, as presence's commands take it."""
    engine = workspace.engine
    agent = engine.registry().agents.get(name)
    epoch = agent.epoch if agent is not None else 0
    alias = sub_agents.read_alias(state, name, epoch, sub_agent)
    return Requester(name, epoch, engine.clock(), {}, stale_millis, alias)


def reservations_in_the_way(state: State, requester: Requester) -> tuple[Reservation, ...]:
    """Everything that is held and keeps the requester off, wherever it lies."""
    return tuple(held for held in state.live if is_in_the_way(state, held, requester))
