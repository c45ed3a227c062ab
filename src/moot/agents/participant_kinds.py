"""Makes participants from their specs: one table of kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from moot.agents.human import HumanParticipant, Terminal, require_person
from moot.agents.participant import Participant, ParticipantKind
from moot.agents.spec import Spec


class RunSurroundings(NamedTuple):
    """What participants need: the folder that programs run in, the environment, a terminal if
    any. `added_env` are variables that programs get besides what they are known to need."""

    folder: Path
    env: Mapping[str, str]
    terminal: Terminal | None = None
    added_env: tuple[str, ...] = ()


def make_participant(spec: Spec, agent: str, surroundings: RunSurroundings) -> Participant:
    """The participant that `spec` names, as `agent`; Malformed or Unavailable if there is none."""
    return _MAKE[spec.kind](spec, agent, surroundings)


def _script(spec: Spec, _agent: str, room: RunSurroundings) -> Participant:
    from moot.agents.script import ScriptParticipant

    return ScriptParticipant(str(room.folder / spec.rest), spec.recordable)


def _rules(spec: Spec, _agent: str, _room: RunSurroundings) -> Participant:
    from moot.agents.rules import RuleParticipant

    return RuleParticipant(spec.rest)


def _command(spec: Spec, agent: str, room: RunSurroundings) -> Participant:
    from moot.agents.command import CommandParticipant

    return CommandParticipant(spec, agent, room.folder, room.env, room.added_env)


def _model(spec: Spec, _agent: str, room: RunSurroundings) -> Participant:
    from moot.agents.llm import ModelParticipant  # AGT-044: only when a model takes part

    return ModelParticipant(spec, room.env)


def _human(_spec: Spec, _agent: str, room: RunSurroundings) -> Participant:
    require_person(room.terminal)
    return HumanParticipant(room.terminal)


_MAKE: Final[dict[ParticipantKind, Callable[[Spec, str, RunSurroundings], Participant]]] = {
    ParticipantKind.SCRIPT: _script,
    ParticipantKind.RULES: _rules,
    ParticipantKind.COMMAND: _command,
    ParticipantKind.MODEL: _model,
    ParticipantKind.HUMAN: _human,
}
