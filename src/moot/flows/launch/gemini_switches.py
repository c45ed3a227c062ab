"""Gemini CLI: the ways in which it goes on without our hook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from moot.flows.launch.guard_case import GuardCase, Problem, table_in
from moot.flows.launch.our_hooks import is_our_command
from moot.flows.launch.tool_settings import PROJECT
from moot.flows.tools import tool_trust


def gemini_switched_off(case: GuardCase) -> Iterator[Problem]:
    for layer in case.start.layers:
        config, tools = table_in(layer.document, "hooksConfig"), table_in(layer.document, "tools")
        if config.get("enabled") is False:
            yield (
                "Gemini CLI's hooks are switched off there: hooksConfig.enabled is false",
                layer.path,
                f'set "enabled" of "hooksConfig" to true in {layer.path}',
            )
        if tools.get("enableHooks") is False:
            yield (
                "Gemini CLI's hooks are switched off there: tools.enableHooks is false",
                layer.path,
                f'remove "enableHooks" from {layer.path}',
            )
        for name in _disabled_hooks(config):
            if is_our_command("gemini", name):
                yield (
                    "our hook is on the list of disabled ones there",
                    layer.path,
                    "`gemini hooks enable-all`",
                )


def _disabled_hooks(config: Mapping[str, Any]) -> list[str]:
    listed = config.get("disabled")
    return [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []


def gemini_untrusted(case: GuardCase) -> Iterator[Problem]:
    """Hooks of a project run only in trusted folders; those of the user run everywhere."""
    if any(layer.scope != PROJECT for layer in case.with_ours):
        return
    if case.start.has_flag("--skip-trust"):
        yield (
            "--skip-trust makes Gemini CLI run no hooks of the project",
            "--skip-trust",
            f"leave out --skip-trust; {case.mend('--trust')} trusts the folder",
        )
    elif not _gemini_trusts(case):
        yield (
            "Gemini CLI does not trust this folder: it runs none of its hooks",
            str(case.start.folder),
            case.mend("--trust"),
        )


def _gemini_trusts(case: GuardCase) -> bool:
    for layer in case.start.layers:
        trust = table_in(table_in(layer.document, "security"), "folderTrust")
        if layer.scope != PROJECT and trust.get("enabled") is False:
            return True
    return tool_trust.gemini_trusts(case.start.folder, case.start.env)
