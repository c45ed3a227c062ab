"""The coding tools, one row each: their events, their edit tools, and where the paths stand.

Everything that differs between tools is in this table, measured on the real ones; a tool that
renames an event or a field is mended here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec


class HookMoment(StrEnum):
    """When a tool calls us. Only before an edit can anything be stopped."""

    BEFORE = "before"
    AFTER = "after"
    START = "start"
    STOP = "stop"
    END = "end"


class Tool(msgspec.Struct, frozen=True):
    """`edits`, `patches` and `shells` map a tool's own tool names to the field that matters.

    `plain_start`: text for the model is plain stdout at the start of a session, else JSON.
    `go_on`: the decision that makes the model go on instead of stopping; empty if there is none.
    `tells_failure`: a call that failed has an event of its own, or none at all.
    `tells_before`: text for the model can be passed with an edit that is allowed.
    """

    name: str
    events: Mapping[str, HookMoment]
    edits: Mapping[str, str]
    patches: Mapping[str, str]
    shells: Mapping[str, str]
    plain_start: bool
    go_on: str
    tells_failure: bool = False
    tells_before: bool = False

    def event_named(self, moment: HookMoment) -> str:
        return next(name for name, known in self.events.items() if known is moment)


FAILURE: Final = "PostToolUseFailure"
_COMMON: Final = {
    "PreToolUse": HookMoment.BEFORE,
    "PostToolUse": HookMoment.AFTER,
    FAILURE: HookMoment.AFTER,
    "SessionStart": HookMoment.START,
    "Stop": HookMoment.STOP,
    "SessionEnd": HookMoment.END,
}
_FILES: Final = {
    "Write": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}

CLAUDE: Final = Tool(
    name="claude",
    events=_COMMON,
    edits=_FILES,
    patches={},
    shells={"Bash": "command"},
    plain_start=True,
    go_on="block",
    tells_failure=True,
    tells_before=True,
)
CODEX: Final = Tool(
    name="codex",
    events=_COMMON,
    edits=_FILES,
    patches={"apply_patch": "command"},
    shells={"Bash": "command"},
    plain_start=True,
    go_on="block",
    tells_before=True,
)
GEMINI: Final = Tool(
    name="gemini",
    events={
        "BeforeTool": HookMoment.BEFORE,
        "AfterTool": HookMoment.AFTER,
        "SessionStart": HookMoment.START,
        "AfterAgent": HookMoment.STOP,
        "SessionEnd": HookMoment.END,
    },
    edits={"write_file": "file_path", "replace": "file_path"},
    patches={},
    shells={"run_shell_command": "command"},
    plain_start=False,
    go_on="deny",
)
# The plugin is ours, so its events carry the common names; the tool names are opencode's.
OPENCODE: Final = Tool(
    name="opencode",
    events=_COMMON,
    edits={"write": "filePath", "edit": "filePath", "multiedit": "filePath"},
    patches={"apply_patch": "patchText", "patch": "patchText"},
    shells={"bash": "command"},
    plain_start=False,
    go_on="",
    tells_failure=True,
)

TOOLS: Final[Mapping[str, Tool]] = {tool.name: tool for tool in (CLAUDE, CODEX, GEMINI, OPENCODE)}
