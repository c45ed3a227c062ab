"""Makes participants from their specs: one table of kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from moot.agents.human import Human, Terminal, require_person
from moot.agents.participant import Kind, Participant
from moot.agents.spec import Spec


class Room(NamedTuple):
    """What participants need: the folder that programs run in, the environment, a terminal if
    any."""

    folder: Path
    env: Mapping[str, str]
    terminal: Terminal | None = None


def seat(spec: Spec, agent: str, room: Room) -> Participant:
    """The participant that `spec` names, as `agent`; Malformed or Unavailable if there is none."""
    return _MAKE[spec.kind](spec, agent, room)


def _script(spec: Spec, _agent: str, room: Room) -> Participant:
    from moot.agents.script import Script

    return Script(str(room.folder / spec.rest), spec.recordable)


def _rules(spec: Spec, _agent: str, _room: Room) -> Participant:
    from moot.agents.rules import Ruled

    return Ruled(spec.rest)


def _command(spec: Spec, agent: str, room: Room) -> Participant:
    from moot.agents.command import CommandParticipant

    return CommandParticipant(spec, agent, room.folder, room.env)


def _model(spec: Spec, _agent: str, room: Room) -> Participant:
    from moot.agents.llm import ModelParticipant

    return ModelParticipant(spec, room.env)


def _human(_spec: Spec, _agent: str, room: Room) -> Participant:
    require_person(room.terminal)
    return Human(room.terminal)


_MAKE: Final[dict[Kind, Callable[[Spec, str, Room], Participant]]] = {
    Kind.SCRIPT: _script,
    Kind.RULES: _rules,
    Kind.COMMAND: _command,
    Kind.MODEL: _model,
    Kind.HUMAN: _human,
}
