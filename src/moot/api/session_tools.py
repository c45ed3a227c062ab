"""By what the agents of a debate or parliament were played, for the page of that session."""

from __future__ import annotations

from collections.abc import Iterable

from moot.flows.decisions.voices import describe_tool
from moot.flows.observed.agent_tools import find_tools
from moot.flows.parliament.ruling import decisions_argued_in
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE
from moot.protocols.decision.model import DecisionSeat
from moot.workspace.workspace import Workspace

_ELSEWHERE = "elsewhere"


def name_tools(workspace: Workspace, session: str, agents: Iterable[str]) -> dict[str, str]:
    """The tool or model of each agent, as far as it is known.

    What a run seated there is on record with the decision; whoever played its seat from elsewhere
    is known by its hooks.
    """
    observed = {name: known.tool for name, known in find_tools(workspace, agents).items()}
    seated: dict[str, str] = {}
    for decision in decisions_argued_in(workspace.engine, session):
        seats = workspace.engine.state(MACHINE, stream_of(decision)).seats
        seated |= {seat.agent: _describe(seat) for seat in seats if seat.kind != _ELSEWHERE}
    return {name: tool for name, tool in (observed | seated).items() if tool != name}


def _describe(seat: DecisionSeat) -> str:
    return describe_tool({"model": seat.model, "kind": seat.kind, "what": seat.spec})
