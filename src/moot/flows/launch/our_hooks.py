"""How our hooks are known in a tool's settings: by their command, or as a plugin that is whole."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.tools import hook_command, hook_files, opencode_plugin


def is_our_command(tool: str, command: str) -> bool:
    return hook_command.is_ours(tool, command)


def is_moot_there(command: str, env: Mapping[str, str]) -> bool:
    """Can a tool with this environment start the moot that one of our commands names?"""
    return hook_command.missing_file(command, env.get("PATH", os.defpath)) is None


def is_our_plugin(path: Path, guarded: GuardedPaths) -> bool:
    """By its name, though it may be damaged; or by its text, wherever it lies."""
    return opencode_plugin.is_ours(str(path)) or is_whole_plugin(path, guarded)


def is_whole_plugin(path: Path, guarded: GuardedPaths) -> bool:
    texts = hook_files.our_plugin_texts(guarded)
    return any(hook_files.is_same_plugin(path, text) for text in texts)
