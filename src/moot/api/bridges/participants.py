"""One person under all native names: agent, representative, PascalCase name, part, key (FLO-10)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Final

import msgspec

from moot.core.errors import Refused
from moot.core.machine import KeyClass
from moot.core.names import AGENT, SYSTEM
from moot.protocols.parliament.machine import MACHINE as PARLIAMENT
from moot.protocols.presence import STREAM, views
from moot.protocols.presence.liveness import LivenessVerdict
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.presence.model import Liveness
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.workspace.workspace import Workspace

_PASCAL = re.compile(r"(?:[A-Z][a-z0-9]*)+\Z")
_KEY = re.compile(r"[0-9a-f]{4,64}\Z")


class Person(msgspec.Struct, frozen=True):
    """`seats` by session, `parts` by trace; `keys` the newest first, each with its holder."""

    agent: str
    kind: str
    brenner: str
    keys: tuple[str, ...]
    seats: dict[str, str]
    parts: dict[str, list[str]]

    @property
    def seats_in_words(self) -> str:
        return ", ".join(f"{seat} in {name}" for name, seat in self.seats.items())

    @property
    def parts_in_words(self) -> str:
        return ", ".join(f"{' and '.join(roles)} in {name}" for name, roles in self.parts.items())


def pascal(agent: str) -> str:
    """`AmberOtter` of `amber-otter`."""
    return "".join(word.capitalize() for word in agent.split("-"))


def snake(name: str) -> str:
    """`amber-otter` of `AmberOtter`; a name that is none of ours comes back as it is."""
    if not _PASCAL.match(name):
        return name
    return "-".join(re.findall(r"[A-Z][a-z0-9]*", name)).lower()


def agent_of(workspace: Workspace, named: str, streams: Iterable[str] = ()) -> str | None:
    """The agent that a native name stands for; None if it stands for nobody here.

    A representative is named with its session, `parl-20260218-001/rep_2`, unless the streams
    looked at leave no doubt. A key is named by four or more digits that only it begins with.
    """
    registry = workspace.engine.registry()
    candidates = {snake(named)} & set(registry.agents)
    if not candidates and _KEY.match(named):
        candidates = {key.name for kid, key in registry.keys.items() if kid.startswith(named)}
    if not candidates:
        candidates = set(_seated(workspace, named, streams))
    return candidates.pop() if len(candidates) == 1 else None


def _seated(workspace: Workspace, named: str, streams: Iterable[str]) -> Iterable[str]:
    session, _, seat = named.rpartition("/")
    for stream in [f"parliament/{session}"] if session else streams:
        if stream.startswith("parliament/") and len(stream) < 100:
            held = workspace.engine.state(PARLIAMENT, stream).seats.get(seat)
            if held is not None:
                yield held.agent


def people(workspace: Workspace, names: Iterable[str], streams: Iterable[str]) -> list[Person]:
    """Everyone named, with what they are called in each of these streams."""
    listed = tuple(streams)
    agents = workspace.engine.registry().agents
    known = [name for name in dict.fromkeys(names) if name in agents]
    return [person(workspace, name, listed) for name in known if name != SYSTEM]


def person(workspace: Workspace, agent: str, streams: Iterable[str]) -> Person:
    registry = workspace.engine.registry()
    held = registry.agents[agent]
    kids = [kid for kid, key in registry.keys.items() if key.name == agent and kid != held.kid]
    seats: dict[str, str] = {}
    parts: dict[str, list[str]] = {}
    for stream in streams:
        protocol, _, name = stream.partition("/")
        if protocol == PARLIAMENT.name:
            holders = workspace.engine.state(PARLIAMENT, stream).holders
            if agent in holders:
                seats[name] = holders[agent]
        elif protocol == TRACE.name:
            bindings = workspace.engine.state(TRACE, stream).roles
            roles = [str(binding.role) for binding in bindings if binding.agent == agent]
            if roles:
                parts[name] = roles
    brenner = pascal(agent) if AGENT.match(agent) else agent
    return Person(agent, str(held.kind), brenner, (held.kid, *kids), seats, parts)


# How alive those are who would have to act: nobody waits for the dead by default (XPR-07).


def alive(workspace: Workspace, names: Iterable[str]) -> dict[str, LivenessVerdict]:
    """How alive each of these agents is; people, and names that are not registered, are left
    out."""
    agents = workspace.engine.registry().agents
    known = [n for n in dict.fromkeys(names) if n in agents and agents[n].kind is KeyClass.AGENT]
    state = workspace.engine.state(PRESENCE, STREAM)
    since = {name: agents[name].since for name in known}
    moment = views.Observation(
        workspace.engine.clock(), workspace.engine.signs(known), registered=since
    )
    return {name: views.observe_liveness(state, name, moment) for name in known}


def require_present(workspace: Workspace, names: Iterable[str]) -> None:
    """Refused if one of them is long gone: a session would wait for it for ever."""
    for name, verdict in alive(workspace, names).items():
        if verdict.liveness is Liveness.EVICTED:
            raise Refused(
                "agent_gone",
                f"{name} is gone: {verdict.because}",
                hint="name another with --with, or add --even-if-gone",
            )


# The settings that the asker gives for the debate or the parliament that a step opens.


class DebatePlan(msgspec.Struct, frozen=True):
    """Who takes part besides sender and receivers, where the file goes, by which rules.

    Without `file` it goes into the workspace. `threshold` is how much agreement is needed, 0 to 1.
    `even_if_gone` takes agents too that seem to be gone for good.
    """

    participants: tuple[str, ...] = ()
    file: Path | None = None
    rounds: int = 5
    turn_seconds: int = 300
    threshold: Decimal = Decimal("0.7")
    even_if_gone: bool = False


class ParliamentPlan(msgspec.Struct, frozen=True):
    """Where its files go, what is to be decided, at most how many rounds.

    Without `folder` the files go into the workspace, without `issues` the debate's own are taken.
    `even_if_gone` takes agents too that seem to be gone for good.
    """

    folder: Path | None = None
    issues: tuple[str, ...] = ()
    rounds: int = 6
    even_if_gone: bool = False


USUAL_DEBATE: Final = DebatePlan()
USUAL_PARLIAMENT: Final = ParliamentPlan()
