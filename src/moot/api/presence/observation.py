"""Looking at presence now: the time, and the signs of life that were proved."""

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
    state = read_presence(workspace)
    members = (member.name for member in state.members)
    owners = (reservation.owner for reservation in state.live)
    return tuple(dict.fromkeys((*members, *owners)))


# Who gets what is sent to a name whose session has ended: the living one of its family.


def find_receiver(workspace: Workspace, name: str) -> str:
    """Whom `name` means now; the name itself unless it has ended and one of its family is here.

    Refused if several are: then the sender says which.
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


# Who only answers questions: participants of decisions that never joined the work.

_PAGE: Final = 1_000


def list_voices(workspace: Workspace) -> frozenset[str]:
    """Everyone who was asked a question and never joined the work."""
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
    return frozenset(n for n in names if model.find_member(state, n) is None)
