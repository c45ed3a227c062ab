"""What we put into each tool's settings: events, matchers, timeouts.

The commands themselves are `hook_command.py`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from moot.flows.tools.coding_tools import TOOLS, HookMoment


class Settings(NamedTuple):
    """One tool that is set up by JSON: the file, what its edit tools match, its unit of time.

    `file` is the project's, `local` one beside it that is never committed, if the tool has one.
    `shorter` are events that the tool itself allows less time. `names` are what the tool shows its
    person while the hook of an event runs, where it would else show a command line. `later` are
    events that earlier lines lack: those guard all the same, and are renewed.
    """

    tool: str
    file: str
    matcher: str
    timeout: int
    events: tuple[str, ...]
    local: str | None = None
    shorter: Mapping[str, int] = {}
    names: Mapping[str, str] = {}
    later: tuple[str, ...] = ()


SETTINGS: Final[Mapping[str, Settings]] = {
    one.tool: one
    for one in (
        Settings(
            "claude",
            ".claude/settings.json",
            "Write|Edit|MultiEdit|NotebookEdit|Bash",
            10,
            (
                "PreToolUse",
                "PostToolUse",
                "PostToolUseFailure",
                "SessionStart",
                "Stop",
                "SessionEnd",
                "SubagentStop",
                "Notification",
                "ConfigChange",
            ),
            local=".claude/settings.local.json",
            later=("ConfigChange",),
        ),
        Settings(
            "codex",
            ".codex/hooks.json",
            "apply_patch|Bash",
            10,
            ("PreToolUse", "PostToolUse", "SessionStart", "Stop", "SessionEnd", "SubagentStop"),
            # Codex cuts it to that, and says so at every start.
            shorter={"SessionEnd": 3},
            names={
                "PreToolUse": "moot: may this be edited?",
                "PostToolUse": "moot: what was changed",
                "SessionStart": "moot: who else is here",
                "Stop": "moot: what waits",
                "SessionEnd": "moot: leaving",
                "SubagentStop": "moot: a sub-agent ends",
            },
        ),
        Settings(
            "gemini",
            ".gemini/settings.json",
            "write_file|replace|run_shell_command",
            10_000,
            ("BeforeTool", "AfterTool", "SessionStart", "AfterAgent", "SessionEnd"),
        ),
    )
}

_MATCHED: Final = frozenset({HookMoment.BEFORE, HookMoment.AFTER})


def entries(settings: Settings, command: Callable[[str], str]) -> dict[str, list[dict[str, Any]]]:
    """Event -> what is added to it; `command` is given the event."""
    return {event: [_entry(settings, event, command(event))] for event in settings.events}


def _entry(settings: Settings, event: str, command: str) -> dict[str, Any]:
    handler: dict[str, Any] = {
        "type": "command",
        "command": command,
        "timeout": settings.shorter.get(event, settings.timeout),
    }
    if event in settings.names:
        handler["statusMessage"] = settings.names[event]
    matcher = matcher_of(settings, event)
    return {**({} if matcher is None else {"matcher": matcher}), "hooks": [handler]}


def matcher_of(settings: Settings, event: str) -> str | None:
    """Which calls of the tool an event is for; after them also those that only read."""
    tool = TOOLS[settings.tool]
    if tool.events[event] not in _MATCHED:
        return None
    is_end = event == tool.event_named(HookMoment.AFTER)  # one that failed has shown nothing
    return "|".join((settings.matcher, *(tool.reads if is_end else ())))
