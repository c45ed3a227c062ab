"""Who gets what is sent to a name whose session has ended: the living one of its family.

Work that is passed on to alice reaches alice-2, if that is who is here. A name that has not ended
is its holder's alone, whoever else of the family is here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.core.errors import Refused

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace


def find_receiver(workspace: Workspace, name: str) -> str:
    """Whom `name` means now; the name itself unless it has ended and one of its family is here.

    Refused if several are: then the sender says which.
    """
    from moot.protocols.presence import STREAM, families, sorted_index
    from moot.protocols.presence.machine import MACHINE

    registry = workspace.engine.registry()
    agent = registry.agents.get(name)
    if agent is None or registry.keys[agent.kid].ending is None:
        return name
    state = workspace.engine.state(MACHINE, STREAM)
    living = []
    for other in families.list_family(name, registry.agents):
        member = sorted_index.find_member(state, other)
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
