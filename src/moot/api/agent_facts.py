"""What lists say of a name beside the registry: its family, tool and work, and how alive it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from moot.core.quoted import Quoted
from moot.protocols.presence.model import Liveness

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.flows.observed.agent_tools import AgentTool
    from moot.flows.presence.run_evidence import RunEvidence
    from moot.protocols.presence.model import State
    from moot.protocols.presence.views import AgentView
    from moot.workspace.workspace import Workspace

# The living first; whoever has not joined comes after all who have, the ended last.
_BY_LIVENESS: Final = {Liveness.ACTIVE: 0, Liveness.STALE: 1, Liveness.EVICTED: 2}
_NOT_HERE: Final = 3
_VOICE: Final = 4
_ENDED: Final = 5


class AgentFacts(NamedTuple):
    """Of some names: their views in presence, their tools, who of them is a voice, and families."""

    views: Mapping[str, AgentView]
    tools: Mapping[str, AgentTool]
    voices: frozenset[str]
    families: Mapping[str, str]
    runs: Mapping[str, RunEvidence]

    def describe(self, name: str) -> dict[str, Any]:
        """The fields that every list adds to a name."""
        view, tool = self.views[name], self.tools.get(name)
        run = self.runs.get(name)
        return {
            "family": self.families[name],
            "tool": None if tool is None else Quoted(tool.tool),
            "voice": name in self.voices,
            "here": view.here,
            "liveness": str(view.liveness),
            "label": view.label,
            "last_seen_at": view.last_seen_at,
            "work": view.work,
            "evidence": None if run is None else run.state,
            "process": None if run is None else run.because,
        }

    def place_in_list(self, name: str, *, has_ended: bool) -> tuple[int, str]:
        """By which a list is sorted."""
        view = self.views[name]
        if has_ended:
            return _ENDED, name
        if name in self.voices:
            return _VOICE, name
        return (_BY_LIVENESS[view.liveness] if view.here else _NOT_HERE), name


def find_agent_facts(
    session: Session, names: tuple[str, ...], known: Iterable[AgentView] | None = None
) -> AgentFacts:
    """All of it for these names; their signs of life are proved, unless their views are `known`."""
    from moot.flows.observed.agent_tools import find_tools
    from moot.flows.presence.observation import observe
    from moot.flows.presence.voices import list_voices
    from moot.protocols.presence import STREAM, families, views
    from moot.protocols.presence.machine import MACHINE as PRESENCE

    workspace = session.workspace
    state = workspace.engine.state(PRESENCE, STREAM)
    if known is None:
        observation = observe(workspace, names, session.stale_millis)
        known = views.view_agents(state, names, observation)
    registered = workspace.engine.registry().agents
    return AgentFacts(
        {view.agent: view for view in known},
        find_tools(workspace, names),
        list_voices(workspace),
        {name: families.family_of(name, registered) for name in names},
        _look_at_runs(workspace, state, names),
    )


def _look_at_runs(
    workspace: Workspace, state: State, names: tuple[str, ...]
) -> dict[str, RunEvidence]:
    """What the locks of those who are here say."""
    from moot.flows.presence.run_evidence import look_at_run
    from moot.protocols.presence.sorted_index import find_member

    members = (member for name in names if (member := find_member(state, name)) is not None)
    looks = (
        (member.name, look_at_run(workspace, member.name, member.epoch))
        for member in members
        if not member.left
    )
    return {name: evidence for name, evidence in looks if evidence is not None}
