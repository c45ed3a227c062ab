"""Install and remove hooks, for every tool: merge, never overwrite; restore what was there.

All contents are computed before anything is written, and a failed write is undone, so that no tool
is half set up. A repeat changes nothing. Files for one person stay out of git; files for everyone
are written only with `share`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from moot.api.guard.guarded_paths import GuardedPaths
from moot.api.hook_setup import git_hook, manual, server_files
from moot.api.hook_setup.original_files import (
    OriginalFiles,
    all_or_nothing,
    exclude_file,
    hide_installed_files,
    plan_bytes,
    remover_for,
    require_readable,
)
from moot.api.hook_setup.worktrees import all_worktrees, is_tracked, place_of
from moot.coding_tools import NAMES, all_tools, find_tool
from moot.coding_tools.settings import (
    InstalledFile,
    Place,
    Reach,
    SettingsFile,
    find_user_file,
    settings_files,
    settings_root,
)
from moot.coding_tools.tool import CodingTool
from moot.core.errors import MootError, Unavailable
from moot.core.findings import Finding
from moot.workspace.find import FOLDER, git_common_dir
from moot.workspace.workspace import key_folder

GIT: Final = "git"
TOOLS: Final = (*NAMES, GIT)


class ChangedFiles(NamedTuple):
    """`changed` are files written, restored or removed; none if nothing changed.

    `no_server` says why the entry for `moot mcp` could not be written, if it was wanted.
    """

    tool: str
    changed: tuple[Path, ...]
    no_server: Finding | None = None


class WantedParts(NamedTuple):
    """What to install in addition to the hooks: the manual, and the entry for `moot mcp`.

    `trust`: a person agrees to what the tool would ask about that server.
    """

    skill: bool = True
    server: bool = True
    trust: bool = False


EVERY_PART: Final = WantedParts()


class _Plan(NamedTuple):
    """Files to write, and files with older or nearer forms of the same that would also run."""

    put_in: list[InstalledFile]
    take_out: list[InstalledFile]
    no_server: Finding | None = None


def install_hooks(
    tool: str,
    guarded: GuardedPaths,
    wanted: WantedParts = EVERY_PART,
    *,
    share: bool = False,
    env: Mapping[str, str] = os.environ,
) -> ChangedFiles:
    """Set up `tool` for the guarded worktree; with `share`, for everyone who has the project.

    If the project's shared lines are complete, nothing is added to them.
    """
    records = _Records(guarded, env)
    if tool == GIT:
        written = git_hook.install(guarded.worktree_root, records.workspace, share)
        hide_installed_files(guarded.worktree_root, records.workspace)
        return ChangedFiles(tool, (written,) if written is not None else ())
    place = place_of(guarded, env)
    plan = _plan(find_tool(tool), place, wanted, share)
    put_in = [(file, plan_bytes(file)) for file in plan.put_in]
    for file in plan.take_out:
        require_readable(file)
    with records.all_or_nothing(*plan.put_in, *plan.take_out):
        changed = [
            file.path
            for file, data in put_in
            if records.of(file).write(file.path, data, remover_for(file), shared=share)
        ]
        changed += [file.path for file in plan.take_out if records.restore(file)]
        hide_installed_files(guarded.worktree_root, records.workspace)
    _make_hook_folders(find_tool(tool), guarded.worktree_root)
    return ChangedFiles(tool, tuple(changed), plan.no_server)


def _make_hook_folders(tool: CodingTool, root: Path) -> None:
    """Make the hook folder in every worktree, because one file guards them all; git ignores it.

    If one cannot be made, the tool is unguarded there; `moot run` and `moot hook status` report
    that.
    """
    for each in all_worktrees(root) if tool.hook_folder else ():
        with suppress(OSError):
            (each / tool.hook_folder).mkdir(exist_ok=True)


def uninstall_hooks(
    tool: str,
    guarded: GuardedPaths,
    *,
    env: Mapping[str, str] = os.environ,
) -> ChangedFiles:
    """Remove our hooks; files that were not changed since are restored byte for byte.

    Files that others still need stay: notes of another tool, or a plugin that another worktree's
    settings name. Settings that worktrees share are removed; the caller checks `find_dependents`.
    """
    records = _Records(guarded, env)
    if tool == GIT:
        undone = git_hook.uninstall(guarded.worktree_root, records.workspace)
        hide_installed_files(guarded.worktree_root, records.workspace)
        return ChangedFiles(tool, (undone,) if undone is not None else ())
    known, place = find_tool(tool), place_of(guarded, env)
    with_ours = server_files.join_files(
        known.files_with_ours(place), server_files.files_with_entry(known, place)
    )
    files = [
        file
        for file in (*with_ours, _manual_file(known, place))
        if not _is_needed(known, file, place)
    ]
    for file in files:
        require_readable(file)
    with records.all_or_nothing(*files):
        # Last in, first out: the folders that were made for them are empty when their turn comes.
        changed = [file.path for file in reversed(files) if records.restore(file)]
        hide_installed_files(guarded.worktree_root, records.workspace)
    if known.hook_folder:
        with suppress(OSError):  # something else is in it
            (guarded.worktree_root / known.hook_folder).rmdir()
    return ChangedFiles(tool, tuple(changed))


def is_installed(tool: str, guarded: GuardedPaths, *, env: Mapping[str, str] = os.environ) -> bool:
    """True if the hooks are complete, in any file and form."""
    return find_installed(tool, guarded, env) is not None


def is_outdated(tool: str, guarded: GuardedPaths, *, env: Mapping[str, str] = os.environ) -> bool:
    """True if the hooks are complete but written by an earlier moot; `moot run` then renews
    them."""
    if tool == GIT:
        return False
    found = find_installed(tool, guarded, env)
    return found is not None and find_tool(tool).is_outdated(found, place_of(guarded, env))


def find_installed(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> SettingsFile | None:
    """Return the file whose hooks guard this worktree; None if they are incomplete."""
    if tool == GIT:
        place = git_hook.place_for(guarded.worktree_root)
        return SettingsFile(place.file, Reach.LOCAL) if git_hook.is_present(place) else None
    return _find_complete(find_tool(tool), place_of(guarded, env))


def _find_complete(tool: CodingTool, place: Place) -> SettingsFile | None:
    files = settings_files(tool, place)
    if tool.hook_folder and not (place.root / tool.hook_folder).is_dir():
        files = tuple(file for file in files if file.reach is Reach.USER)
    return next((file for file in files if tool.is_complete(file, place)), None)


def find_dependents(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Return other folders whose sessions of `tool` need what would be removed here.

    Some tools read the main checkout's settings in every worktree, all worktrees share one folder
    of git hooks, and the user's own settings apply to every project.
    """
    root = guarded.worktree_root
    others = [folder for folder in all_worktrees(root) if folder != root]
    if tool == GIT:
        return tuple(others) if _git_hook_is_shared(root) else ()
    known, place = find_tool(tool), place_of(guarded, env)
    found: list[Path] = []
    for file in known.files_with_ours(place):
        if file.path.suffix == ".js":  # what counts are the settings that name it
            continue
        if file.reach is Reach.USER:
            found += [*others, *_other_projects(guarded, env)]
        elif known.uses_main_checkout and file.path.is_relative_to(settings_root(known, place)):
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
    """Return folders in which this user has an existing workspace."""
    folders = key_folder(env).folders_with_ledgers()
    mine = guarded.workspace.parent.resolve()
    return [folder for folder in folders if folder != mine and (folder / FOLDER).is_dir()]


class _Records:
    """The original files: the project's in its workspace, the user's in the key folder."""

    def __init__(self, guarded: GuardedPaths, env: Mapping[str, str]) -> None:
        self._env = env
        self._root = guarded.worktree_root
        self._user: OriginalFiles | None = None
        self.workspace = OriginalFiles(guarded.workspace)

    def of(self, file: InstalledFile) -> OriginalFiles:
        if file.reach is not Reach.USER:
            return self.workspace
        if self._user is None:
            self._user = OriginalFiles(key_folder(self._env).path)
        return self._user

    def restore(self, file: InstalledFile) -> bool:
        return self.of(file).restore(file.path, remover_for(file))

    def all_or_nothing(self, *files: InstalledFile) -> AbstractContextManager[None]:
        """Return a block that changes these files and their records together."""
        paths = [file.path for file in files]
        exclude = exclude_file(self._root)
        kept = dict.fromkeys(self.of(file).path for file in files)
        return all_or_nothing((*paths, *kept, *([] if exclude is None else [exclude])))


def _plan(tool: CodingTool, place: Place, wanted: WantedParts, share: bool) -> _Plan:
    put_in: list[InstalledFile] = []
    if share:
        put_in = tool.shared_files(place)
    elif not tool.is_shared(place):
        serving = _serves_all_projects(tool, place)
        if serving is None or tool.is_outdated(serving, place):
            put_in = tool.own_files(serving or _choose_settings_file(tool, place), place)
    stays = {file.path for file in put_in or tool.shared_files(place)}
    take_out = [
        file
        for file in tool.files_with_ours(place)
        if file.path not in stays
        and file.reach is not Reach.USER  # other projects rest on it
        and not _is_needed(tool, file, place)
    ]
    plan = _with_server(_Plan(put_in, take_out), tool, place, wanted, share)
    notes = _manual_file(tool, place)
    if wanted.skill and (share or _is_for_this_clone(tool, place)):
        plan.put_in.append(notes)
    elif wanted.skill and notes.path in OriginalFiles(place.workspace).files_of_this_clone():
        plan.take_out.append(notes)  # somebody writes there now, and git should see it
    return plan


def _choose_settings_file(tool: CodingTool, place: Place) -> SettingsFile:
    """Return the file for new hooks. Raises Unavailable if it would be in an unknown home folder.

    That is the tool's local file, which is never committed, or else the project's file, which git
    then ignores here. If that file is tracked, it is the user's own settings: those apply to every
    project, and do nothing outside of a workspace.
    """
    nearest = settings_files(tool, place)[0]
    if not is_tracked(nearest.path, settings_root(tool, place)):
        return nearest
    user = find_user_file(tool, place.env)
    if user is None:
        raise Unavailable(
            "no_home",
            f"{nearest.path} is in git, so it is not touched, and HOME names no folder instead",
            hint="set HOME, or let everyone have the hooks:"
            f" `moot hook install {tool.name} --share`",
        )
    return SettingsFile(user, Reach.USER)


def _with_server(
    plan: _Plan, tool: CodingTool, place: Place, wanted: WantedParts, share: bool
) -> _Plan:
    """Add the entry for `moot mcp` to the plan, or remove it where it is not wanted."""
    put_in, take_out = plan.put_in, plan.take_out
    leaving = {file.path for file in take_out}
    if wanted.server:
        entry = server_files.plan_entry(tool, place, share=share, trust=wanted.trust)
        files = [file for file in entry.files if file.path not in leaving]
        return _Plan(server_files.join_files(put_in, files), take_out, entry.why_not)
    known = server_files.files_with_entry(tool, place)
    staying = {file.path for file in put_in}
    cleaned = [server_files.without_entry(file) for file in known if file.path in staying]
    removed = [file for file in known if file.path not in staying]
    join = server_files.join_files
    return _Plan(join(put_in, cleaned), join(take_out, removed))


def _serves_all_projects(tool: CodingTool, place: Place) -> SettingsFile | None:
    """Return the user's own settings if they contain our hooks: the tool would run both."""
    found = _find_complete(tool, place)
    return found if found is not None and found.reach is Reach.USER else None


def _manual_file(tool: CodingTool, place: Place) -> InstalledFile:
    beads = manual.has_beads(place.root)
    return InstalledFile(
        place.root / tool.manual_file,
        lambda before: manual.with_manual(tool, before, beads=beads),
        lambda now: manual.without_manual(tool, now),
    )


def _is_for_this_clone(tool: CodingTool, place: Place) -> bool:
    """False for notes that others wrote; without ours, the session reads the rules at its start."""
    file = place.root / tool.manual_file
    if is_tracked(file, place.root):
        return False
    return not file.exists() or manual.is_only_ours(tool, file.read_text("utf-8", "replace"))


def _is_needed(tool: CodingTool, file: InstalledFile, place: Place) -> bool:
    """True if another installed tool, or another worktree's settings, still use the file."""
    if file.path.is_relative_to(place.workspace):
        others = (each for each in all_worktrees(place.root) if each != place.root)
        return any(tool.names_file(file.path, each) for each in others)
    others_notes = (one for one in all_tools() if one.name != tool.name)
    same = (one for one in others_notes if place.root / one.manual_file == file.path)
    return any(_in_use(one, place) for one in same)


def _in_use(tool: CodingTool, place: Place) -> bool:
    try:
        return _find_complete(tool, place) is not None
    except MootError:
        return True
