"""What every participant does: answer a brief within a time, or say why it cannot."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final, Protocol

import msgspec

from moot.agents.brief import Brief
from moot.agents.cost import NO_COST, Cost
from moot.agents.recipes import HEADLESS
from moot.core.errors import Malformed
from moot.core.names import RESERVED, require_agent_name


class ParticipantKind(StrEnum):
    SCRIPT = "script"
    RULES = "rules"
    COMMAND = "cmd"
    MODEL = "llm"
    HUMAN = "human"
    ELSEWHERE = "elsewhere"  # played by the holder of the agent's key; no run here asks it


SCRIPTED = frozenset({ParticipantKind.SCRIPT, ParticipantKind.RULES})


class Nature(msgspec.Struct, frozen=True):
    """What kind of participant it is, in a form that may be recorded: without secrets."""

    kind: ParticipantKind
    spec: str
    model: str | None = None

    @property
    def scripted(self) -> bool:
        """True if its replies were written in advance, not by a model or a person (AGT-008)."""
        return self.kind in SCRIPTED

    @property
    def label(self) -> str:
        return f"{self.spec} (scripted voice)" if self.scripted else self.spec  # AGT-008


class ParticipantReply(msgspec.Struct, frozen=True):
    """One reply as data, before a protocol has checked it, and what it cost."""

    reply: dict[str, Any]
    cost: Cost = NO_COST


class Participant(Protocol):
    @property
    def nature(self) -> Nature: ...

    def reply(self, brief: Brief, seconds: float) -> ParticipantReply:
        """Answer within `seconds`; raise NoAnswer if there is none, or none that can be read."""
        ...

    def stop(self) -> None:
        """Stop an open call: the run is over. Called from another thread."""
        ...


# Participants as people type them: `NAME=cmd:claude -p,codex,llm:openai/gpt-5`. A list is split
# only before a known scheme, a `NAME=` or a tool's bare name, so commands may contain commas.

_BARE: Final = (ParticipantKind.HUMAN, ParticipantKind.ELSEWHERE)
_SCHEMES: Final = "|".join(kind.value for kind in ParticipantKind if kind not in _BARE)
_SPEC: Final = rf"(?:(?:{_SCHEMES}):|{ParticipantKind.HUMAN.value}\b)"
# AGT-001: a comma inside a command does not split the list.
_TOOL: Final = rf"(?:{'|'.join(HEADLESS)})\s*(?:,|\Z)"
_SPLIT: Final = re.compile(rf",\s*(?={_SPEC}|[a-z0-9]+(?:-[a-z0-9]+)*=|{_TOOL})")
_NAMED: Final = re.compile(r"([a-z0-9]+(?:-[a-z0-9]+)*)=(.*)", re.DOTALL)
# Names alone: agents that no run here asks.
_NAMES: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+(?:\s*,\s*[a-z0-9]+(?:-[a-z0-9]+)+)*")
_FORMS: Final = (
    f"cmd:COMMAND, llm:PROVIDER/MODEL, script:FILE, rules:NAME, human, AGENT, {', '.join(HEADLESS)}"
)
_SECRET: Final = re.compile(
    r"((?:(?<!max_)token|key(?!_env)|secret|password|passwd|auth)[\w-]*[=: ]+)(\S+)"
    r"|\b(sk-|ghp_|xox[bp]-)\S+",
    re.IGNORECASE,
)


class Spec(msgspec.Struct, frozen=True):
    """One participant as typed; without a name it gets a new one."""

    kind: ParticipantKind
    rest: str
    name: str | None = None

    @property
    def text(self) -> str:
        return f"{self.kind.value}:{self.rest}" if self.rest else self.kind.value

    @property
    def recordable(self) -> str:
        """For the record: at most 300 characters, and nothing that looks secret (AGT-002)."""
        hidden = _SECRET.sub(lambda found: f"{found.group(1) or ''}…", self.text)
        return hidden if len(hidden) <= 300 else f"{hidden[:299]}…"


def read_specs(text: str) -> tuple[Spec, ...]:
    """Read the list of participants of `--with`."""
    parts = _SPLIT.split(text.strip())
    return tuple(read_spec(spec) for part in parts for spec in _split_names(part))


def _split_names(part: str) -> list[str]:
    """Split `amber-otter,teal-crane` into two agents; a command keeps its commas."""
    return part.split(",") if _NAMES.fullmatch(part.strip()) else [part]


def read_spec(text: str) -> Spec:
    """Read `NAME=SPEC` or `SPEC`; raise Malformed if the scheme is unknown (AGT-001)."""
    named = _NAMED.match(text.strip())
    name, spec = (named.group(1), named.group(2)) if named else (None, text)
    if spec.strip() in HEADLESS:
        return Spec(ParticipantKind.COMMAND, HEADLESS[spec.strip()], _require_name(name))
    scheme, colon, rest = spec.strip().partition(":")
    if scheme == ParticipantKind.HUMAN.value and not colon:
        return Spec(ParticipantKind.HUMAN, "", _require_name(name))
    if named is None and _NAMES.fullmatch(text.strip()):
        return Spec(ParticipantKind.ELSEWHERE, "", _require_name(text.strip()))
    if not colon or scheme not in _SCHEMES.split("|") or not rest.strip():
        raise Malformed(
            f"{text.strip()!r} is not a participant",
            code="bad_participant",
            hint=f"use one of {_FORMS}; NAME= before it is optional",
        )
    return Spec(ParticipantKind(scheme), rest.strip(), _require_name(name))


def read_named_specs(texts: Iterable[str]) -> dict[str, Spec]:
    """Read all `--participant` options, each with a different name."""
    specs: dict[str, Spec] = {}
    for text in texts:
        spec = read_spec(text)
        if spec.name is None or spec.name in specs:
            problem = "has no name" if spec.name is None else "is given twice"
            raise Malformed(
                f"the participant {text!r} {problem}",
                code="bad_participant",
                hint="type NAME=SPEC, such as amber-otter=cmd:claude -p",
            )
        specs[spec.name] = spec
    return specs


def _require_name(name: str | None) -> str | None:
    if name in RESERVED:
        raise Malformed(f"{name} is a reserved name", code="bad_name", hint="choose another")
    return None if name is None else require_agent_name(name)
