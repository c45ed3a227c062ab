"""Voices: participants that a question starts itself, named after their tool or model.

A voice is no session: it gives answers when it is asked and does nothing else. It keeps its name
and its key from question to question. It never joins the work, so it is neither alive nor stale and
holds no scope; whoever has joined is a session, also if it was asked something.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from moot.agents.participant import ParticipantKind
from moot.agents.spec import Spec
from moot.core.errors import Refused
from moot.core.machine import KeyClass
from moot.core.names import AGENT, RESERVED
from moot.flows.presence import arrival
from moot.flows.presence.voices import list_voices

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

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
        arrival.enter(workspace, name)
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


def _name_script(spec: Spec) -> str:
    return PurePath(spec.rest).stem


_NAMED_BY: Final[Mapping[ParticipantKind, Callable[[Spec], str]]] = {
    ParticipantKind.COMMAND: _name_command,
    ParticipantKind.MODEL: _name_model,
    ParticipantKind.SCRIPT: _name_script,
    ParticipantKind.RULES: lambda spec: spec.rest,
    ParticipantKind.HUMAN: lambda _spec: "person",
}
