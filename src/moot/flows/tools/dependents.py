"""Whom it would unguard to take a tool's hooks out here: worktrees and projects that share a file.

Codex reads the main checkout's settings in every worktree, all worktrees have one folder of git
hooks, and the user's own settings serve every project.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from moot.core.errors import MootError
from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.tools import git_hook
from moot.flows.tools.hook_files import files_with_ours
from moot.flows.tools.settings_files import Reach, settings_root
from moot.flows.tools.worktrees import all_worktrees
from moot.workspace.find import FOLDER, git_common_dir
from moot.workspace.workspace import key_folder


def find_dependents(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Other folders whose sessions of `tool` rest on what would be taken out here."""
    root = guarded.worktree_root
    others = [folder for folder in all_worktrees(root) if folder != root]
    if tool == "git":
        return tuple(others) if _git_hook_is_shared(root) else ()
    files = files_with_ours(tool, guarded, env)
    settings = [file for file in files if not file.path.name.endswith(".js")]
    found: list[Path] = []
    for file in settings:
        if file.reach is Reach.USER:
            found += [*others, *_other_projects(guarded, env)]
        elif tool == "codex" and file.path.is_relative_to(settings_root(tool, guarded)):
            found += others
    return tuple(dict.fromkeys(found))


def _git_hook_is_shared(root: Path) -> bool:
    try:
        place = git_hook.place_for(root)
    except MootError:
        return False
    common = git_common_dir(root)
    in_common = common is not None and place.file.resolve().is_relative_to(common.resolve())
    return in_common and git_hook.is_present(place)


def _other_projects(guarded: GuardedPaths, env: Mapping[str, str]) -> list[Path]:
    """Folders in which this user has made a workspace that is still there."""
    folders = key_folder(env).folders_with_ledgers()
    mine = guarded.workspace.parent.resolve()
    return [folder for folder in folders if folder != mine and (folder / FOLDER).is_dir()]
