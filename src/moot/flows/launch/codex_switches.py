"""Codex: the ways in which it goes on without our hook. It skips untrusted hooks without a word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any, Final

from moot.core.errors import MootError
from moot.flows.launch.guard_case import GuardCase, Problem, table_in
from moot.flows.launch.tool_settings import PROJECT, Layer, codex_home, main_checkout
from moot.flows.tools import tool_trust
from moot.workspace.find import worktree_root

_FEATURES: Final = ("hooks", "codex_hooks")
_BYPASS: Final = "--dangerously-bypass-hook-trust"
_SET_OFF: Final = re.compile(r"features\.(?:codex_)?hooks\s*=\s*[\"']?false")
_TABLE_OFF: Final = re.compile(r"features\s*=\s*\{.*\b(?:codex_)?hooks\s*=\s*false")
_PROJECT_OFF: Final = re.compile(r"projects\..*trust_level\s*=\s*[\"']?untrusted")


def codex_switched_off(case: GuardCase) -> Iterator[Problem]:
    for name in case.start.values_of("--disable"):
        if name in _FEATURES:
            yield "hooks are switched off by --disable", "--disable", f"leave out --disable {name}"
    for text in case.start.values_of("-c", "--config"):
        if _SET_OFF.match(text) or _TABLE_OFF.match(text):
            yield "hooks are switched off by -c", "-c", f"leave out -c {quote(text)}"
    if set(case.start.values_of("--enable")) & set(_FEATURES):
        return
    profiles = case.start.values_of("-p", "--profile")
    for layer in case.start.layers:
        for table in (layer.document, *(_profile(layer, name) for name in profiles)):
            features = table_in(table, "features")
            off = [name for name in _FEATURES if features.get(name) is False]
            for name in off:
                yield (
                    f"Codex's hooks are switched off there: features.{name} = false",
                    layer.path,
                    f"remove `{name} = false` from {layer.path}",
                )


def _profile(layer: Layer, name: str) -> Mapping[str, Any]:
    return table_in(table_in(layer.document, "profiles"), name)


def codex_project_untrusted(case: GuardCase) -> Iterator[Problem]:
    """Codex runs no hooks of a project that its user marked, even with the flag that skips trust.

    Hooks in the user's own settings run there.
    """
    if any(layer.scope != PROJECT for layer in case.with_ours):
        return
    for text in case.start.values_of("-c", "--config"):
        if _PROJECT_OFF.match(text):
            yield "-c marks the project as untrusted", "-c", f"leave out -c {quote(text)}"
    root = worktree_root(case.start.folder) or case.start.folder
    for layer in case.start.layers:
        for folder in dict.fromkeys((str(root), str(main_checkout(root)))):
            level = table_in(table_in(layer.document, "projects"), folder).get("trust_level")
            if level == "untrusted":
                yield (
                    f"Codex's user has marked {folder} as untrusted: its hooks do not run",
                    layer.path,
                    f'set trust_level = "trusted" for it in {layer.path}',
                )


def codex_untrusted(case: GuardCase) -> Iterator[Problem]:
    """Codex is asked which hooks it sees and trusts; if it does not answer, its file is read."""
    skips_trust = case.start.has_flag(_BYPASS)
    started = case.start.started
    try:
        hooks = tool_trust.codex_hooks(case.start.folder, started.env, started.command)
    except MootError:
        if not skips_trust:
            yield from _codex_by_file(case)
        return
    if not hooks:
        yield (
            "Codex does not see the hooks: it does not trust the project",
            str(case.start.folder),
            case.mend("--trust"),
        )
    skipped = [hook for hook in hooks if hook.status not in ("trusted", "managed")]
    if skipped and not skips_trust:
        yield (
            f"Codex skips {len(skipped)} of our hooks without a word: they are not trusted",
            skipped[0].key.partition(":")[0],
            case.mend("--trust"),
        )


def _codex_by_file(case: GuardCase) -> Iterator[Problem]:
    layers = [layer for layer in case.start.layers if layer.path.endswith("config.toml")]
    own = str(codex_home(case.start.env))
    states = [
        table_in(table_in(layer.document, "hooks"), "state")
        for layer in layers
        if layer.path.startswith(own)
    ]
    known = [key for state in states for key in state]
    for layer in case.with_ours:
        if not any(key.startswith(f"{layer.path}:pre_tool_use:") for key in known):
            yield "Codex has no trust in our hooks on file", layer.path, case.mend("--trust")
