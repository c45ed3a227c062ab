"""What we print: the one answer that blocks in every tool, and text for the model's context.

To allow, nothing is printed. `allow` is never answered: in Claude Code it would also skip the
user's own permission prompt.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from moot.core.quoted import OwnText
from moot.flows.tools.coding_tools import HookMoment, Tool

if TYPE_CHECKING:
    from moot.api.session import Session

ALLOW: Final = ""


def moot_command(tool: Tool, session: Session, agent: str) -> OwnText:
    """How the agent calls us: with `--as` where its environment does not name it.

    By the whole path where `moot` alone might not be found.
    """
    is_found = not tool.login_shell and _is_on_path(session.env.get("PATH", ""))
    moot = "moot" if is_found else _whole_command()
    return OwnText(moot if session.acting else f"{moot} --as {agent}")


def _is_on_path(search_path: str) -> bool:
    folders = filter(None, search_path.split(os.pathsep))
    return any(os.access(os.path.join(folder, "moot"), os.X_OK) for folder in folders)


def _whole_command() -> str:
    import shlex

    from moot.flows.tools.hook_command import moot_words

    return shlex.join(moot_words())


def block(reason: OwnText) -> str:
    """Say no: the hook's answer that blocks an edit in Claude Code, Codex and Gemini CLI, with exit
    code 0; our plugin for opencode reads it too."""
    return _encode(
        {
            "decision": "block",
            "reason": reason,
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            },
        }
    )


def context(tool: Tool, moment: HookMoment, text: OwnText) -> str:
    """Text for the model, at the start of a session or after a tool call."""
    if not text or (moment is HookMoment.START and tool.plain_start):
        return text
    output = {"hookEventName": tool.event_named(moment), "additionalContext": text}
    return _encode({"hookSpecificOutput": output})


def go_on(tool: Tool, reason: OwnText) -> str:
    """Let the model go on for one more turn, with `reason`."""
    return _encode({"decision": tool.go_on, "reason": reason}) if tool.go_on else ALLOW


def tell_person(tool: Tool, text: OwnText) -> str:
    """One line in the tool's own terminal, where it shows any; the model does not go on for it."""
    return _encode({"systemMessage": text}) if text and tool.shows_message else ALLOW


def _encode(answer: dict[str, Any]) -> str:
    import json  # most calls are allowed without a word

    return json.dumps(answer)
