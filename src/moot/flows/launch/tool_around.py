"""Is a coding tool around this process? Then whoever types here is a model, not a person.

Tools put marks into the environment of what they start, and stand among the processes above it. A
pseudo-terminal alone proves nobody: some tools give their commands one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.flows.launch.silent_tools import tool_of_process
from moot.system.process_tree import list_ancestors

MARKS: Final[Mapping[str, str]] = {
    "CLAUDECODE": "claude",
    "CLAUDE_CODE_SESSION_ID": "claude",
    "CLAUDE_CODE_ENTRYPOINT": "claude",
    "CODEX_SESSION_ID": "codex",
    "CODEX_THREAD_ID": "codex",
    "CODEX_SANDBOX": "codex",
    "GEMINI_CLI": "gemini",
    "OPENCODE": "opencode",
}


def find_tool_around(env: Mapping[str, str], pid: int) -> str | None:
    """The coding tool that `pid` runs below, by its environment or by the processes above."""
    marked = next((tool for mark, tool in MARKS.items() if env.get(mark)), None)
    if marked is not None:
        return marked
    above = (tool_of_process(process.words) for process in list_ancestors(pid))
    return next((tool for tool in above if tool is not None), None)
