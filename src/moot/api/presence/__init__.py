"""Presence: the names that may sign here, what they hold, and the events between them.

    admitting.py       admit a person whose key is on another machine
    agenda.py          what is due, for whom and by when; applying passed time limits
    agent_facts.py     what lists show of an agent: family, tool, work, and how alive it is
    agent_keys.py      a new key for a name, and the end of one that leaked or was lost
    agents.py          agents and people: the names that may sign here
    arrival.py         register a name with its key, join, and leave
    config.py          settings that are in the record
    events.py          handing off work, asking for help, and the replies
    exited_agents.py   end sessions whose process has exited
    joining.py         join under a new name, or continue an earlier session
    observation.py     the time, verified signs of life, receivers of mail
    plans.py           the shared plan of a work item: one signed page
    prompt.py          a few numbers for the prompt of a shell
    scopes.py          files and folders that one agent at a time works on
    starting_names.py  choose the name that `moot run --name NAME` starts under
    status.py          one screen: who is here, who holds what, what is due
    tool_processes.py  the agent of a coding tool's process

The functions that `moot run` offers to programs are exported here too, such as `present`.
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
