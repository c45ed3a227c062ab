"""How our hooks are known in a tool's settings: by their command, or as a plugin that is whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.tools import hook_entries, install


def is_our_command(tool: str, command: str) -> bool:
    return hook_entries.is_ours(tool, command)


def is_moot_there(command: str, env: Mapping[str, str]) -> bool:
    """Can a tool with this environment start the moot that one of our commands names?"""
    return shutil.which(command.split()[0], path=env.get("PATH", os.defpath)) is not None


def is_our_plugin(path: Path, guarded: GuardedPaths) -> bool:
    """By its name, though it may be damaged; or by its text, wherever it lies."""
    return install.is_plugin(str(path)) or is_whole_plugin(path, guarded)


def is_whole_plugin(path: Path, _guarded: GuardedPaths) -> bool:
    try:
        return path.read_text("utf-8") == install.plugin_text()
    except (OSError, ValueError):
        return False
