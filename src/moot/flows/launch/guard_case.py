"""What is asked before a tool starts: this tool, started so, and where our hooks stand for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from shlex import join, quote
from typing import Any, Final

import msgspec

from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.launch.our_hooks import is_our_command
from moot.flows.launch.tool_settings import Layer, ToolStart
from moot.flows.tools import json_settings
from moot.flows.tools.coding_tools import TOOLS, HookMoment

UNTRUSTED: Final = "hook_untrusted"
MISSING: Final = "hook_missing"
OFF: Final = "hook_switched_off"
OTHER_FOLDER: Final = "hook_other_folder"
BROKEN: Final = "hook_plugin_broken"

# What is wrong, where, and what mends it.
Problem = tuple[str, str | None, str]
Check = Callable[["GuardCase"], Iterator[Problem]]


class GuardCase(msgspec.Struct, frozen=True):
    """A tool that is about to start, and the worktree whose guard it should run into."""

    start: ToolStart
    guarded: GuardedPaths

    @property
    def tool(self) -> str:
        return self.start.started.tool

    @property
    def with_ours(self) -> list[Layer]:
        """The layers in which the tool finds our hook before an edit."""
        return [layer for layer in self.start.layers if self.commands_in(layer)]

    def commands_in(self, layer: Layer) -> list[str]:
        """Our commands that a layer runs before an edit."""
        event = TOOLS[self.tool].event_named(HookMoment.BEFORE)
        commands = json_settings.commands(dict(layer.document), event)
        return [command for command in commands if is_our_command(self.tool, command)]

    def mend(self, *options: str) -> str:
        """The command that installs our hooks for this very start."""
        words = ["moot", "hook", "install", self.tool, *options]
        home = self.start.env.get("CODEX_HOME") if self.tool == "codex" else None
        setting = f"CODEX_HOME={quote(home)} " if home else ""
        place = f"cd {quote(str(self.start.folder))} && " if self.is_elsewhere else ""
        return f"`{place}{setting}{join(words)}`"

    @property
    def is_elsewhere(self) -> bool:
        """True if the tool would work outside of the worktree that is guarded."""
        root = self.guarded.worktree_root
        return self.start.folder != root and root not in self.start.folder.parents


def table_in(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A table of settings; empty if there is none of that name."""
    found = document.get(name)
    return found if isinstance(found, dict) else {}
