"""Is a coding tool or `moot run` around this process? Then a model types here, not a person.

Tools put marks into the environment of what they start, and stand among the processes above it. A
pseudo-terminal alone proves nobody: some tools give their commands one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.flows.launch.program_wrappers import program_name
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
    "MOOT_SESSION": "opencode",  # its plugin's own mark
}
RUN: Final = "moot run"
_MARK_OF_RUN: Final = "MOOT_SOCKET"
_MOST_WORDS: Final = 6  # Python, its options, and the script or `-m moot`


def find_tool_around(env: Mapping[str, str], pid: int) -> str | None:
    """The coding tool that `pid` runs below, by its environment or by the processes above."""
    marked = next((tool for mark, tool in MARKS.items() if env.get(mark)), None)
    if marked is not None:
        return marked
    above = (tool_of_process(process.words) for process in list_ancestors(pid))
    return next((tool for tool in above if tool is not None), None)


def find_run_around(env: Mapping[str, str], pid: int) -> str | None:
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
