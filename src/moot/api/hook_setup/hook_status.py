"""Find the state of each tool in each worktree: installed, trusted, last hook, what is wrong."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from moot.api.guard.guarded_paths import GuardedPaths, find_guarded_folder
from moot.api.hook_setup import manual
from moot.api.hook_setup.hook_stamps import Stamp, last_stamped
from moot.api.hook_setup.install import GIT, TOOLS, find_installed
from moot.api.hook_setup.original_files import OriginalFiles
from moot.api.hook_setup.server_files import find_entry
from moot.api.hook_setup.tool_checks import ToolHooks
from moot.api.hook_setup.worktrees import all_worktrees, place_of
from moot.coding_tools import all_tools, find_tool
from moot.coding_tools.settings import (
    Reach,
    SettingsFile,
    Setup,
    accepted_forms,
    may_hold_ours,
    missing_events,
    read_document,
    settings_files,
)
from moot.coding_tools.tool import CodingTool
from moot.core.clock import SECOND, to_text
from moot.core.errors import MootError
from moot.core.findings import Breach, Finding, Rule, Severity, check_all
from moot.workspace.settings import shows_readers_holders

# Each row looks at one way in which any tool silently skips an installed hook; what only one of
# them does, its module says (`flaws`).

Breaches = Iterator[Breach]
# The tools that are set up here, each with the file that holds ours.
Setups = list[tuple[CodingTool, Setup]]


def find_problems(
    folder: Path, env: Mapping[str, str], home: Path | None = None
) -> tuple[Finding, ...]:
    """Return what keeps installed hooks from working, in the worktree around `folder`."""
    try:
        guarded = find_guarded_folder(folder, home)
    except MootError:
        guarded = None
    if guarded is None:
        return ()
    return _check(all_tools(), guarded, env)


def find_problems_of(
    tool: str, guarded: GuardedPaths, env: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Return what keeps the hooks of one tool from working in one worktree, if it has any there."""
    return _check((find_tool(tool),), guarded, env)


def _check(
    tools: Iterable[CodingTool], guarded: GuardedPaths, env: Mapping[str, str]
) -> tuple[Finding, ...]:
    setups = list(_find_setups(tools, guarded, env))
    own = (
        Finding(
            rule="hooks",
            code=flaw.code,
            message=flaw.message,
            severity=Severity.WARNING,
            where=flaw.where,
            hint=flaw.hint,
        )
        for tool, setup in setups
        for flaw in tool.flaws(setup)
    )
    return (*check_all(RULES, setups), *own, *check_all(NOTES_RULES, setups))


def _find_setups(
    tools: Iterable[CodingTool], guarded: GuardedPaths, env: Mapping[str, str]
) -> Iterator[tuple[CodingTool, Setup]]:
    place = place_of(guarded, env)
    for tool in tools:
        files = [file for file in settings_files(tool, place) if may_hold_ours(tool, file.path)]
        if files:
            whole = (file for file in files if tool.is_complete(file, place))
            file = next(whole, files[0])
            yield tool, Setup(place, file, read_document(file.path))


def no_moot(setups: Setups) -> Breaches:
    for tool, setup in setups:
        for file in sorted(tool.missing_programs(setup)):
            message = f"{file} is missing, and {tool.name} runs it: every edit is blocked"
            yield message, None, None, {"TOOL": tool.name}


def incomplete(setups: Setups) -> Breaches:
    for tool, setup in setups:
        gone = missing_events(tool, setup.file, accepted_forms(tool, setup.place))
        if gone:
            message = f"{', '.join(gone)} of {tool.name} is missing or was changed"
            yield message, str(setup.file.path), None, {"TOOL": tool.name}


def notes_hidden(setups: Setups) -> Breaches:
    for tool, setup in setups:
        mine = OriginalFiles(setup.place.workspace).files_of_this_clone()
        file = setup.place.root / tool.manual_file
        text = file.read_text("utf-8", "replace") if file in mine and file.is_file() else None
        if text is not None and not manual.is_only_ours(tool, text):
            yield "", str(file), None, {"TOOL": tool.name}


def _rule(
    code: str,
    sentence: str,
    check: Callable[[Setups], Breaches],
    hint: str,
    severity: Severity = Severity.WARNING,
) -> Rule[Setups]:
    return Rule("hooks", code, sentence, check, hint, severity)


RULES: Final[tuple[Rule[Setups], ...]] = (
    _rule(
        "hook_moot_missing",
        "moot is not where the hooks look for it: every edit is blocked",
        no_moot,
        "`moot hook install TOOL` updates its path; shared lines need it on PATH",
    ),
    _rule(
        "hook_incomplete",
        "a hook is missing",
        incomplete,
        "`moot hook install TOOL` restores it",
    ),
)
NOTES_RULES: Final[tuple[Rule[Setups], ...]] = (
    _rule(
        "hook_hides_notes",
        "git ignores these notes because of ours, and others have written there since",
        notes_hidden,
        "`moot hook install TOOL` removes ours, and git sees them again",
    ),
)


# Told; silent because settings say so; outdated because an earlier moot installed the hooks.
READING: Final = ("told", "silent", "outdated")
_UNTRUSTED: Final = "hook_untrusted"
# The command that fixes each problem; all others are fixed by installing again.
_FIXES: Final[Mapping[str, str]] = {
    _UNTRUSTED: "moot hook install {tool} --trust",
    "hook_switched_off": "${{EDITOR:-vi}} {where}",
}
_USUAL_FIX: Final = "moot hook install {tool}"


def find_tool_states(guarded: GuardedPaths, env: Mapping[str, str]) -> Iterator[ToolHooks]:
    """Yield every tool in every worktree of the repository, this one first."""
    here = guarded.worktree_root
    for root in sorted(all_worktrees(here), key=lambda root: root != here):
        for tool in TOOLS:
            yield _state_of(tool, replace(guarded, worktree_root=root), env, here)


def _state_of(tool: str, guarded: GuardedPaths, env: Mapping[str, str], here: Path) -> ToolHooks:
    root = guarded.worktree_root
    found = shutil.which(tool, path=env.get("PATH")) is not None
    file, problems = _find_installed_or_problem(tool, guarded, env)
    if file is None and not problems and found:
        problems = (_finding("hook_not_installed", f"{tool} does not ask before it edits"),)
    trusted = None
    if file is not None and _asks_for_trust(tool, file):
        trusted = all(problem.code != _UNTRUSTED for problem in problems)
    spoke = last_stamped(guarded.workspace, Stamp.HOOK_RAN, tool, root)
    server = None if tool == GIT else find_entry(find_tool(tool), guarded, env)
    flaw = None if server is None else server.flaw
    return ToolHooks(
        tool=tool,
        worktree=str(root),
        installed=file is not None,
        file=None if file is None else str(file.path),
        reach=None if file is None else str(file.reach),
        trusted=trusted,
        last_spoke_at=None if spoke is None else to_text(int(spoke * SECOND)),
        wrong=problems[0].message if problems else None,
        mend=_fix_command(tool, problems[0], root, here) if problems else None,
        found=found,
        findings=problems,
        mcp_file=None if server is None else str(server.file),
        mcp_wrong=None if flaw is None else flaw.message,
        mcp_mend=None if flaw is None else flaw.hint,
        reading=None if file is None or tool == GIT else _reading_of(tool, file, guarded, env),
    )


def _reading_of(
    tool: str, file: SettingsFile, guarded: GuardedPaths, env: Mapping[str, str]
) -> str:
    told, silent, outdated = READING
    if not shows_readers_holders(guarded.worktree_root, env):
        return silent
    return outdated if find_tool(tool).is_outdated(file, place_of(guarded, env)) else told


def _find_installed_or_problem(
    tool: str, guarded: GuardedPaths, env: Mapping[str, str]
) -> tuple[SettingsFile | None, tuple[Finding, ...]]:
    try:
        file = find_installed(tool, guarded, env)
    except MootError as error:
        return None, (_finding(error.code, str(error), error.hint or ""),)
    return file, () if tool == GIT else find_problems_of(tool, guarded, env)


def _asks_for_trust(tool: str, file: SettingsFile) -> bool:
    if tool == GIT or not find_tool(tool).needs_trust:
        return False
    return file.reach is not Reach.USER or not find_tool(tool).trusts_user_settings


def _fix_command(tool: str, problem: Finding, root: Path, here: Path) -> str:
    """Return a command that the caller can type in the current folder."""
    where = shlex.quote(problem.where or "")
    command = _FIXES.get(problem.code, _USUAL_FIX).format(tool=tool, where=where)
    is_elsewhere = root != here and command.startswith("moot")
    return f"cd {shlex.quote(str(root))} && {command}" if is_elsewhere else command


def _finding(code: str, message: str, hint: str = "") -> Finding:
    return Finding(rule="hooks", code=code, message=message, severity=Severity.WARNING, hint=hint)
