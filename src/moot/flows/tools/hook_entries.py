"""What we put into each tool's settings: events, matchers, commands, timeouts.

Measured: with `|| { ...; exit 2; }` a crash or a missing `moot` blocks an edit in all three tools;
at any other moment that form would make Gemini CLI loop or drop results, so it is `|| true` there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from moot.flows.tools.coding_tools import TOOLS, HookMoment


class Settings(NamedTuple):
    """One tool that is set up by JSON: the file, what its edit tools match, its unit of time."""

    tool: str
    file: str
    matcher: str
    timeout: int
    events: tuple[str, ...]


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
            ),
        ),
        Settings(
            "codex",
            ".codex/hooks.json",
            "apply_patch|Bash",
            10,
            ("PreToolUse", "PostToolUse", "SessionStart", "Stop", "SessionEnd", "SubagentStop"),
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


def entries(settings: Settings) -> dict[str, list[dict[str, Any]]]:
    """Event -> what is added to it."""
    return {event: [_entry(settings, event)] for event in settings.events}


def command(tool: str, event: str) -> str:
    """Closed before an edit, open at every other moment."""
    if TOOLS[tool].events[event] is HookMoment.BEFORE:
        return f"moot hook {tool} || {{ echo 'moot hook failed' >&2; exit 2; }}"
    return f"moot hook {tool} || true"


def is_ours(tool: str, command: str) -> bool:
    """Every command we ever installed for a tool begins so."""
    return command.split()[:3] == ["moot", "hook", tool]


def _entry(settings: Settings, event: str) -> dict[str, Any]:
    handler = {
        "type": "command",
        "command": command(settings.tool, event),
        "timeout": settings.timeout,
    }
    matched = TOOLS[settings.tool].events[event] in _MATCHED
    return {**({"matcher": settings.matcher} if matched else {}), "hooks": [handler]}
