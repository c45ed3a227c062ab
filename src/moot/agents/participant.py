"""What every participant does: answer a brief within a time, or say why it cannot."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Protocol

import msgspec

from moot.agents.brief import Brief
from moot.agents.cost import NO_COST, Cost


class ParticipantKind(StrEnum):
    SCRIPT = "script"
    RULES = "rules"
    COMMAND = "cmd"
    MODEL = "llm"
    HUMAN = "human"
    ELSEWHERE = "elsewhere"  # played by whoever holds the agent's key; nobody here asks it


SCRIPTED = frozenset({ParticipantKind.SCRIPT, ParticipantKind.RULES})


class Nature(msgspec.Struct, frozen=True):
    """What kind of participant it is, in a form that may be recorded: it holds no secret."""

    kind: ParticipantKind
    spec: str
    model: str | None = None

    @property
    def scripted(self) -> bool:
        """Its replies were written beforehand; no model and no person thought about them
        (AGT-008)."""
        return self.kind in SCRIPTED

    @property
    def label(self) -> str:
        return f"{self.spec} (scripted voice)" if self.scripted else self.spec  # AGT-008


class ParticipantReply(msgspec.Struct, frozen=True):
    """One reply as data, not checked by any protocol yet, and what it cost."""

    reply: dict[str, Any]
    cost: Cost = NO_COST


class Participant(Protocol):
    @property
    def nature(self) -> Nature: ...

    def reply(self, brief: Brief, seconds: float) -> ParticipantReply:
        """Answer within `seconds`; NoAnswer if there is none, or none that can be read."""
        ...

    def stop(self) -> None:
        """Give up what is running: the run is over. Called from another thread."""
        ...
