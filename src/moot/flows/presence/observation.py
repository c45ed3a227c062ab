"""Looking at presence now: the time, and the signs of life that were proved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.core.clock import Millis
    from moot.protocols.presence.views import Observation
    from moot.workspace.workspace import Workspace


def observe(
    workspace: Workspace, names: Iterable[str] | None = None, stale_millis: Millis | None = None
) -> Observation:
    """This moment, with the proved signs of life of `names` (None: of everyone in presence).

    Proving a sign costs a signature check, so name only those whose liveness is asked for.
    `stale_millis` is how soon the reader calls others stale; None: as the workspace does.
    """
    from moot.protocols.presence.views import Observation

    engine = workspace.engine
    asked = tuple(names) if names is not None else _names_in_presence(workspace)
    agents = engine.registry().agents
    since = {name: agents[name].since for name in asked if name in agents}
    return Observation(engine.clock(), engine.signs(asked), stale_millis, since)


def _names_in_presence(workspace: Workspace) -> tuple[str, ...]:
    """Members, and owners of what is still held: these may have left."""
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.machine import MACHINE as PRESENCE

    state = workspace.engine.state(PRESENCE, STREAM)
    members = (member.name for member in state.members)
    owners = (reservation.owner for reservation in state.live)
    return tuple(dict.fromkeys((*members, *owners)))
