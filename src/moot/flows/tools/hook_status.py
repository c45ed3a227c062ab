"""Where each tool stands in each worktree: installed, trusted, last heard, what is wrong."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from moot.core.errors import MootError
from moot.core.findings import Finding, Severity
from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.tools.hook_files import is_outdated
from moot.flows.tools.hook_health import find_problems_of
from moot.flows.tools.hook_stamps import Stamp, last_stamped
from moot.flows.tools.install import TOOLS, find_installed
from moot.flows.tools.mcp_health import FoundEntry, find_entry
from moot.flows.tools.settings_files import Reach, SettingsFile
from moot.flows.tools.worktrees import all_worktrees
from moot.workspace.settings import tells_reading

# Told; not, because settings say so; not yet, because an earlier moot installed the hooks.
READING: Final = ("told", "silent", "outdated")
_NEEDS_TRUST: Final = frozenset({"codex", "gemini"})
_UNTRUSTED: Final = "hook_untrusted"
# What is typed against each problem; the rest is mended by installing anew.
_MENDS: Final[Mapping[str, str]] = {
    _UNTRUSTED: "moot hook install {tool} --trust",
    "hook_switched_off": "${{EDITOR:-vi}} {where}",
}
_USUAL_MEND: Final = "moot hook install {tool}"


class ToolState(NamedTuple):
    """One tool in one worktree. `spoke` is in seconds since the epoch; `found`: it is on PATH.

    `trusted` is None where the tool asks for no trust, or nothing is there to be trusted. `reading`
    is whether its model is told who holds what it reads (`READING`); None where nothing is.
    """

    tool: str
    worktree: Path
    file: SettingsFile | None
    trusted: bool | None
    spoke: float | None
    found: bool
    problems: tuple[Finding, ...]
    mend: str | None
    server: FoundEntry | None
    reading: str | None = None


def find_tool_states(guarded: GuardedPaths, env: Mapping[str, str]) -> Iterator[ToolState]:
    """Every tool in every worktree of the repository, this one first."""
    here = guarded.worktree_root
    for root in sorted(all_worktrees(here), key=lambda root: root != here):
        for tool in TOOLS:
            yield _state_of(tool, replace(guarded, worktree_root=root), env, here)


def _state_of(tool: str, guarded: GuardedPaths, env: Mapping[str, str], here: Path) -> ToolState:
    root = guarded.worktree_root
    found = shutil.which(tool, path=env.get("PATH")) is not None
    file, problems = _look(tool, guarded, env)
    if file is None and not problems and found:
        problems = (_finding("hook_not_installed", f"{tool} does not ask before it edits"),)
    trusted = None
    if tool in _NEEDS_TRUST and file is not None and not _runs_untrusted(tool, file):
        trusted = all(problem.code != _UNTRUSTED for problem in problems)
    return ToolState(
        tool,
        root,
        file,
        trusted,
        last_stamped(guarded.workspace, Stamp.SPOKE, tool, root),
        found,
        problems,
        _mend(tool, problems[0], root, here) if problems else None,
        find_entry(tool, guarded, env),
        None if file is None or tool == "git" else _reading_of(tool, file, guarded, env),
    )


def _reading_of(
    tool: str, file: SettingsFile, guarded: GuardedPaths, env: Mapping[str, str]
) -> str:
    told, silent, outdated = READING
    if not tells_reading(guarded.worktree_root, env):
        return silent
    return outdated if is_outdated(tool, file, guarded) else told


def _look(
    tool: str, guarded: GuardedPaths, env: Mapping[str, str]
) -> tuple[SettingsFile | None, tuple[Finding, ...]]:
    try:
        file = find_installed(tool, guarded, env)
    except MootError as error:
        return None, (_finding(error.code, str(error), error.hint or ""),)
    return file, () if tool == "git" else find_problems_of(tool, guarded, env)


def _runs_untrusted(tool: str, file: SettingsFile) -> bool:
    """Gemini CLI runs what stands in the user's own settings in every folder."""
    return tool == "gemini" and file.reach is Reach.USER


def _mend(tool: str, problem: Finding, root: Path, here: Path) -> str:
    """A command that can be typed where the caller stands."""
    where = shlex.quote(problem.where or "")
    command = _MENDS.get(problem.code, _USUAL_MEND).format(tool=tool, where=where)
    is_elsewhere = root != here and command.startswith("moot")
    return f"cd {shlex.quote(str(root))} && {command}" if is_elsewhere else command


def _finding(code: str, message: str, hint: str = "") -> Finding:
    return Finding(rule="hooks", code=code, message=message, severity=Severity.WARNING, hint=hint)
