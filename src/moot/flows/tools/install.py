"""Installing and uninstalling, for every tool: merge, never overwrite; put back what was there.

Everything is worked out before anything is written, and what cannot be written whole is taken back,
so that no tool is ever half set up. Doing it again changes nothing. What is installed for one
person stays out of git (`settings_files.py`); what is meant for everyone is asked for (`share`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, NamedTuple

from moot.core.errors import MootError
from moot.core.findings import Finding
from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.tools import git_hook, hook_files, manual, mcp_files, opencode_plugin
from moot.flows.tools.codex_folders import (
    make_codex_folders,
    reads_project_hooks,
    remove_codex_folder,
)
from moot.flows.tools.git_exclude import exclude_file, hide_installed_files
from moot.flows.tools.hook_files import InstalledFile
from moot.flows.tools.original_files import OriginalFiles, all_or_nothing
from moot.flows.tools.settings_files import (
    OPENCODE_FILE,
    Reach,
    SettingsFile,
    choose_settings_file,
    settings_files,
)
from moot.flows.tools.worktrees import all_worktrees, is_tracked
from moot.workspace.workspace import key_folder

TOOLS: Final = ("claude", "codex", "gemini", "opencode", "git")


class ChangedFiles(NamedTuple):
    """`changed` are files written, restored or removed; none if all was so already.

    `no_server` says why the entry for `moot mcp` could not be written, if it was wanted.
    """

    tool: str
    changed: tuple[Path, ...]
    no_server: Finding | None = None


class WantedParts(NamedTuple):
    """What is installed beside the hooks: the manual, and the entry for `moot mcp`.

    `trust` is a person's yes to what the tool would ask about that server.
    """

    skill: bool = True
    server: bool = True
    trust: bool = False


EVERY_PART: Final = WantedParts()


class _Plan(NamedTuple):
    """What is put in, and older or nearer forms of the same that would run beside it."""

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
    """Set up `tool` for the worktree that is `guarded`; with `share` for all who have the project.

    Where the project's own shared lines are complete, nothing is added to them.
    """
    records = _Records(guarded, env)
    if tool == "git":
        written = git_hook.install(guarded.worktree_root, records.workspace, share)
        hide_installed_files(guarded.worktree_root, records.workspace)
        return ChangedFiles(tool, (written,) if written is not None else ())
    plan = _plan(tool, guarded, wanted, share, env)
    put_in = [(file, hook_files.planned(file)) for file in plan.put_in]
    for file in plan.take_out:
        hook_files.require_mendable(file)
    with records.all_or_nothing(*plan.put_in, *plan.take_out):
        changed = [
            file.path
            for file, data in put_in
            if records.of(file).write(file.path, data, hook_files.mended(file), shared=share)
        ]
        changed += [file.path for file in plan.take_out if records.restore(file)]
        hide_installed_files(guarded.worktree_root, records.workspace)
    if tool == "codex":
        make_codex_folders(guarded.worktree_root)
    return ChangedFiles(tool, tuple(changed), plan.no_server)


def uninstall_hooks(
    tool: str,
    guarded: GuardedPaths,
    *,
    env: Mapping[str, str] = os.environ,
) -> ChangedFiles:
    """Take out what is ours; files nobody touched since are as they were, byte for byte.

    What others here still need stays: notes of another tool, a plugin that
    another worktree's settings name. Settings that worktrees share go: whether they may is for
    the caller to ask (`dependents.py`).
    """
    records = _Records(guarded, env)
    if tool == "git":
        undone = git_hook.uninstall(guarded.worktree_root, records.workspace)
        hide_installed_files(guarded.worktree_root, records.workspace)
        return ChangedFiles(tool, (undone,) if undone is not None else ())
    with_hooks = hook_files.files_with_ours(tool, guarded, env)
    with_ours = mcp_files.join_files(with_hooks, mcp_files.files_with_entry(tool, guarded))
    files = [
        file
        for file in (*with_ours, hook_files.manual_file(tool, guarded))
        if not _is_needed(tool, file, guarded, env)
    ]
    for file in files:
        hook_files.require_mendable(file)
    with records.all_or_nothing(*files):
        # Last in, first out: the folders that were made for them are empty when their turn comes.
        changed = [file.path for file in reversed(files) if records.restore(file)]
        hide_installed_files(guarded.worktree_root, records.workspace)
    if tool == "codex":
        remove_codex_folder(guarded.worktree_root)
    return ChangedFiles(tool, tuple(changed))


def is_installed(tool: str, guarded: GuardedPaths, *, env: Mapping[str, str] = os.environ) -> bool:
    """Is all of it there, in whichever file and form? `moot run` asks before it starts a tool."""
    return find_installed(tool, guarded, env) is not None


def is_outdated(tool: str, guarded: GuardedPaths, *, env: Mapping[str, str] = os.environ) -> bool:
    """Is it whole, but written by an earlier moot? Then `moot run` writes it anew."""
    found = find_installed(tool, guarded, env)
    return found is not None and tool != "git" and hook_files.is_outdated(tool, found, guarded)


def find_installed(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> SettingsFile | None:
    """The file whose hooks guard this worktree, if they are complete."""
    if tool == "git":
        place = git_hook.place_for(guarded.worktree_root)
        return SettingsFile(place.file, Reach.LOCAL) if git_hook.is_present(place) else None
    files = settings_files(tool, guarded, env)
    if tool == "codex" and not reads_project_hooks(guarded.worktree_root):
        files = tuple(file for file in files if file.reach is Reach.USER)
    return next((file for file in files if hook_files.is_complete(tool, file, guarded)), None)


class _Records:
    """What was there before: of the project's files in its workspace, of the user's in the key
    folder."""

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
        return self.of(file).restore(file.path, hook_files.mended(file))

    def all_or_nothing(self, *files: InstalledFile) -> AbstractContextManager[None]:
        """A block that changes these files together with what is remembered of them."""
        paths = [file.path for file in files]
        exclude = exclude_file(self._root)
        kept = dict.fromkeys(self.of(file).path for file in files)
        return all_or_nothing((*paths, *kept, *([] if exclude is None else [exclude])))


def _plan(
    tool: str, guarded: GuardedPaths, wanted: WantedParts, share: bool, env: Mapping[str, str]
) -> _Plan:
    put_in: list[InstalledFile] = []
    if share:
        put_in = hook_files.shared_files(tool, guarded)
    elif not hook_files.is_shared(tool, guarded):
        serving = _serves_all_projects(tool, guarded, env)
        if serving is None or hook_files.is_outdated(tool, serving, guarded):
            chosen = serving or choose_settings_file(tool, guarded, env)
            put_in = hook_files.files_for(tool, chosen, guarded, env)
    stays = {file.path for file in put_in or hook_files.shared_files(tool, guarded)}
    take_out = [
        file
        for file in hook_files.files_with_ours(tool, guarded, env)
        if file.path not in stays
        and file.reach is not Reach.USER  # other projects rest on it
        and not _is_needed(tool, file, guarded, env)
    ]
    plan = _with_server(_Plan(put_in, take_out), tool, guarded, wanted, share)
    notes = hook_files.manual_file(tool, guarded)
    if wanted.skill and (share or _is_for_this_clone(tool, guarded)):
        plan.put_in.append(notes)
    elif wanted.skill and notes.path in OriginalFiles(guarded.workspace).files_of_this_clone():
        plan.take_out.append(notes)  # somebody writes there now, and git should see it
    return plan


def _with_server(
    plan: _Plan, tool: str, guarded: GuardedPaths, wanted: WantedParts, share: bool
) -> _Plan:
    """The same with the entry for `moot mcp` put in, or taken out where it is not wanted."""
    put_in, take_out = plan.put_in, plan.take_out
    leaving = {file.path for file in take_out}
    if wanted.server:
        entry = mcp_files.plan_entry(tool, guarded, share=share, trust=wanted.trust)
        files = [file for file in entry.files if file.path not in leaving]
        return _Plan(mcp_files.join_files(put_in, files), take_out, entry.why_not)
    known = mcp_files.files_with_entry(tool, guarded)
    staying = {file.path for file in put_in}
    cleaned = [mcp_files.without_entry(file) for file in known if file.path in staying]
    removed = [file for file in known if file.path not in staying]
    return _Plan(mcp_files.join_files(put_in, cleaned), mcp_files.join_files(take_out, removed))


def _serves_all_projects(
    tool: str, guarded: GuardedPaths, env: Mapping[str, str]
) -> SettingsFile | None:
    """The user's own settings, if they have our hooks: the tool would run others beside them."""
    found = find_installed(tool, guarded, env)
    return found if found is not None and found.reach is Reach.USER else None


def _is_for_this_clone(tool: str, guarded: GuardedPaths) -> bool:
    """Notes that others wrote are theirs to share: without ours a session is told at its start."""
    file = guarded.worktree_root / manual.FILES[tool]
    if is_tracked(file, guarded.worktree_root):
        return False
    return not file.exists() or manual.is_only_ours(tool, file.read_text("utf-8", "replace"))


def _is_needed(
    tool: str, file: InstalledFile, guarded: GuardedPaths, env: Mapping[str, str]
) -> bool:
    """A file that another installed tool, or another worktree's settings, still name."""
    root = guarded.worktree_root
    if file.path.is_relative_to(guarded.workspace):
        others = (each / OPENCODE_FILE for each in all_worktrees(root) if each != root)
        documents = ((hook_files.read_document(each), each) for each in others)
        return any(file.path in opencode_plugin.named(*document) for document in documents)
    same = (one for one in manual.FILES if one != tool and root / manual.FILES[one] == file.path)
    return any(_in_use(one, guarded, env) for one in same)


def _in_use(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> bool:
    try:
        return is_installed(tool, guarded, env=env)
    except MootError:
        return True
