"""Find the workspace and the worktree that guard a path, and its scope there.

The path decides, not the working directory: after a `cd` an agent still edits the same project.
Both the given name and the real file are claimed, so that a symlink does not bypass the guard. If a
workspace is inside of another, both guard its files; otherwise an agent could escape the outer one
by creating a new one. Files outside of every workspace are not guarded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.session import read_presence
from moot.coding_tools import is_settings_name
from moot.core.errors import Refused, Unavailable
from moot.core.text import quote_name, shell_word
from moot.workspace.find import (
    FOLDER,
    find_workspace,
    git_common_dir,
    may_fold_names,
    project_root,
    spell_as_listed,
    worktree_root,
)

if TYPE_CHECKING:
    from moot.protocols.presence.model import State
    from moot.workspace.workspace import Workspace


class GuardedPaths(msgspec.Struct, frozen=True):
    """Paths of one worktree, relative to its root, and the workspace that guards them.

    `is_outer`: another workspace inside of this one is nearer to the paths.
    """

    workspace: Path
    worktree_root: Path
    scopes: tuple[str, ...] = ()
    is_outer: bool = False


def find_guarded_folder(folder: Path, home: Path | None) -> GuardedPaths | None:
    """Return the workspace and worktree of `folder`; None outside of every workspace.

    Raises Unavailable if `home` is given and is not a workspace.
    """
    own = _around(folder)
    if home is None:
        return own
    workspace = find_workspace(folder, home)
    if own is not None and _is_same(own.workspace, workspace):
        return own
    return GuardedPaths(workspace, worktree_root(folder) or folder)


def root_was_guessed(guarded: GuardedPaths) -> bool:
    """True if neither git nor the workspace told the root: it is only the current folder."""
    root = guarded.worktree_root
    return worktree_root(root) is None and not _is_same(guarded.workspace.parent, root)


def widest_root_around(path: str, roots: Iterable[str]) -> Path | None:
    """Return the widest of the roots that contain a path, so that all sessions count from the same
    one."""
    around = [root for root in roots if root and _relative(path, Path(root)) is not None]
    return Path(min(around, key=lambda root: len(os.path.realpath(root)))) if around else None


def find_guarded_paths(
    paths: Iterable[str],
    folder: Path,
    home: Path | None,
    other_roots: Iterable[str] = (),
    unguarded: list[str] | None = None,
) -> list[GuardedPaths]:
    """Return the workspaces that guard `paths` (absolute), each with the scopes of the paths there.

    `folder` is where the session works, `home` the workspace that was named to it. `other_roots`
    are roots that other sessions use; they matter if this session guessed its own. Paths that no
    workspace guards are added to `unguarded`.
    """
    scopes_by_root: dict[tuple[Path, Path, bool], dict[str, None]] = {}
    session = find_guarded_folder(folder, home) if home is not None else None
    known_roots = tuple(other_roots)
    for path in paths:
        for file in _names_on_disk(path):
            nearest = _guard_of(file, _with_common_root(file, session, known_roots))
            if nearest is None:
                if unguarded is not None:
                    unguarded.append(file)
                continue
            for guarded in (nearest, *_guards_around(file, nearest)):
                where = guarded.workspace, guarded.worktree_root, guarded.is_outer
                scopes_by_root.setdefault(where, {}).update(dict.fromkeys(guarded.scopes))
    return [
        GuardedPaths(workspace, root, tuple(scopes), is_outer)
        for (workspace, root, is_outer), scopes in scopes_by_root.items()
    ]


def branch_of(root: Path) -> str | None:
    """Return the branch that is checked out in a worktree, read from git's files."""
    marker = root / ".git"
    try:
        folder = marker
        if marker.is_file():
            folder = root / marker.read_text("utf-8").strip().removeprefix("gitdir: ")
        head = (folder / "HEAD").read_text("utf-8").strip()
    except (OSError, ValueError):
        return None
    reference = "ref: refs/heads/"
    return head.removeprefix(reference)[:200] if head.startswith(reference) else None


def _names_on_disk(path: str) -> Iterable[str]:
    """Return the given path and the real file, each spelled as on disk."""
    names = dict.fromkeys((os.path.normpath(path), os.path.realpath(path)))
    if not any(map(may_fold_names, names)):
        return names
    return dict.fromkeys(map(spell_as_listed, names))


def _with_common_root(
    file: str, session: GuardedPaths | None, other_roots: tuple[str, ...]
) -> GuardedPaths | None:
    """Use the same root as the other sessions.

    Two sessions that guessed different roots would give one file two names, and both could reserve
    it. A file in another workspace is left to that one.
    """
    if session is None or not other_roots or not root_was_guessed(session):
        return session
    root = session.worktree_root
    if _relative(file, root) is None and _around(Path(file).parent) is not None:
        return session
    common = widest_root_around(file, (*other_roots, str(root)))
    return msgspec.structs.replace(session, worktree_root=common or root)


def _guard_of(file: str, session: GuardedPaths | None) -> GuardedPaths | None:
    """Return the guard of a file. A named home guards the session's whole project.

    A worktree inside of another has its own root: its files have the same names in both.
    """
    guarded = _around(Path(file) if os.path.isdir(file) else Path(file).parent)
    if session is not None and _relative(file, session.worktree_root) is not None:
        is_ours = guarded is not None and _is_same(guarded.workspace, session.workspace)
        guarded = guarded if is_ours else session
    scope = _relative(file, guarded.worktree_root) if guarded is not None else None
    if guarded is None or scope is None:
        return None
    return msgspec.structs.replace(guarded, scopes=(scope,))


def _guards_around(file: str, nearest: GuardedPaths) -> Iterator[GuardedPaths]:
    """Yield the workspaces around the nearest one, with the file's scope in each."""
    known, root = {nearest.workspace}, nearest.worktree_root
    while _may_lie_inside_of_another(str(root)):
        outer = _around(root.parent)
        if outer is None:
            return
        scope = _relative(file, outer.worktree_root)
        if outer.workspace not in known and scope is not None:
            yield msgspec.structs.replace(outer, scopes=(scope,), is_outer=True)
        known.add(outer.workspace)
        root = outer.worktree_root


def _may_lie_inside_of_another(root: str) -> bool:
    """Look for signs of a workspace in the parent folders; quick, because every edit asks."""
    above = os.path.dirname(root)
    while above != root:
        if any(os.path.exists(os.path.join(above, name)) for name in (FOLDER, ".git")):
            return True
        above, root = os.path.dirname(above), above
    return False


def _around(folder: Path) -> GuardedPaths | None:
    """Return the guard of a folder. A submodule has no workspace: the project around it guards
    it."""
    root = worktree_root(folder)
    try:
        workspace = find_workspace(folder)
    except Unavailable:
        above = root.parent if root is not None else None
        return _around(above) if above is not None and above != root else None
    while root is not None and not _belongs_to(workspace, root):
        root = worktree_root(root.parent) if root.parent != root else None
    return GuardedPaths(workspace, root or workspace.parent)


def _is_same(one: Path, other: Path) -> bool:
    """True if both paths are the same folder."""
    return one == other or (one.exists() and other.exists() and one.samefile(other))


def _belongs_to(workspace: Path, root: Path) -> bool:
    """True if this is the workspace of the repository that `root` is a worktree of."""
    if root / FOLDER == workspace:
        return True
    common = git_common_dir(root)
    return common is not None and workspace in (common.parent / FOLDER, common / FOLDER)


def _relative(file: str, root: Path) -> str | None:
    for top in dict.fromkeys((str(root), os.path.realpath(root))):
        if file == top or file.startswith(top.rstrip(os.sep) + os.sep):
            return os.path.relpath(file, top)
    return None


def require_no_missing_workspace(folders: Iterable[str | Path], keys: Path) -> None:
    """Raise Unavailable if this user had a workspace around one of the folders that is missing now.

    Without this check, deleting `.moot` would switch the guard off silently.
    """
    from shlex import quote

    from moot.workspace.known_workspaces import find_known_place

    for folder in dict.fromkeys(map(os.path.realpath, folders)):
        root = find_known_place(keys, dict.fromkeys(_roots_around(Path(folder))))
        if root is not None:
            raise Unavailable(
                "workspace_gone",
                f"{root / FOLDER} is missing: a workspace was there (`git clean -x` removes it)",
                hint="restore .moot from a backup, or start a new record with `moot init`; to stop"
                f" using Moot there, a person runs `moot ledger forget {quote(str(root))}`",
            )


def _roots_around(folder: Path) -> Iterator[Path]:
    """Yield where a workspace of the folder may be: its parents, and the repository of its
    worktree."""
    yield folder
    yield from folder.parents
    yield Path(os.path.realpath(project_root(folder)))


# Files that agents may not write: with them an agent could change the record, or weaken the guard.

_OWNERS: Final = {".git": "git", ".moot": "moot"}
# The names of git's hooks (`api/hook_setup/guard_files.py`).
_GIT_HOOKS: Final = frozenset(
    {
        *("pre-commit", "pre-commit.legacy", "pre-merge-commit", "prepare-commit-msg"),
        *("pre-rebase", "post-merge", "commit-msg"),
    }
)
# In the root of a worktree; people write them.
_FOR_PEOPLE: Final = frozenset({"moot.toml"})


def may_carry_hooks(path: str) -> bool:
    """True if a file of this name, or its symlink target, may contain our hooks."""
    names = os.path.basename(path).lower(), os.path.basename(os.path.realpath(path)).lower()
    return any(name in _GIT_HOOKS or is_settings_name(name) for name in names)


def require_allowed(scopes: Iterable[str], root: Path, workspace: Path) -> None:
    """Refuse files that only people, git or Moot write."""
    for scope in scopes:
        if os.path.normpath(scope).lower() in _FOR_PEOPLE:
            raise Refused(
                "not_for_agents",
                f"agents may not write {quote_name(scope)}: people set how strict the guard is",
                hint="ask the person you work for",
            )
        owner = _owner(scope, root, workspace)
        if owner is not None:
            raise Refused(
                "not_for_agents",
                f"agents may not write {quote_name(scope)}: only `{owner}` itself does",
                hint=f"use `{owner}` commands",
            )


def _owner(scope: str, root: Path, workspace: Path) -> str | None:
    full = os.path.normpath(root / scope)
    if full == str(workspace) or full.startswith(f"{workspace}{os.sep}"):
        return _OWNERS[".moot"]
    parts = (part.lower() for part in Path(os.path.normpath(scope)).parts)
    return next((_OWNERS[part] for part in parts if part in _OWNERS), None)


def worktree_of(folder: Path, workspace: Workspace) -> Path:
    """Return the root of the worktree around `folder` that this workspace guards.

    A submodule is part of the project around it. Without git, and with the workspace elsewhere, it
    is the root that the hooks use: two callers that guessed different roots would give one file two
    names, and both could reserve it.
    """
    guarded = find_guarded_folder(folder, None)
    if guarded is not None and guarded.workspace.samefile(workspace.path):
        return guarded.worktree_root
    root = worktree_root(folder)
    if root is not None:
        return root
    known = roots_in_use(read_presence(workspace))
    return widest_root_around(str(folder), (*known, str(folder))) or folder


def roots_in_use(state: State) -> tuple[str, ...]:
    """Return the worktrees of all members and reservations."""
    return tuple(sorted(state.worktrees))


def require_one_meaning(state: State, guarded: GuardedPaths, holder: tuple[str, int]) -> None:
    """Refuse if the agent holds this name from another root: its reservation guards another
    file."""
    from moot.api.guard.aliases import covers_file
    from moot.protocols.presence import model
    from moot.protocols.presence.paths import read_path, write_typed

    root = guarded.worktree_root
    if not root_was_guessed(guarded):
        return
    for scope in guarded.scopes:
        key = read_path(scope, str(root)).key
        for held in (
            *model.reservations_above(state, key),
            *filter(None, (model.find_reservation(state, key),)),
        ):
            if held.is_held_by(*holder) and not covers_file(held, scope, root):
                release = f"moot release {shell_word(write_typed(held.scope))}"
                raise Refused(
                    "other_root",
                    f"you hold {quote_name(held.scope)} of {quote_name(held.worktree)}, and"
                    f" {quote_name(scope)} of {quote_name(str(root))} is"
                    " another file",
                    hint=f"`{release}` first; without git, and with the workspace elsewhere, stay"
                    " in one folder",
                )
