"""Find the files that a destructive act would reach: for git's commands those that git reports as
changed, for others the named paths. Only if there are any, the caller asks who holds them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from moot.api.guard.git_changes import (
    ADDED,
    DELETED,
    IGNORED,
    NOT_TRACKED,
    changed_files,
    find_differences,
    find_hidden,
    is_refused_by_git,
    moves_head,
)
from moot.api.guard.guarded_paths import GuardedPaths, find_guarded_folder, find_guarded_paths
from moot.api.guard.shell.act import DestructiveAct, Reach, Safer
from moot.api.guard.shell.values import UNKNOWN, Word

MOST_PATHS: Final = 2_000
_MOST_MATCHES: Final = 500
_THROWING_AWAY: Final = (Reach.CHANGED, Reach.STAGED)


class ReachedFiles(msgspec.Struct, frozen=True):
    """The files of one workspace and worktree that an act would reach, relative to its root.

    `named_ends` are ends of paths whose beginning is unknown. `is_anywhere`: even the folder is
    unknown. `is_discarded`: uncommitted work in this worktree would be lost, so a person's edits
    count and reservations in other worktrees do not. `is_replaced`: the files are as committed and
    would get another version, so only reservations in this worktree count.
    """

    act: DestructiveAct
    guarded: GuardedPaths
    paths: tuple[str, ...] = ()
    named_ends: tuple[str, ...] = ()
    is_anywhere: bool = False
    is_discarded: bool = False
    is_replaced: bool = False


def find_reached(
    act: DestructiveAct, session_folder: Path, home: Path | None
) -> Iterator[ReachedFiles]:
    """Yield everything inside of workspaces that the act would reach; opens no ledger."""
    if act.reach is Reach.NAMED:
        yield from _reach_by_name(act, session_folder, home)
    elif act.folder is None or UNKNOWN in act.folder:
        yield from _reach_anywhere(act, session_folder, home)
    elif act.reach is Reach.HEAD:
        yield from _reach_head(act, act.folder, home)
    elif act.read_from is not None:
        yield from _reach_by_input(act, act.folder, session_folder, home)
    elif act.reach in (Reach.WRITTEN, Reach.HIDDEN):
        yield from _reach_written(act, act.folder, session_folder, home)
    else:
        yield from _reach_changed(act, act.folder, home)


def _reach_by_name(
    act: DestructiveAct, session_folder: Path, home: Path | None
) -> Iterator[ReachedFiles]:
    """Use the folder of the act, or the session's folder if it is unknown."""
    known = act.folder is not None and UNKNOWN not in act.folder and os.path.isdir(act.folder)
    guarded = find_guarded_folder(Path(act.folder or "") if known else session_folder, home)
    if guarded is not None:
        yield ReachedFiles(act, guarded)


def _reach_by_input(
    act: DestructiveAct, folder: str, session_folder: Path, home: Path | None
) -> Iterator[ReachedFiles]:
    """Use the names in a patch, an archive or a stash; if it is unreadable, the names in the
    text."""
    from moot.api.guard.input_files import find_input_files

    assert act.read_from is not None
    names = find_input_files(act.read_from, folder) if os.path.isdir(folder) else []
    if names is None:
        unknown = act._replace(reach=Reach.NAMED, paths=(Word(UNKNOWN),), is_understood=False)
        yield from _reach_by_name(unknown, session_folder, home)
    elif names:
        # `git apply` counts from the worktree root if git made the patch
        root = find_guarded_folder(Path(folder), home) if act.name.startswith("git ") else None
        tops = dict.fromkeys((folder, folder if root is None else str(root.worktree_root)))
        paths = tuple(Word(os.path.join(top, name)) for top in tops for name in names)
        yield from _reach_written(act._replace(paths=paths), folder, session_folder, home)


def _reach_head(act: DestructiveAct, folder: str, home: Path | None) -> Iterator[ReachedFiles]:
    """Yield nothing if HEAD would stay, if git would refuse, or if a path is meant."""
    guarded = find_guarded_folder(Path(folder), home) if os.path.isdir(folder) else None
    if guarded is not None and (not act.target or moves_head(act, folder)):
        yield ReachedFiles(act, guarded)


def find_written(act: DestructiveAct, folder: str) -> list[str]:
    """Return the files, absolute, that an act names and would write or remove."""
    if act.reach is not Reach.WRITTEN:
        return []
    is_known = act.folder is not None and UNKNOWN not in act.folder
    where = act.folder if act.folder is not None and is_known else folder
    known = tuple(word for word in act.paths if word.is_known)
    return list(islice(_on_disk(act._replace(paths=known), where), MOST_PATHS))


def _reach_anywhere(
    act: DestructiveAct, session_folder: Path, home: Path | None
) -> Iterator[ReachedFiles]:
    """Handle acts after an unknown `cd`: absolute paths are still known."""
    absolute = tuple(word for word in act.paths if word.text.startswith("/"))
    if absolute and act.reach is Reach.WRITTEN:
        yield from _reach_written(act._replace(paths=absolute), "/", session_folder, home)
    guarded = find_guarded_folder(session_folder, home)
    is_relative = len(absolute) < len(act.paths) or not act.paths
    if guarded is not None and is_relative and _may_lead_into(act.folder, guarded.worktree_root):
        yield ReachedFiles(act, guarded, is_anywhere=True)


def _may_lead_into(folder: str | None, root: Path) -> bool:
    """False if the known beginning of a folder is outside of the root, as for `mktemp -d`."""
    if folder is None or folder.startswith(UNKNOWN):
        return True
    known = os.path.realpath(folder.partition(UNKNOWN)[0] or "/")
    top = os.path.realpath(root)
    return os.path.commonpath((known, top)) in (known, top)


def _reach_written(
    act: DestructiveAct, folder: str, session_folder: Path, home: Path | None
) -> Iterator[ReachedFiles]:
    known = tuple(word for word in act.paths if word.is_known)
    if not known and not any(map(_known_end, act.paths)):
        return
    paths = list(islice(_on_disk(act._replace(paths=known), folder), MOST_PATHS))
    for guarded in find_guarded_paths(paths, session_folder, home):
        yield ReachedFiles(act, guarded, guarded.scopes)
        if act.reach is Reach.WRITTEN:
            yield from _reach_overwritten(act, guarded)
    ends = tuple(filter(None, (_known_end(word) for word in act.paths if not word.is_known)))
    if ends:
        around = find_guarded_folder(Path(folder), home)
        if around is not None:
            yield ReachedFiles(act, around, named_ends=ends)


def _reach_overwritten(act: DestructiveAct, guarded: GuardedPaths) -> Iterator[ReachedFiles]:
    """Yield tracked files with changes among those that would be overwritten or removed."""
    root = guarded.worktree_root
    there = [scope for scope in guarded.scopes if os.path.lexists(root / scope)]
    if act.keeps_content or not act.is_understood or act.only_called or not there:
        return
    pathspecs = tuple(f":(top,literal){scope}" if scope != "." else ":(top)" for scope in there)
    paths = tuple(changed_files(str(root), pathspecs[:_MOST_MATCHES]))
    if paths:
        yield ReachedFiles(act, guarded, paths[:MOST_PATHS], is_discarded=True)


def _known_end(word: Word) -> str:
    """Return what follows the unknown part of a path, if that is a complete name."""
    _before, _unknown, end = word.text.rpartition(UNKNOWN)
    return end.strip("/") if end.startswith("/") and word.pattern is None else ""


def _on_disk(act: DestructiveAct, folder: str) -> Iterator[str]:
    """Yield the act's paths, absolute, with wildcards expanded and copies under their new names."""
    for path in _expanded(act.paths, folder):
        if act.copied and os.path.isdir(path):
            yield from (
                os.path.join(path, os.path.basename(source.rstrip("/")))
                for source in _expanded(act.copied, folder)
            )
        elif act.is_understood or _may_be_meant(path, act.also_folders):
            yield path


def _expanded(words: Iterable[Word], folder: str) -> Iterator[str]:
    for word in words:
        if UNKNOWN in word.text or "\n" in word.text:
            continue
        is_unquoted_later = (
            word.pattern is None
            and glob.has_magic(word.text)
            and not os.path.lexists(os.path.join(folder, word.text))
        )
        if word.pattern is not None or is_unquoted_later:  # `for f in *.txt; do rm "$f"; done`
            pattern = word.pattern or word.text
            matches = glob.iglob(os.path.join(glob.escape(folder), pattern), recursive=True)
            yield from islice(matches, _MOST_MATCHES)
        else:
            yield os.path.join(folder, word.text)


def _may_be_meant(path: str, also_folders: bool) -> bool:
    """True if a text in some code may be this path: at least its folder exists."""
    if os.path.isdir(path):
        return also_folders
    try:
        return os.path.isdir(os.path.dirname(path))
    except ValueError:
        return False


def _reach_changed(act: DestructiveAct, folder: str, home: Path | None) -> Iterator[ReachedFiles]:
    guarded = find_guarded_folder(Path(folder), home) if os.path.isdir(folder) else None
    if guarded is None or is_refused_by_git(act, folder, guarded.worktree_root):
        return
    pathspecs = tuple(word.text for word in act.paths)
    if act.may_be_branches:
        pathspecs = tuple(text for text in pathspecs if _is_path(text, folder))
        if not pathspecs:
            return
    letters = changed_files(
        folder,
        pathspecs,
        untracked=_untracked(act),
        also_ignored=act.also_ignored,
        git_options=act.git_options,
    )
    if act.reach is Reach.COMMITTED and act.paths:
        letters = {**find_hidden(folder, pathspecs, act.git_options), **letters}
    differences: Mapping[str, str] = {}
    if act.target:
        differences = find_differences(folder, act.target, act.git_options)
    root = guarded.worktree_root
    paths = tuple(
        path
        for path, state in letters.items()
        if _is_reached(act, path, state)
        and not (act.reach in _THROWING_AWAY and _stays_gone(root, path, state, differences))
    )
    others = {path: letter for path, letter in differences.items() if path not in letters}
    paths += tuple(
        path for path, letter in others.items() if letter == ADDED and _is_file(root / path)
    )
    is_discarded = not act.reach.is_commit
    if paths:
        yield ReachedFiles(act, guarded, paths[:MOST_PATHS], is_discarded=is_discarded)
    committed = tuple(path for path, letter in others.items() if letter != ADDED)
    if committed:
        forced = act._replace(safer=Safer.LEAVE_OUT)
        yield ReachedFiles(forced, guarded, committed[:MOST_PATHS], is_replaced=True)


def _stays_gone(root: Path, path: str, state: str, differences: Mapping[str, str]) -> bool:
    """True if the file is missing and is not in the target commit: nothing can be lost or
    restored."""
    if "D" not in state or os.path.lexists(root / path):
        return False
    is_only_staged = state.startswith("A") and path not in differences
    return is_only_staged or differences.get(path) == DELETED


def _is_file(path: Path) -> bool:
    """True for a file or link; git does not replace a folder that is not empty."""
    return path.is_symlink() or path.is_file()


def _untracked(act: DestructiveAct) -> str:
    if act.reach is Reach.UNTRACKED:
        return "all" if act.also_folders else "normal"
    return "all" if act.also_untracked else "no"


def _is_path(text: str, folder: str) -> bool:
    """True for a file or a pattern, False for the name of a branch."""
    has_magic = text.startswith(":") or any(letter in text for letter in "*?[")
    return has_magic or os.path.lexists(os.path.join(folder, text))


def _is_reached(act: DestructiveAct, path: str, state: str) -> bool:
    """True if the act reaches a file with these two status letters (index, worktree)."""
    if state == IGNORED:
        return act.also_ignored
    if state == NOT_TRACKED:
        is_folder_left = path.endswith("/") and not act.also_folders
        return (act.reach is Reach.UNTRACKED or act.also_untracked) and not is_folder_left
    index, worktree = state[0], state[1]
    return {
        Reach.UNSTAGED: worktree != " ",
        Reach.CHANGED: True,
        Reach.STAGED: index != " ",
        Reach.COMMITTED: True,
        Reach.COMMITTED_INDEX: index != " ",
    }.get(act.reach, False)
