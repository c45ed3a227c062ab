"""Who sits where: specs become participants, and seats that a record can hold.

In a workspace every participant signs with a key of its own: a name that nobody has is
registered, one whose key is elsewhere is refused before anybody is asked anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from moot.agents.participant import Participant, ParticipantKind
from moot.agents.participant_kinds import RunSurroundings, make_participant
from moot.agents.spec import Spec
from moot.core.errors import Refused
from moot.core.machine import KeyClass
from moot.engine.keys import find_signatory
from moot.flows.presence import arrival
from moot.flows.runs.voices import take_voice
from moot.protocols.decision.model import DecisionSeat
from moot.workspace.workspace import Workspace

# Someone of the session whom this run does not ask.
ELSEWHERE: Final = ParticipantKind.ELSEWHERE.value


def seat_participants(
    specs: Mapping[str, Spec], room: RunSurroundings, workspace: Workspace | None = None
) -> dict[str, Participant]:
    """A participant for each name; in a workspace each must have its key here.

    Malformed, Unavailable or Refused before anyone is asked, and before a new name is registered
    for a participant that cannot be made (AGT-063).
    """
    participants = {
        name: make_participant(spec, name, room)
        for name, spec in specs.items()
        if spec.kind is not ParticipantKind.ELSEWHERE
    }
    if workspace is not None:
        for name, spec in specs.items():
            require_seatable(workspace, name, spec)
    return participants


def require_seatable(workspace: Workspace, name: str, spec: Spec) -> None:
    """Whoever is asked here has its key here; whoever plays its seat elsewhere is registered."""
    if spec.kind is ParticipantKind.ELSEWHERE:
        require_registered(workspace, name)
    else:
        require_key(workspace, name)


def require_registered(workspace: Workspace, name: str) -> None:
    """Refused unless `name` is an agent that has not ended: nobody else would answer."""
    registry = workspace.engine.registry()
    agent = registry.agents.get(name)
    if (
        agent is None
        or agent.kind is not KeyClass.AGENT
        or registry.keys[agent.kid].ending is not None
    ):
        raise Refused(
            "unknown_agent",
            f"no agent called {name} works here",
            hint="`moot agent list` shows all; a person is asked by `moot decide`",
        )


def require_somebody(specs: Mapping[str, Spec]) -> None:
    if not specs:
        raise Refused("bad_participants", "nobody takes part", hint="--participant NAME=SPEC")


def name_specs(workspace: Workspace, specs: tuple[Spec, ...]) -> dict[str, Spec]:
    """Each spec under a name whose key is here; those without one speak as a voice of their tool
    or model (AGT-071)."""
    require_distinct_names(specs)
    for spec in specs:
        if spec.name is not None:
            require_seatable(workspace, spec.name, spec)
    named = {spec.name for spec in specs if spec.name is not None}
    seated: dict[str, Spec] = {}
    for spec in specs:
        name = spec.name or take_voice(workspace, spec, named | seated.keys())
        seated[name] = spec
    return seated


def require_distinct_names(specs: Iterable[Spec]) -> None:
    """Each name stands for one participant."""
    counts = Counter(spec.name for spec in specs if spec.name is not None)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise Refused(
            "bad_participants",
            f"{', '.join(repeated)} is named more than once",
            hint="give each of them a name of its own, or none: then it gets a fresh one",
        )


def require_key(workspace: Workspace, name: str) -> None:
    """Register a new name; Refused if an old one's key is not here, or is a person's (AGT-063)."""
    registry = workspace.engine.registry()
    if name not in registry.agents:
        arrival.enter(workspace, name)
    elif registry.agents[name].kind is not KeyClass.AGENT:
        raise Refused(
            "human_key_required",
            f"{name} is a person; no program speaks under a person's key",
            hint="give the participant a name of its own, also where it is `human`",
        )
    else:
        find_signatory(registry, workspace.keys, name)


def recorded_seats(
    workspace: Workspace,
    names: tuple[str, ...],
    specs: Mapping[str, Spec],
    participants: Mapping[str, Participant],
) -> tuple[DecisionSeat, ...]:
    """The seats for the record: what sits there, which model, and who keeps the key."""
    return tuple(
        _recorded_seat(workspace, name, specs.get(name), participants.get(name)) for name in names
    )


def _recorded_seat(
    workspace: Workspace, name: str, spec: Spec | None, participant: Participant | None
) -> DecisionSeat:
    registry = workspace.engine.registry()
    agent = registry.agents.get(name)
    custodian = registry.keys[agent.kid].custodian if agent is not None else ""
    if spec is None or participant is None:
        return DecisionSeat(name, ELSEWHERE, "", None, custodian)
    nature = participant.nature
    return DecisionSeat(
        name, nature.kind.value, spec.recordable, nature.model, custodian, nature.scripted
    )
