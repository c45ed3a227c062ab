"""Observe presence now: the time, verified signs of life, who receives mail, who only answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from moot.api.session import read_presence
from moot.core.errors import Refused

if TYPE_CHECKING:
    from moot.core.clock import Millis
    from moot.protocols.presence.views import Observation
    from moot.workspace.workspace import Workspace


def observe(
    workspace: Workspace, names: Iterable[str] | None = None, stale_millis: Millis | None = None
) -> Observation:
    """Return the time and the verified signs of life of `names` (None: of everyone in presence).

    Each sign costs a signature check, so name only agents whose liveness matters. `stale_millis`
    is how soon the reader considers others stale; None: the workspace's setting.
    """
    from moot.protocols.presence.views import Observation

    engine = workspace.engine
    asked = tuple(names) if names is not None else _names_in_presence(workspace)
    agents = engine.registry().agents
    since = {name: agents[name].since for name in asked if name in agents}
    return Observation(engine.clock(), engine.signs(asked), stale_millis, since)


def _names_in_presence(workspace: Workspace) -> tuple[str, ...]:
    """Return members, and owners of reservations: these may have left."""
    state = read_presence(workspace)
    members = (member.name for member in state.members)
    owners = (reservation.owner for reservation in state.live)
    return tuple(dict.fromkeys((*members, *owners)))


def find_receiver(workspace: Workspace, name: str) -> str:
    """Return who receives what is sent to `name`: if it has ended, the one of its family here.

    Raises Refused if several of the family are here: then the sender must say which.
    """
    from moot.protocols.presence import agent_names, model

    registry = workspace.engine.registry()
    agent = registry.agents.get(name)
    if agent is None or registry.keys[agent.kid].ending is None:
        return name
    state = read_presence(workspace)
    living = []
    for other in agent_names.list_family(name, registry.agents):
        member = model.find_member(state, other)
        has_ended = registry.keys[registry.agents[other].kid].ending is not None
        if not has_ended and member is not None and not member.left:
            living.append(other)
    if len(living) > 1:
        raise Refused(
            "which_agent",
            f"{name} has ended, and {len(living)} of its family are here: {', '.join(living)}",
            hint=f"write to one of them by name, such as {living[-1]}",
        )
    return living[0] if living else name


_PAGE: Final = 1_000


def list_voices(workspace: Workspace) -> frozenset[str]:
    """Return those who only answer questions: they took part in a decision and never joined."""
    from moot.protocols.decision import VOICES
    from moot.protocols.presence import model

    names: set[str] = set()
    after = ""
    while True:
        with workspace.store.read() as view:
            rows = view.rows(VOICES, "", after, _PAGE)
        names.update(row.key for row in rows)
        if len(rows) < _PAGE:
            break
        after = rows[-1].key
    state = read_presence(workspace)
    return frozenset(name for name in names if model.find_member(state, name) is None)
