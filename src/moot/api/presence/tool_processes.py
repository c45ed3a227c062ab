"""Who works below one process of a coding tool: its hooks and its MCP server are one agent.

Whichever comes first joins with the key of the tool's process; the other finds it there. A process
may hold several sessions one after the other, so an agent is shared only while nothing else claims
it: hooks take over what a living server has joined as, a server what a session works as now.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from moot.api.session import read_presence
from moot.coding_tools import all_tools
from moot.coding_tools.started_tools import program_name, tool_of_process
from moot.core.registry.model import Agent
from moot.keys.running_names import is_running
from moot.protocols.presence import agent_names, model
from moot.protocols.presence.model import Member
from moot.system.process_tree import list_ancestors
from moot.workspace.workspace import Workspace

_SESSIONS = "presence.sessions"  # index space: a session's or a process's key -> _Joined


class _Joined(msgspec.Struct, frozen=True):
    agent: str
    epoch: int


class AgentOfProcess(NamedTuple):
    """The last agent that joined below a process, and how it stands."""

    name: str
    epoch: int
    member: Member | None
    ended: bool


def find_agent_of_process(workspace: Workspace, process: str | None) -> AgentOfProcess | None:
    """Who joined last with the key of this process; None if nobody did."""
    if process is None:
        return None
    with workspace.store.read() as view:
        row = view.row(_SESSIONS, process)
    if row is None:
        return None
    joined = msgspec.json.decode(row.value, type=_Joined)
    registry = workspace.engine.registry()
    agent: Agent | None = registry.agents.get(joined.agent)
    replaced = agent is None or agent.epoch != joined.epoch
    ended = agent is None or replaced or registry.keys[agent.kid].ending is not None
    member = model.find_member(read_presence(workspace), joined.agent)
    return AgentOfProcess(joined.agent, joined.epoch, member, ended)


def agent_for_hooks(workspace: Workspace, process: str | None) -> str | None:
    """The agent that a living server below the same process has joined as, if no session has it."""
    below = find_agent_of_process(workspace, process)
    if below is None or below.ended or below.member is None:
        return None
    if below.member.session_key is not None and not below.member.left:
        return None
    alive = is_running(workspace.folder, workspace.trust.origin, below.name)
    return below.name if alive else None


def agent_for_server(workspace: Workspace, process: str | None) -> tuple[str, int] | None:
    """The agent that a session of the same process works as now, and which holder of its name."""
    below = find_agent_of_process(workspace, process)
    if below is None or below.ended or not _is_in_session(below.member):
        return None
    return below.name, below.epoch


def next_name_for_server(workspace: Workspace, process: str | None) -> str | None:
    """The name for a server that comes again: `amber-otter-2`; None if it is the first."""
    below = find_agent_of_process(workspace, process)
    if below is None:
        return None
    return agent_names.next_in_family(below.name, workspace.engine.registry().agents)


def is_in_session(workspace: Workspace, name: str) -> bool:
    """Do hooks of a coding tool work under this name, so that it is theirs to end?"""
    state = read_presence(workspace)
    return _is_in_session(model.find_member(state, name))


def _is_in_session(member: Member | None) -> bool:
    return member is not None and member.session_key is not None and not member.left


# Is a coding tool or `moot run` around this process? Then a model types here, not a person.
# A pseudo-terminal alone proves nothing: some tools give their commands one.

RUN: Final = "moot run"
_MARK_OF_RUN: Final = "MOOT_SOCKET"
_MOST_WORDS: Final = 6  # Python, its options, and the script or `-m moot`


def find_enclosing_tool(env: Mapping[str, str], pid: int) -> str | None:
    """The coding tool that `pid` runs below, by its environment or by the processes above."""
    marked = next((tool.name for tool in all_tools() if any(map(env.get, tool.marks))), None)
    if marked is not None:
        return marked
    above = (tool_of_process(process.words) for process in list_ancestors(pid))
    return next((tool for tool in above if tool is not None), None)


def find_enclosing_run(env: Mapping[str, str], pid: int) -> str | None:
    """`moot run`, if `pid` runs below one: by its environment or by the processes above."""
    if env.get(_MARK_OF_RUN) or any(is_run(each.words) for each in list_ancestors(pid)):
        return RUN
    return None


def is_run(words: tuple[str, ...]) -> bool:
    """True for a process that is `moot run`, as a script, a module, or behind its Python."""
    names = [program_name(word) for word in words[:_MOST_WORDS]]
    if "moot" not in names:
        return False
    behind = words[names.index("moot") + 1 :]
    before_program = behind[: behind.index("--")] if "--" in behind else behind
    return "run" in before_program
