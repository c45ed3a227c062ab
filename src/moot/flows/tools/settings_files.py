"""Which settings files a tool reads, how far each reaches, and into which of them our hooks go.

Into the tool's local file, which is never committed; a tool that has none gets it into the
project's file, which git is then told to ignore here. Where that file is already in git, it goes to
the user's own settings instead: those serve every project, and say nothing where there is no
workspace.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from moot.core.errors import Refused, Unavailable
from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.tools.hook_entries import SETTINGS
from moot.flows.tools.worktrees import is_tracked, main_checkout

OPENCODE_FILE: Final = "opencode.json"


class Reach(StrEnum):
    """Whom a settings file serves."""

    LOCAL = "local"
    PROJECT = "project"
    USER = "user"


class SettingsFile(NamedTuple):
    """A file in which our hooks may stand."""

    path: Path
    reach: Reach


class _UserFile(NamedTuple):
    """A tool's per-user settings: a variable that names their folder, else where it is."""

    variable: str
    below_variable: str
    below_home: str


_USER_FILES: Final[Mapping[str, _UserFile]] = {
    "claude": _UserFile("CLAUDE_CONFIG_DIR", "settings.json", ".claude/settings.json"),
    "codex": _UserFile("CODEX_HOME", "hooks.json", ".codex/hooks.json"),
    "gemini": _UserFile("", "", ".gemini/settings.json"),
    "opencode": _UserFile(
        "XDG_CONFIG_HOME", "opencode/opencode.json", ".config/opencode/opencode.json"
    ),
}


def settings_files(
    tool: str, guarded: GuardedPaths, env: Mapping[str, str]
) -> tuple[SettingsFile, ...]:
    """Every file that the tool reads in this worktree, the nearest first."""
    settings = SETTINGS.get(tool)
    local = settings.local if settings is not None else None
    files = [] if local is None else [SettingsFile(guarded.worktree_root / local, Reach.LOCAL)]
    files.append(SettingsFile(project_file(tool, guarded), Reach.PROJECT))
    if (user := _user_file(tool, env)) is not None:
        files.append(SettingsFile(user, Reach.USER))
    return tuple(files)


def project_file(tool: str, guarded: GuardedPaths) -> Path:
    """The file that can be committed."""
    file = OPENCODE_FILE if tool == "opencode" else SETTINGS[tool].file
    return settings_root(tool, guarded) / file


def settings_root(tool: str, guarded: GuardedPaths) -> Path:
    """The worktree whose settings the tool reads: Codex reads the main checkout's in each."""
    return main_checkout(guarded.worktree_root) if tool == "codex" else guarded.worktree_root


def choose_settings_file(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> SettingsFile:
    """Where new hooks go; Unavailable if that would be a home folder that nobody named."""
    nearest = settings_files(tool, guarded, env)[0]
    if not is_tracked(nearest.path, settings_root(tool, guarded)):
        return nearest
    user = _user_file(tool, env)
    if user is None:
        raise Unavailable(
            "no_home",
            f"{nearest.path} is in git, so it is not touched, and HOME names no folder instead",
            hint=f"set HOME, or let everyone have the hooks: `moot hook install {tool} --share`",
        )
    return SettingsFile(user, Reach.USER)


def require_own_root(folder: Path, guarded: GuardedPaths, own_root: Path | None) -> None:
    """Refused inside a repository of its own that another project guards: tools that are started
    there read that repository's settings, not the project's."""
    if own_root is None or own_root.resolve() == guarded.worktree_root.resolve():
        return
    raise Refused(
        "inner_repository",
        f"{own_root} is a repository of its own inside {guarded.worktree_root}: a tool that is"
        f" started in {folder} does not read the settings of the project around it",
        hint=f"cd {guarded.worktree_root}",
    )


def _user_file(tool: str, env: Mapping[str, str]) -> Path | None:
    wanted = _USER_FILES[tool]
    if wanted.variable and env.get(wanted.variable):
        return Path(env[wanted.variable]) / wanted.below_variable
    home = env.get("HOME")
    return Path(home) / wanted.below_home if home else None
