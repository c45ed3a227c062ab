"""Will this tool, started so, load our hook and run it? Asked by `moot run` before it starts it.

A row for each way in which a tool goes on without hooks: a switch in its arguments, environment or
settings, missing trust, another folder, a plugin that does not load. Each finding carries what
mends it; those called `hook_untrusted` a person can mend by a yes. Hooks are looked for in the
layers that the tool reads, wherever they were installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import Final

import msgspec

from moot.core.errors import MootError
from moot.core.findings import Finding
from moot.flows.guard.guarded_paths import GuardedPaths, find_guarded_folder
from moot.flows.launch import (
    claude_switches,
    codex_switches,
    gemini_switches,
    opencode_switches,
)
from moot.flows.launch.guard_case import (
    BROKEN,
    MISSING,
    OFF,
    OTHER_FOLDER,
    UNTRUSTED,
    Check,
    GuardCase,
    Problem,
)
from moot.flows.launch.our_hooks import is_moot_there
from moot.flows.launch.started_tools import StartedTool
from moot.flows.launch.tool_settings import read_tool_start


def find_guard_problems(started: StartedTool, guarded: GuardedPaths) -> tuple[Finding, ...]:
    """What keeps our hook from running in this tool, started so; nothing if it will run.

    The first is what to mend first. Settings are read and Codex is asked; nothing is written.
    """
    case = GuardCase(read_tool_start(started), guarded)
    for code, check in (*_FIRST, *CHECKS[started.tool]):
        findings = [
            Finding(rule="hooks", code=code, message=message, where=where, hint=hint)
            for message, where, hint in check(case)
        ]
        if findings:
            return tuple(findings)
    return ()


def other_user(case: GuardCase) -> Iterator[Problem]:
    if case.start.started.is_other_user:
        yield (
            f"{case.tool} is started as another user, whose settings and keys are not these",
            None,
            "start `moot run` itself as that user",
        )


def nameless(case: GuardCase) -> Iterator[Problem]:
    """Without its name the hook would not know who acts."""
    if "MOOT_AGENT" not in case.start.env:
        yield (
            f"{case.tool} would not find its name: MOOT_AGENT is taken out of its environment",
            None,
            "leave out `env -i`, or unset single variables with `env -u NAME`",
        )


def outside(case: GuardCase) -> Iterator[Problem]:
    """A tool that is told to work elsewhere is guarded there, or not at all."""
    folder = case.start.folder
    try:
        there = find_guarded_folder(folder, None)
    except (MootError, OSError):
        there = None
    is_same = there is not None and there.workspace == case.guarded.workspace
    is_within = there is None and not case.is_elsewhere
    if not folder.is_dir() or not (is_same or is_within):
        yield (
            f"{case.tool} would work in {folder}, which this workspace does not guard",
            str(folder),
            f"`cd {quote(str(folder))} && moot init`, then `moot run` there",
        )


def moot_missing(case: GuardCase) -> Iterator[Problem]:
    """Our command fails closed: without the moot that it names nothing could be edited."""
    for layer in case.with_ours:
        commands = case.commands_in(layer)
        if not all(is_moot_there(command, case.start.env) for command in commands):
            why = "the moot that the hooks name is not there for the tool: it could edit nothing"
            yield why, layer.path, f"put moot on PATH, or {case.mend()}"


def no_hook(case: GuardCase) -> Iterator[Problem]:
    """None of the layers that it loads holds our hook."""
    if case.with_ours:
        return
    root, folder = case.guarded.worktree_root, case.start.folder
    if folder != root and _is_installed_at(case, root):
        why = f"{case.tool} reads the settings of {folder}, and the hooks are in {root}"
        yield why, str(folder), f"`cd {quote(str(root))} && moot run -- {case.tool}`"
        return
    yield f"{case.tool} would load no hook of ours", str(folder), case.mend()


def _is_installed_at(case: GuardCase, root: Path) -> bool:
    there = msgspec.structs.replace(case.start.started, folder=str(root))
    return bool(GuardCase(read_tool_start(there), case.guarded).with_ours)


_FIRST: Final[tuple[tuple[str, Check], ...]] = (
    ("hook_other_user", other_user),
    ("hook_nameless", nameless),
    (OTHER_FOLDER, outside),
)
CHECKS: Final[Mapping[str, tuple[tuple[str, Check], ...]]] = {
    "claude": (
        (OFF, claude_switches.claude_flag),
        (OFF, claude_switches.claude_settings),
        (OFF, claude_switches.claude_sources),
        (MISSING, no_hook),
        ("hook_moot_missing", moot_missing),
    ),
    "codex": (
        (OFF, codex_switches.codex_switched_off),
        (OFF, codex_switches.codex_project_untrusted),
        (MISSING, no_hook),
        (UNTRUSTED, codex_switches.codex_untrusted),
        ("hook_moot_missing", moot_missing),
    ),
    "gemini": (
        (OFF, gemini_switches.gemini_switched_off),
        (MISSING, no_hook),
        (UNTRUSTED, gemini_switches.gemini_untrusted),
        ("hook_moot_missing", moot_missing),
    ),
    "opencode": (
        (OFF, opencode_switches.opencode_flag),
        (BROKEN, opencode_switches.opencode_plugin),
    ),
}
