"""Who sits where: specs become participants, and seats that a record can hold.

In a workspace every participant signs with a key of its own: a name that nobody has is
registered, one whose key is elsewhere is refused before anybody is asked anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from moot.agents.participant import Participant
from moot.agents.seats import Room, seat
from moot.agents.spec import Spec
from moot.core.errors import Refused
from moot.core.machine import KeyClass
from moot.engine.keys import hand_of
from moot.flows.presence import arrival
from moot.protocols.decision.model import DecisionSeat
from moot.workspace.workspace import Workspace

# Someone of the session whom this run does not ask.
ELSEWHERE: Final = "elsewhere"


def seated(specs: Mapping[str, Spec], room: Room) -> dict[str, Participant]:
    """A participant for each name; Malformed or Unavailable before anyone is asked."""
    return {name: seat(spec, name, room) for name, spec in specs.items()}


def named(space: Workspace, specs: tuple[Spec, ...]) -> dict[str, Spec]:
    """Each spec under a name whose key is here; those without one get a fresh name."""
    require_once(specs)
    for spec in specs:
        if spec.name is not None:
            require_key(space, spec.name)
    return {spec.name or arrival.enter_fresh(space): spec for spec in specs}


def require_once(specs: Iterable[Spec]) -> None:
    """Each name stands for one participant."""
    counts = Counter(spec.name for spec in specs if spec.name is not None)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise Refused(
            "bad_participants",
            f"{', '.join(twice)} is named more than once",
            hint="give each of them a name of its own, or none: then it gets a fresh one",
        )


def require_key(space: Workspace, name: str) -> None:
    """Register a new name; Refused if an old one's key is not here, or is a person's."""
    registry = space.engine.registry()
    if name not in registry.agents:
        arrival.enter(space, name)
    elif registry.agents[name].kind is not KeyClass.AGENT:
        raise Refused(
            "human_key_required",
            f"{name} is a person; no program speaks under a person's key",
            hint="give the participant a name of its own, also where it is `human`",
        )
    else:
        hand_of(registry, space.keys, name)


def seats_of(
    space: Workspace,
    names: tuple[str, ...],
    specs: Mapping[str, Spec],
    sitting: Mapping[str, Participant],
) -> tuple[DecisionSeat, ...]:
    """The seats for the record: what sits there, which model, and who keeps the key."""
    return tuple(_seat(space, name, specs.get(name), sitting.get(name)) for name in names)


def _seat(
    space: Workspace, name: str, spec: Spec | None, sitting: Participant | None
) -> DecisionSeat:
    registry = space.engine.registry()
    agent = registry.agents.get(name)
    custodian = registry.keys[agent.kid].custodian if agent is not None else ""
    if spec is None or sitting is None:
        return DecisionSeat(name, ELSEWHERE, "", None, custodian)
    nature = sitting.nature
    return DecisionSeat(
        name, nature.kind.value, spec.recordable, nature.model, custodian, nature.scripted
    )
