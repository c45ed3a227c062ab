"""Make participants and recorded seats from specs.

In a workspace every participant signs with its own key. A new name is registered; a name whose key
is not here is refused before any participant is asked.
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
# its name and key for later questions. It never joins the work, so it has no liveness and holds no
# scope.

MAX_NAME: Final = 40
_MODEL_OPTIONS: Final = ("--model", "-m")


def choose_voice(workspace: Workspace, spec: Spec, busy: Collection[str]) -> str:
    """Return the participant's name: an earlier one whose key is here, else a new one.

    Names that are `busy` in this question are skipped; a new name is registered.
    """
    first, number = name_voice(spec), 1
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
    """Register the name; return False if another process has just taken it."""
    try:
        arrival.register_agent(workspace, name)
    except Refused as refused:
        if refused.code != "name_taken":
            raise
        return False
    return True


def name_voice(spec: Spec) -> str:
    """Return a name for such a participant: its tool, with the model if named, or the model."""
    words = _VOICE_NAMERS[spec.kind](spec)
    name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:MAX_NAME].strip("-")
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
    """Return `gpt-5` for `llm:openai/gpt-5`, and NAME for `llm:openai?model=NAME`."""
    address, _, settings = spec.rest.partition("?")
    named = re.search(r"(?:^|&)model=([^&]+)", settings)
    return (named[1] if named is not None else address).rpartition("/")[2]


_VOICE_NAMERS: Final[Mapping[ParticipantKind, Callable[[Spec], str]]] = {
    ParticipantKind.COMMAND: _name_command,
    ParticipantKind.MODEL: _name_model,
    ParticipantKind.SCRIPT: lambda spec: PurePath(spec.rest).stem,
    ParticipantKind.RULES: lambda spec: spec.rest,
    ParticipantKind.HUMAN: lambda _spec: "person",
}


# The kind of a seat that this run does not ask.
ELSEWHERE: Final = ParticipantKind.ELSEWHERE.value


def seat_participants(
    specs: Mapping[str, Spec], surroundings: RunSurroundings, workspace: Workspace | None = None
) -> dict[str, Participant]:
    """Make a participant for each name; in a workspace each must have its key here.

    Raises before any participant is asked, and before a new name is registered for a participant
    that cannot be started (AGT-063).
    """
    participants = {
        name: make_participant(spec, name, surroundings)
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
    """Refuse unless `name` is an agent that has not ended: no other would answer."""
    registry = workspace.engine.registry()
    agent = registry.agents.get(name)
    if (
        agent is None
        or agent.kind is not KeyClass.AGENT
        or registry.keys[agent.kid].ending is not None
    ):
        raise Refused(
            "unknown_agent",
            f"there is no agent {name} at work here",
            hint="`moot agent list` shows all; a person rules with `moot decide`",
        )


def require_participants(specs: Mapping[str, Spec]) -> None:
    if not specs:
        raise Refused(
            "bad_participants", "no participant is named", hint="add --participant NAME=SPEC"
        )


def name_specs(workspace: Workspace, specs: tuple[Spec, ...]) -> dict[str, Spec]:
    """Return each spec under a name whose key is here; unnamed ones get a voice (AGT-071)."""
    require_distinct_names(specs)
    for spec in specs:
        if spec.name is not None:
            require_seatable(workspace, spec.name, spec)
    named = {spec.name for spec in specs if spec.name is not None}
    seated: dict[str, Spec] = {}
    for spec in specs:
        name = spec.name or choose_voice(workspace, spec, named | seated.keys())
        seated[name] = spec
    return seated


def require_distinct_names(specs: Iterable[Spec]) -> None:
    """Refuse a name that is given to two participants."""
    counts = Counter(spec.name for spec in specs if spec.name is not None)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise Refused(
            "bad_participants",
            f"{', '.join(repeated)} is named more than once",
            hint="give each another name, or none: then Moot names it",
        )


def require_key(workspace: Workspace, name: str) -> None:
    """Register a new name; Refused if an old one's key is not here, or is a person's (AGT-063)."""
    registry = workspace.engine.registry()
    if name not in registry.agents:
        arrival.register_agent(workspace, name)
    elif registry.agents[name].kind is not KeyClass.AGENT:
        raise Refused(
            "human_key_required",
            f"{name} is a person; no program may use a person's key",
            hint="give the participant another name, even if it is `human`",
        )
    else:
        find_signatory(registry, workspace.keys, name)


def describe_seats(
    workspace: Workspace,
    names: tuple[str, ...],
    specs: Mapping[str, Spec],
    participants: Mapping[str, Participant],
) -> tuple[DecisionSeat, ...]:
    """Return the seats for the record: the participant, its model, and who keeps its key."""
    return tuple(
        _describe_seat(workspace, name, specs.get(name), participants.get(name)) for name in names
    )


def _describe_seat(
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
