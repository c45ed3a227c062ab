"""opencode: the ways in which it goes on without our plugin."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from moot.flows.launch.guard_case import GuardCase, Problem
from moot.flows.launch.our_hooks import is_our_plugin, is_whole_plugin
from moot.flows.launch.tool_settings import Layer, is_switched_on, opencode_plugin_files
from moot.flows.tools.hook_health import why_not_loaded


def opencode_flag(case: GuardCase) -> Iterator[Problem]:
    if case.start.has_flag("--pure"):
        yield "--pure makes opencode load no plugins", "--pure", "leave out --pure"
    if is_switched_on(case.start.env.get("OPENCODE_PURE")):
        yield (
            "OPENCODE_PURE makes opencode load no plugins",
            "OPENCODE_PURE",
            "`unset OPENCODE_PURE`",
        )


def opencode_plugin(case: GuardCase) -> Iterator[Problem]:
    """A plugin that is missing or does not load is skipped without a word."""
    named = [path for layer in case.start.layers for path in _plugins_of(layer)]
    ours = [path for path in named if is_our_plugin(path, case.guarded)]
    placed = opencode_plugin_files(case.start.started, case.start.folder)
    ours += [path for path in placed if is_our_plugin(path, case.guarded)]
    if not ours:
        yield "opencode would load no plugin of ours", str(case.start.folder), case.mend()
    for path in dict.fromkeys(ours):
        if not path.is_file():
            yield "our plugin is not there: opencode goes on without it", str(path), case.mend()
        elif not is_whole_plugin(path, case.guarded):
            yield "the plugin is not the one that this moot installs", str(path), case.mend()
        elif problem := why_not_loaded(path, case.start.env):
            yield f"our plugin does not load: {problem}", str(path), case.mend()


def _plugins_of(layer: Layer) -> Iterator[Path]:
    """The files that a layer names as plugins, counted from the folder it is in."""
    listed = layer.document.get("plugin")
    for item in listed if isinstance(listed, list) else ():
        name = item[0] if isinstance(item, list) and item else item
        if isinstance(name, str):
            plain = unquote(name.removeprefix("file://")) if name.startswith("file://") else name
            yield Path(os.path.normpath(Path(layer.path).parent / plain))
