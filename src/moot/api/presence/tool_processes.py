"""Find the agent of a coding tool's process: its hooks and its MCP server act as one agent.

The first of them joins with the key of the tool's process; the other finds that agent by the key.
A process may run several sessions one after the other, so an agent is shared only while no other
session claims it: hooks use the agent of a running server, a server the agent of the open session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from moot.api.session import TOOL_SESSIONS, JoinedAgent, read_presence
from moot.coding_tools import all_tools
from moot.coding_tools.started_tools import program_name, tool_of_process
from moot.core.registry.model import Agent
from moot.keys.running_names import is_running
from moot.protocols.presence import agent_names, model
from moot.protocols.presence.model import Member
from moot.system.process_tree import list_ancestors
from moot.workspace.workspace import Workspace


class AgentOfProcess(NamedTuple):
    """The last agent that joined with the key of a process, and its state."""

    name: str
    epoch: int
    member: Member | None
    has_ended: bool


def find_agent_of_process(workspace: Workspace, process: str | None) -> AgentOfProcess | None:
    """Return the agent that joined last with the key of this process; None if there is none."""
    if process is None:
        return None
    with workspace.store.read() as view:
        row = view.row(TOOL_SESSIONS, process)
    if row is None:
        return None
    joined = msgspec.json.decode(row.value, type=JoinedAgent)
    registry = workspace.engine.registry()
    agent: Agent | None = registry.agents.get(joined.agent)
    is_same = agent is not None and agent.epoch == joined.epoch
    has_ended = agent is None or not is_same or registry.keys[agent.kid].ending is not None
    member = model.find_member(read_presence(workspace), joined.agent)
    return AgentOfProcess(joined.agent, joined.epoch, member, has_ended)


def agent_for_hooks(workspace: Workspace, process: str | None) -> str | None:
    """Return the agent of a running server of the same process, if no session has it."""
    agent = find_agent_of_process(workspace, process)
    if agent is None or agent.has_ended or agent.member is None or _is_in_session(agent.member):
        return None
    is_alive = is_running(workspace.folder, workspace.trust.origin, agent.name)
    return agent.name if is_alive else None


def agent_for_server(workspace: Workspace, process: str | None) -> tuple[str, int] | None:
    """Return the agent of the open session of the same process, and which holder of its name."""
    agent = find_agent_of_process(workspace, process)
    if agent is None or agent.has_ended or not _is_in_session(agent.member):
        return None
    return agent.name, agent.epoch


def next_name_for_server(workspace: Workspace, process: str | None) -> str | None:
    """Return the name for a server that starts again: `amber-otter-2`; None for the first one."""
    agent = find_agent_of_process(workspace, process)
    if agent is None:
        return None
    return agent_names.next_in_family(agent.name, workspace.engine.registry().agents)


def is_in_session(workspace: Workspace, name: str) -> bool:
    """Return True if hooks of a coding tool work under this name: then they end it."""
    state = read_presence(workspace)
    return _is_in_session(model.find_member(state, name))


def _is_in_session(member: Member | None) -> bool:
    return member is not None and member.session_key is not None and not member.left


# A process that a coding tool or `moot run` started: a model types here, not a person. A
# pseudo-terminal alone proves nothing: some tools give their commands one.

RUN: Final = "moot run"
_RUN_VARIABLE: Final = "MOOT_SOCKET"
_MOST_WORDS: Final = 6  # Python, its options, and the script or `-m moot`


def find_enclosing_tool(env: Mapping[str, str], pid: int) -> str | None:
    """Return the coding tool that started `pid`, by its environment or its parent processes."""
    marked = next((tool.name for tool in all_tools() if any(map(env.get, tool.marks))), None)
    if marked is not None:
        return marked
    parents = (tool_of_process(process.words) for process in list_ancestors(pid))
    return next((tool for tool in parents if tool is not None), None)


def find_enclosing_run(env: Mapping[str, str], pid: int) -> str | None:
    """Return `moot run` if one started `pid`, by its environment or its parent processes."""
    if env.get(_RUN_VARIABLE) or any(is_run(process.words) for process in list_ancestors(pid)):
        return RUN
    return None


def is_run(words: tuple[str, ...]) -> bool:
    """Return True if these words start `moot run`: as a script, a module, or through Python."""
    names = [program_name(word) for word in words[:_MOST_WORDS]]
    if "moot" not in names:
        return False
    arguments = words[names.index("moot") + 1 :]
    if "--" in arguments:
        arguments = arguments[: arguments.index("--")]
    return "run" in arguments
