"""Find one agent by its name in any protocol: representative, PascalCase name, key (FLO-10)."""

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
    """An agent or a person: `seats` by session, `parts` by trace, `keys` with the newest first."""

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


def to_pascal_case(agent: str) -> str:
    """Return `AmberOtter` for `amber-otter`."""
    return "".join(word.capitalize() for word in agent.split("-"))


def to_agent_name(name: str) -> str:
    """Return `amber-otter` for `AmberOtter`; any other spelling is returned unchanged."""
    if not _PASCAL.match(name):
        return name
    return "-".join(re.findall(r"[A-Z][a-z0-9]*", name)).lower()


def find_agent_name(
    workspace: Workspace, reference: str, streams: Iterable[str] = ()
) -> str | None:
    """Return the agent that a name of any protocol refers to; None if it refers to no agent here.

    A representative is named with its session, `parl-20260218-001/rep_2`, unless only one of
    `streams` has that seat. A key is named by four or more leading digits that no other key has.
    """
    registry = workspace.engine.registry()
    candidates = {to_agent_name(reference)} & set(registry.agents)
    if not candidates and _KEY.match(reference):
        candidates = {key.name for kid, key in registry.keys.items() if kid.startswith(reference)}
    if not candidates:
        candidates = set(_list_seated_agents(workspace, reference, streams))
    return candidates.pop() if len(candidates) == 1 else None


def _list_seated_agents(
    workspace: Workspace, reference: str, streams: Iterable[str]
) -> Iterable[str]:
    session, _, seat = reference.rpartition("/")
    for stream in [f"parliament/{session}"] if session else streams:
        if stream.startswith("parliament/") and len(stream) < 100:
            registered = workspace.engine.state(PARLIAMENT, stream).seats.get(seat)
            if registered is not None:
                yield registered.agent


def describe_people(
    workspace: Workspace, names: Iterable[str], streams: Iterable[str]
) -> list[Person]:
    """Describe each registered name, with its seats and parts in these streams."""
    listed = tuple(streams)
    agents = workspace.engine.registry().agents
    known = [name for name in dict.fromkeys(names) if name in agents]
    return [describe_person(workspace, name, listed) for name in known if name != SYSTEM]


def describe_person(workspace: Workspace, agent: str, streams: Iterable[str]) -> Person:
    registry = workspace.engine.registry()
    registered = registry.agents[agent]
    kids = [
        kid for kid, key in registry.keys.items() if key.name == agent and kid != registered.kid
    ]
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
    brenner = to_pascal_case(agent) if AGENT.match(agent) else agent
    return Person(agent, str(registered.kind), brenner, (registered.kid, *kids), seats, parts)


# By default no step waits for an evicted agent (XPR-07).


def assess_liveness(workspace: Workspace, names: Iterable[str]) -> dict[str, LivenessVerdict]:
    """Return each agent's liveness; people and unregistered names are left out."""
    agents = workspace.engine.registry().agents
    known = [n for n in dict.fromkeys(names) if n in agents and agents[n].kind is KeyClass.AGENT]
    state = workspace.engine.state(PRESENCE, STREAM)
    since = {name: agents[name].since for name in known}
    moment = views.Observation(
        workspace.engine.clock(), workspace.engine.signs(known), registered=since
    )
    return {name: views.observe_liveness(state, name, moment) for name in known}


def require_not_evicted(workspace: Workspace, names: Iterable[str]) -> None:
    """Refuse if one of them is evicted: a session would wait for it for ever."""
    for name, verdict in assess_liveness(workspace, names).items():
        if verdict.liveness is Liveness.EVICTED:
            raise Refused(
                "agent_gone",
                f"{name} is gone: {verdict.because}",
                hint="name another with --with, or add --even-if-gone",
            )


class DebatePlan(msgspec.Struct, frozen=True):
    """Settings of the debate that a step opens.

    `participants` join the sender and the receivers. Without `file` the session file goes into the
    workspace. `threshold` is how much agreement is needed, 0 to 1. `even_if_gone` also admits
    agents that are evicted.
    """

    participants: tuple[str, ...] = ()
    file: Path | None = None
    rounds: int = 5
    turn_seconds: int = 300
    threshold: Decimal = Decimal("0.7")
    even_if_gone: bool = False


class ParliamentPlan(msgspec.Struct, frozen=True):
    """Settings of the parliament that a step convenes.

    Without `folder` the files go into the workspace; without `issues` the debate's own are used.
    `even_if_gone` also admits agents that are evicted.
    """

    folder: Path | None = None
    issues: tuple[str, ...] = ()
    rounds: int = 6
    even_if_gone: bool = False


DEFAULT_DEBATE: Final = DebatePlan()
DEFAULT_PARLIAMENT: Final = ParliamentPlan()
