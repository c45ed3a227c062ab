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
    """When a tool calls us. Only an edit, and a change of settings, can be stopped."""

    BEFORE = "before"
    AFTER = "after"
    START = "start"
    STOP = "stop"
    END = "end"
    SUB_AGENT_END = "sub_agent_end"
    ASKS_PERSON = "asks_person"
    CONFIG_CHANGE = "config_change"


class Rewriting(StrEnum):
    """What a tool makes of a path before it opens the file.

    The hook is asked about the path as the model wrote it, so it claims what the tool would make
    of it as well. What each tool does was read in its published source where there is one.
    """

    TRIMMED = "trimmed"  # blanks at both ends go, letters are composed
    HOME = "home"  # `~` and `~/x`
    AT_SIGN = "at_sign"  # a leading `@`, and slashes after it, go if no such file exists
    DECODED = "decoded"  # `file://` goes and `%20` is a blank
    LOOKED_UP = "looked_up"  # a relative path that does not exist is looked for in the project


class Tool(msgspec.Struct, frozen=True):
    """`edits`, `patches` and `shells` map a tool's own tool names to the field that matters.

    `reads` does the same for tools that only show files; Codex has none, it reads by its shell.
    `plain_start`: text for the model is plain stdout at the start of a session, else JSON.
    `go_on`: the decision that makes the model go on instead of stopping; empty if there is none.
    `tells_failure`: a call that failed has an event of its own, or none at all.
    `rewritings`: what it makes of a path; those under a tool name are for that one only.
    `whole_file`: the tools that write a file whole (of patches, what they add) and may do so
    although the model has not seen what is in it. Claude Code looks itself at files that were read,
    and since 2.1.326 writes those that were not.
    `tells_before`: text for the model can be passed with an edit that is allowed.
    `shows_message`: a hook's `systemMessage` is shown to its person.
    `login_shell`: its commands run in login shells, which may have another PATH than the tool.
    """

    name: str
    events: Mapping[str, HookMoment]
    edits: Mapping[str, str]
    patches: Mapping[str, str]
    shells: Mapping[str, str]
    plain_start: bool
    go_on: str
    reads: Mapping[str, str] = {}
    tells_failure: bool = False
    tells_before: bool = False
    shows_message: bool = False
    login_shell: bool = False
    whole_file: frozenset[str] = frozenset()
    rewritings: tuple[Rewriting, ...] = (Rewriting.HOME,)
    rewritings_of: Mapping[str, tuple[Rewriting, ...]] = {}

    def rewritings_for(self, name: str) -> tuple[Rewriting, ...]:
        return (*self.rewritings, *self.rewritings_of.get(name, ()))

    def event_named(self, moment: HookMoment) -> str:
        return next(name for name, known in self.events.items() if known is moment)


FAILURE: Final = "PostToolUseFailure"
# The session of `moot hook test`: it is only ever refused, and leaves no trace.
TEST_SESSION: Final = "moot-hook-test"
READING_HEARD: Final = "moot: this reading was heard of"  # what it is told
_COMMON: Final = {
    "PreToolUse": HookMoment.BEFORE,
    "PostToolUse": HookMoment.AFTER,
    FAILURE: HookMoment.AFTER,
    "SessionStart": HookMoment.START,
    "Stop": HookMoment.STOP,
    "SessionEnd": HookMoment.END,
    "SubagentStop": HookMoment.SUB_AGENT_END,
}
_FILES: Final = {
    "Write": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}

CLAUDE: Final = Tool(
    name="claude",
    events={
        **_COMMON,
        "Notification": HookMoment.ASKS_PERSON,
        "ConfigChange": HookMoment.CONFIG_CHANGE,
    },
    edits=_FILES,
    patches={},
    shells={"Bash": "command"},
    reads={"Read": "file_path"},
    plain_start=True,
    go_on="block",
    tells_failure=True,
    tells_before=True,
    shows_message=True,
    whole_file=frozenset({"Write"}),
    # Its source is not public. Hooks see absolute paths; both are claimed to be on the safe side.
    rewritings=(Rewriting.TRIMMED, Rewriting.HOME),
)
CODEX: Final = Tool(
    name="codex",
    events=_COMMON,
    edits=_FILES,
    patches={"apply_patch": "command"},
    shells={"Bash": "command"},
    plain_start=True,
    go_on="block",
    whole_file=frozenset({"apply_patch", "Bash"}),
    tells_before=True,
    shows_message=True,
    login_shell=True,
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
    reads={"read_file": "file_path"},
    plain_start=False,
    go_on="deny",
    shows_message=True,
    # Since June 2026: `resolveDefensiveToolPath`, then `resolveToRealPath`; `replace` first asks
    # `correctPath`, which looks through at most 50 folders and needs exactly one match.
    # Whether it strips blanks at the ends was not seen: both readings are claimed.
    rewritings=(Rewriting.TRIMMED, Rewriting.HOME, Rewriting.AT_SIGN, Rewriting.DECODED),
    rewritings_of={"replace": (Rewriting.LOOKED_UP,)},
    whole_file=frozenset({"write_file"}),
)
# The plugin is ours, so its events carry the common names; the tool names are opencode's.
OPENCODE: Final = Tool(
    name="opencode",
    events=_COMMON,
    edits={"write": "filePath", "edit": "filePath", "multiedit": "filePath"},
    patches={"apply_patch": "patchText", "patch": "patchText"},
    shells={"bash": "command"},
    reads={"read": "filePath"},
    plain_start=False,
    go_on="",
    tells_failure=True,
    whole_file=frozenset({"write", "apply_patch", "patch", "bash"}),
)

TOOLS: Final[Mapping[str, Tool]] = {tool.name: tool for tool in (CLAUDE, CODEX, GEMINI, OPENCODE)}
