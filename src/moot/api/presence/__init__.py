"""Presence: names that may sign here, what they hold, and what they tell each other.

    admitting.py       admitting a person whose key lies on another machine
    agenda.py          what is due, for whom, by when; and what happens when it is late
    agent_facts.py     what lists say of a name beside the registry: its family, tool and work,
                       and how alive it is
    agent_keys.py      A new key for a name, and the end of one that leaked or was lost
    agents.py          agents and people: the names that may sign here, and how alive they are
    arrival.py         coming and going: a name with its key, and the agent that works under it
    config.py          settings of the workspace that stand in its record: read by everyone, set
                       by people alone
    events.py          events between agents: work passed on, help asked for, and what became of
                       it
    exited_agents.py   has its process exited? Then its session is ended, and what it held is
                       free
    joining.py         joining the work in a repository: under a new name, or going on as an
                       earlier session
    observation.py     looking at presence now: the time, and the signs of life that were proved
    plans.py           the shared plan of a piece of work: one signed page that its agents read
                       and amend
    prompt.py          A few numbers for the prompt of a shell: quick, and silent where there is
                       nothing to say
    scopes.py          scopes: files and folders that one agent at a time works on
    starting_names.py  which name a `moot run` starts under if somebody was called that before
    status.py          one screen: who is here, who holds what, what is due, and how the record
                       stands
    tool_processes.py  who works below one process of a coding tool: its hooks and its MCP
                       server are one agent

What `moot run` offers to programs is also found here: `moot.api.presence.present`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from moot.runner.moot_run import Ran as Ran
    from moot.runner.moot_run import in_tool_session as in_tool_session
    from moot.runner.moot_run import present as present
    from moot.runner.moot_run import present_in_tool as present_in_tool
    from moot.runner.moot_run import run as run

_EXPORTED = {"Ran", "in_tool_session", "present", "present_in_tool", "run"}


def __getattr__(name: str) -> Any:
    if name not in _EXPORTED:
        raise AttributeError(f"module 'moot.api.presence' has no attribute {name!r}")
    return getattr(import_module("moot.runner.moot_run"), name)
