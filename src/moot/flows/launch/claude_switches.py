"""Claude Code: the ways in which it goes on without our hook."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from moot.flows.launch.guard_case import GuardCase, Problem
from moot.flows.launch.tool_settings import MANAGED, is_switched_on, read_tool_start


def claude_flag(case: GuardCase) -> Iterator[Problem]:
    for flag in ("--bare", "--safe-mode"):
        if case.start.has_flag(flag):
            yield f"{flag} makes Claude Code run no hooks", flag, f"leave out {flag}"
    for name in ("CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"):
        if is_switched_on(case.start.env.get(name)):
            yield f"{name} makes Claude Code run no hooks", name, f"`unset {name}`"


def claude_settings(case: GuardCase) -> Iterator[Problem]:
    for layer in case.start.layers:
        if layer.document.get("disableAllHooks") is True:
            yield (
                "Claude Code's hooks are switched off there",
                layer.path,
                f'remove "disableAllHooks" from {layer.path}',
            )
        if layer.scope == MANAGED and layer.document.get("allowManagedHooksOnly") is True:
            yield (
                "only hooks of the machine's administrator run in Claude Code",
                layer.path,
                "ask whoever manages this machine to allow them",
            )


def claude_sources(case: GuardCase) -> Iterator[Problem]:
    """`--setting-sources user` leaves out the files in which our hook stands."""
    given = case.start.values_of("--setting-sources")
    if not given or case.with_ours:
        return
    arguments = _without_option(case.start.started.arguments, "--setting-sources")
    every = msgspec.structs.replace(case.start.started, arguments=arguments)
    found = GuardCase(read_tool_start(every), case.guarded).with_ours
    if found:
        yield (
            f"--setting-sources {given[-1]} leaves out {found[0].path}, where the hooks are",
            "--setting-sources",
            f"add {found[0].scope} to --setting-sources",
        )


def _without_option(words: tuple[str, ...], name: str) -> tuple[str, ...]:
    kept, skip = [], False
    for word in words:
        if not skip and word.partition("=")[0] != name:
            kept.append(word)
        skip = not skip and word == name
    return tuple(kept)
