"""Everything specific to one coding tool: a module for each tool, with its `TOOL`.

    claude.py          Claude Code: hooks in its JSON settings, a skill, and servers in a file
                       of the project
    codex.py           Codex: hooks in a JSON file of their own, servers in TOML
    gemini.py          Gemini CLI: hooks and servers in its JSON settings, which it reads in
                       trusted folders only
    hook_command.py    the command line that a tool runs at each of its events, as it is in
                       the tool's settings
    json_settings.py   merges our entries into other tools' JSON settings, and keeps theirs
                       in order
    opencode.py        opencode: a plugin of ours that its settings name, and servers in the
                       same settings
    server_entries.py  the entry that tells a coding tool to start `moot mcp`, in settings that
                       are JSON
    settings.py        hooks in a tool's settings: where they go, how they are installed and
                       removed, whether they are complete
    started_tools.py   which coding tools a command line starts: behind wrappers, package
                       runners, shells and links
    starts.py          a coding tool that is about to start: the settings that it loads, and
                       whether our hook will run
    tool.py            the base class of a coding tool: its properties and defaults

A hook loads only the module of its own tool. To add a tool, add a module and list its name here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from moot.coding_tools.tool import CodingTool

NAMES: tuple[str, ...] = ("claude", "codex", "gemini", "opencode")
# Names of files that may hold our hooks: an edit of any other file loads no tool's module.
_CARRIERS: Final = {
    *("settings.json", "settings.local.json", "hooks.json", "config.toml"),
    *("opencode.json", "opencode.jsonc", "opencode-plugin.js"),
    *(".moot-opencode.js", "moot-opencode.js"),
}
_LOADED: Final[dict[str, CodingTool]] = {}


def find_tool(name: str) -> CodingTool:
    """Return the tool of this name; KeyError if none has it."""
    found = _LOADED.get(name)
    if found is None:
        if name not in NAMES:
            raise KeyError(name)
        from importlib import import_module

        found = _LOADED[name] = import_module(f"moot.coding_tools.{name}").TOOL
    return found


def all_tools() -> tuple[CodingTool, ...]:
    return tuple(map(find_tool, NAMES))


def is_settings_name(name: str) -> bool:
    """Return whether a file of this name, in lower case, may be one that a tool reads hooks
    from."""
    return name in _CARRIERS


def register(tool: CodingTool) -> None:
    """Add a tool that has no module here."""
    global NAMES  # noqa: PLW0603 - the one list of tools
    NAMES = (*NAMES, tool.name)
    _LOADED[tool.name] = tool
    _CARRIERS.update(name.lower() for name in tool.carriers)
