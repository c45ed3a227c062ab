"""Our plugin for opencode: its text, where it lies, and how settings name it.

For this user's project it lies in the workspace; for settings that serve all projects, in the key
folder; one that everyone gets lies beside the project's settings. It runs the same command line
that the other tools have in their settings.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.tools.settings_files import Reach

NAME: Final = "opencode-plugin.js"
SHARED: Final = ".moot-opencode.js"
USERS: Final = "moot-opencode.js"
_BEFORE: Final = 'const BEFORE = ""\n'
_OTHERWISE: Final = 'const OTHERWISE = ""\n'


def text(command: Callable[[str], str]) -> str:
    """The plugin that runs these commands; `command` is given the event."""
    source = Path(__file__).with_name(NAME).read_text("utf-8")
    before, otherwise = command("PreToolUse"), command("PostToolUse")
    source = source.replace(_BEFORE, f"const BEFORE = {json.dumps(before)}\n")
    return source.replace(_OTHERWISE, f"const OTHERWISE = {json.dumps(otherwise)}\n")


def place(guarded: GuardedPaths, reach: Reach, env: Mapping[str, str]) -> Path:
    if reach is Reach.USER:
        from moot.workspace.workspace import key_folder  # a hook has no use for all of it

        return key_folder(env).path / "hooks" / USERS
    return guarded.workspace / NAME


def entry(plugin: Path, settings: Path) -> str:
    """As a settings file names it: by a relative path only below its own folder."""
    below = plugin.is_relative_to(settings.parent)
    return f"./{plugin.relative_to(settings.parent).as_posix()}" if below else str(plugin)


def named(document: Mapping[str, Any], settings: Path) -> list[Path]:
    """Plugins of ours that a settings file lists."""
    known = document.get("plugin")
    listed = known if isinstance(known, list) else []
    ours = (one for one in listed if isinstance(one, str) and is_ours(one))
    return [Path(os.path.normpath(settings.parent / one)) for one in ours]


def is_ours(entry: str) -> bool:
    """True for every entry that we ever wrote."""
    path = entry.replace("\\", "/")
    return path.endswith((f"/.moot/{NAME}", f"/hooks/{USERS}", f"/{SHARED}"))
