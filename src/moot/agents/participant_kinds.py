"""Make participants from their specs: one table of kinds. `human` is implemented here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from moot.agents.brief import Brief
from moot.agents.cost import Cost
from moot.agents.outcome import CallEnding, NoAnswer
from moot.agents.participant import Nature, Participant, ParticipantKind, ParticipantReply, Spec
from moot.core.errors import Unavailable


class Terminal(Protocol):
    """What a surface provides: it shows a brief, and asks a person for one field."""

    def is_present(self) -> bool:
        """Return True if a person is there to be asked."""
        ...

    def show(self, brief: Brief) -> None: ...

    def ask(self, label: str, choices: tuple[str, ...], default: str | None) -> str: ...


def require_person(terminal: Terminal | None) -> None:
    """Raise Unavailable if no person is at a terminal, before anything is asked (AGT-009)."""
    if terminal is None or not terminal.is_present():
        raise Unavailable(
            "nobody_here",
            "human: no person is at a terminal here",
            hint="run it yourself, at a terminal and without --json, or name another participant",
        )


# One question at a time: two seats may belong to the same person.
_TERMINAL_LOCK = threading.Lock()


class HumanParticipant:
    def __init__(self, terminal: Terminal | None) -> None:
        self.nature = Nature(ParticipantKind.HUMAN, "human")
        self._terminal = terminal

    def reply(self, brief: Brief, seconds: float) -> ParticipantReply:
        """Ask the person for each field. Only the protocol's own time limit counts for people."""
        del seconds
        terminal = self._terminal
        if terminal is None or not terminal.is_present():
            raise NoAnswer(CallEnding.NO_TERMINAL, "nobody sits at a terminal here")  # AGT-009
        began = time.monotonic()
        with _TERMINAL_LOCK:
            terminal.show(brief)
            reply = {name: value for name, value in self._fields(terminal, brief) if value != ""}
        return ParticipantReply(reply, _cost_since(began))

    def stop(self) -> None:
        """Do nothing: the person who interrupts the run sits at the same terminal."""

    def _fields(self, terminal: Terminal, brief: Brief) -> list[tuple[str, Any]]:
        required = set(brief.schema.get("required", ()))
        fields: list[tuple[str, Any]] = []
        for name, shape in brief.schema.get("properties", {}).items():
            choices = tuple(map(str, shape.get("enum", ())))
            default = None if name in required else str(shape.get("default") or "")
            fields.append((name, _convert(terminal.ask(name, choices, default), shape)))
        return fields


def _cost_since(began: float) -> Cost:
    return Cost(calls=1, millis=round((time.monotonic() - began) * 1_000))


def _convert(text: str, shape: dict[str, Any]) -> Any:
    """Convert the typed text to the schema's type; the protocol refuses what is not a number."""
    kind = {"number": float, "integer": int}.get(str(shape.get("type")))
    if kind is None or text == "":
        return text
    try:
        return kind(text)
    except ValueError:
        return text


class RunSurroundings(NamedTuple):
    """What participants need: the folder that programs run in, the environment, a terminal if
    any. `added_env` are variables that programs get in addition to those they need."""

    folder: Path
    env: Mapping[str, str]
    terminal: Terminal | None = None
    added_env: tuple[str, ...] = ()


def make_participant(spec: Spec, agent: str, surroundings: RunSurroundings) -> Participant:
    """Make the participant of `spec`, as `agent`; raise Malformed or Unavailable if impossible."""
    return _MAKE[spec.kind](spec, agent, surroundings)


def _script(spec: Spec, _agent: str, surroundings: RunSurroundings) -> Participant:
    from moot.agents.scripted import ScriptParticipant

    return ScriptParticipant(str(surroundings.folder / spec.rest), spec.recordable)


def _rules(spec: Spec, _agent: str, _surroundings: RunSurroundings) -> Participant:
    from moot.agents.scripted import RuleParticipant

    return RuleParticipant(spec.rest)


def _command(spec: Spec, agent: str, surroundings: RunSurroundings) -> Participant:
    from moot.agents.command import CommandParticipant

    return CommandParticipant(
        spec, agent, surroundings.folder, surroundings.env, surroundings.added_env
    )


def _model(spec: Spec, _agent: str, surroundings: RunSurroundings) -> Participant:
    from moot.agents.llm import ModelParticipant  # AGT-044: only when a model takes part

    return ModelParticipant(spec, surroundings.env)


def _human(_spec: Spec, _agent: str, surroundings: RunSurroundings) -> Participant:
    require_person(surroundings.terminal)
    return HumanParticipant(surroundings.terminal)


_MAKE: Final[dict[ParticipantKind, Callable[[Spec, str, RunSurroundings], Participant]]] = {
    ParticipantKind.SCRIPT: _script,
    ParticipantKind.RULES: _rules,
    ParticipantKind.COMMAND: _command,
    ParticipantKind.MODEL: _model,
    ParticipantKind.HUMAN: _human,
}
