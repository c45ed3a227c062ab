"""Who sits where: specs become participants, and seats that a record can hold.

In a workspace every participant signs with a key of its own: a name that nobody has is
registered, one whose key is elsewhere is refused before anybody is asked anything.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import pairwise
from pathlib import PurePath
from typing import Final

from moot.agents.participant import Participant, ParticipantKind, Spec
from moot.agents.participant_kinds import RunSurroundings, make_participant
from moot.api.presence import arrival
from moot.api.presence.observation import list_voices
from moot.core.errors import Refused
from moot.core.machine import KeyClass
from moot.core.names import AGENT, RESERVED
from moot.engine.signers import find_signatory
from moot.protocols.decision.model import DecisionSeat
from moot.workspace.workspace import Workspace

# A voice is a participant that a question starts itself, named after its tool or model. It keeps
# its name and its key from question to question. It never joins the work, so it is neither alive
# nor stale and holds no scope; an agent that has joined is a session.

LONGEST: Final = 40
_MODEL_OPTIONS: Final = ("--model", "-m")


def take_voice(workspace: Workspace, spec: Spec, busy: Collection[str]) -> str:
    """The name that this participant speaks under: the one it had before, if its key is here and
    it is not `busy` in this question; else the next one, which is registered."""
    first, number = name_of(spec), 1
    voices = list_voices(workspace)
    while True:
        name = first if number == 1 else f"{first}-{number}"
        number += 1
        if name in busy:
            continue
        if name not in workspace.engine.registry().agents:
            if _try_to_register(workspace, name):
                return name
        elif name in voices and _is_usable(workspace, name):
            return name


def _try_to_register(workspace: Workspace, name: str) -> bool:
    """False if another has just taken the name."""
    try:
        arrival.register_agent(workspace, name)
    except Refused as refused:
        if refused.code != "name_taken":
            raise
        return False
    return True


def name_of(spec: Spec) -> str:
    """What a participant of this kind is called: its tool, with the model if that is named, or the
    model."""
    words = _NAMED_BY[spec.kind](spec)
    name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:LONGEST].strip("-")
    usable = AGENT.match(name) is not None and name not in RESERVED
    return name if usable else f"voice-{name}".rstrip("-")


def _is_usable(workspace: Workspace, name: str) -> bool:
    registry = workspace.engine.registry()
    agent = registry.agents[name]
    has_ended = registry.keys[agent.kid].ending is not None
    is_here = workspace.keys.find(name, agent.kid) is not None
    return agent.kind is KeyClass.AGENT and not has_ended and is_here


def _name_command(spec: Spec) -> str:
    try:
        words = shlex.split(spec.rest)
    except ValueError:
        words = spec.rest.split()
    program = PurePath(words[0]).stem if words else ""
    models = [after for word, after in pairwise(words) if word in _MODEL_OPTIONS]
    return "-".join((program, *models[:1]))


def _name_model(spec: Spec) -> str:
    """After its last part in `llm:openai/gpt-5`, after the setting in `llm:openai?model=NAME`."""
    address, _, settings = spec.rest.partition("?")
    named = re.search(r"(?:^|&)model=([^&]+)", settings)
    return (named[1] if named is not None else address).rpartition("/")[2]


_NAMED_BY: Final[Mapping[ParticipantKind, Callable[[Spec], str]]] = {
    ParticipantKind.COMMAND: _name_command,
    ParticipantKind.MODEL: _name_model,
    ParticipantKind.SCRIPT: lambda spec: PurePath(spec.rest).stem,
    ParticipantKind.RULES: lambda spec: spec.rest,
    ParticipantKind.HUMAN: lambda _spec: "person",
}


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
    """Refuse a seat without a key here, or, if it is played elsewhere, without registration."""
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
        arrival.register_agent(workspace, name)
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
