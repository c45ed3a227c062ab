"""Restore earlier versions of files, from the copies that hooks and the watcher made.

A copy is made of what an agent's edit or command wrote, and of a file's content before an act that
may destroy it. What neither a hook nor the watcher saw is lost, and so are objects that git pruned.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.api.guard.copies import Copies, Editor, read_stored
from moot.api.operation import operation
from moot.api.typed_paths import typed_scope
from moot.core.clock import parse_time, to_text
from moot.core.errors import Malformed, NotFound, Refused, Unavailable
from moot.core.text import Quoted, quote_name, quote_optional
from moot.store.files import unwritable_file, write_file

if TYPE_CHECKING:
    from moot.api.guard.copies import PresentFile
    from moot.api.guard.guarded_paths import GuardedPaths
    from moot.api.session import Session
    from moot.workspace.file_versions import FileVersion


_PERMISSIONS: Final = 0o7777


class FormerVersion(NamedTuple):
    """A version that is not on disk now; `number` counts from the newest of its file.

    `successor` is the version that came after it, if one was seen.
    """

    number: int
    version: FileVersion
    successor: FileVersion | None


def list_former_versions(copies: Copies, path: str) -> list[FormerVersion]:
    """List the copied versions of a file that differ from the present one, newest first."""
    history = copies.versions.list_history(str(copies.root), path)
    present = copies.read(path)
    former = list[FormerVersion]()
    seen = {None if present is None else (present.blob, _as_git_mode(present.mode))}
    for at, version in enumerate(history):
        if version.is_stored and _identity(version) not in seen:
            seen.add(_identity(version))
            successor = _successor(version, reversed(history[:at]))
            former.append(FormerVersion(len(former) + 1, version, successor))
    return former


def read_copy(root: Path, version: FileVersion) -> bytes:
    """Return the bytes of a version. Raises NotFound if git has pruned them."""
    data = read_stored(root, version.blob)
    if data is None:
        raise NotFound(
            "copy_gone",
            f"git no longer has {version.blob[:12]} of {quote_name(version.path)}",
            hint="git prunes unreferenced objects after some weeks; `moot undo` lists the rest",
        )
    return data


def put_back(file: Path, data: bytes, mode: int) -> None:
    """Write bytes and mode, or a link, to the file; atomically."""
    fresh = file.with_name(f".{file.name[:100]}.moot-{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISLNK(mode):
            os.symlink(os.fsdecode(data), fresh)
        else:
            with open(fresh, "xb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            fresh.chmod(mode & _PERMISSIONS or 0o644)
        fresh.replace(file)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise unwritable_file(file, error) from None


def describe_difference(path: str, now: bytes, then: bytes) -> str | None:
    """Return a unified diff from now to then; None if one of them is not text."""
    import difflib

    try:
        before, after = (data.decode().splitlines(keepends=True) for data in (now, then))
    except UnicodeDecodeError:
        return None
    return "".join(difflib.unified_diff(before, after, f"{path} (now)", f"{path} (then)"))


def _identity(version: FileVersion | PresentFile) -> tuple[str, int]:
    return version.blob, _as_git_mode(version.mode)


def _as_git_mode(mode: int) -> int:
    """Return the part of a mode that git knows: the kind of file, and whether it is executable."""
    return stat.S_IFMT(mode) | (mode & stat.S_IXUSR)


def _successor(version: FileVersion, later: Iterable[FileVersion]) -> FileVersion | None:
    """Return the next version with other bytes; `later` are the versions after it, oldest first."""
    others: Iterator[FileVersion] = (each for each in later if each.blob != version.blob)
    return next(others, None)


MOST_FILES: Final = 2_000
SHORTEST_ID: Final = 4
_LOST: Final = "Moot copies only what a hook or the watcher saw; `git log -- PATH` shows commits"


class KnownVersion(msgspec.Struct, frozen=True):
    """A version of a file that can be restored and is not on disk now.

    `number` counts the versions of its file from the newest; `id` is git's id of the bytes. `agent`
    wrote it with `left_by` (a tool or a command), None if unknown. `lost_to` is the agent whose act
    came next, `lost_by` that act, if it was seen.
    """

    path: Quoted
    worktree: str
    number: int
    id: str
    agent: str | None
    left_by: Quoted
    at: str
    size: int
    mode: str
    lost_to: str | None
    lost_by: Quoted | None


class KnownVersions(msgspec.Struct, frozen=True):
    """Versions, newest first; `more` were left out. `elsewhere` counts files with copies in other
    worktrees."""

    versions: list[KnownVersion]
    more: int
    elsewhere: int


class VersionDifference(msgspec.Struct, frozen=True):
    """What restoring `version` would change; None if one of the two is not text."""

    version: KnownVersion
    difference: Quoted | None


class RestoredVersion(msgspec.Struct, frozen=True):
    """`file` is the file that was written. `replaced` is the id of its former content, of which a
    copy exists; None if there was none, or if the version was written elsewhere."""

    restored: KnownVersion
    file: str
    replaced: str | None


@operation("undo.list")
def list_undoable(
    session: Session,
    *,
    path: str | None = None,
    all_worktrees: bool = False,
    limit: int = 50,
) -> KnownVersions:
    """List versions that can be restored, newest first: those that are not on disk now.

    `path`, relative to the worktree root or absolute, limits the list to a file or folder. Only
    this worktree is listed unless `all_worktrees`.
    """
    guarded = _require_workspace(session)
    with Copies(guarded.workspace, guarded.worktree_root, only_reads=True) as here:
        files = here.versions.list_copied_files(MOST_FILES)
    ours = [file for file in files if file[0] == str(guarded.worktree_root)]
    wanted = files if all_worktrees else ours
    if path is not None:
        top = _full_name(guarded, path)
        wanted = [file for file in wanted if Path(*file).is_relative_to(top)]
    known = list[KnownVersion]()
    for worktree in dict.fromkeys(file[0] for file in wanted):
        with Copies(guarded.workspace, Path(worktree), only_reads=True) as copies:
            for _worktree, name in (file for file in wanted if file[0] == worktree):
                known += map(_describe_version, list_former_versions(copies, name))
    known.sort(key=lambda version: (version.at, -version.number), reverse=True)
    elsewhere = 0 if all_worktrees else len(files) - len(ours)
    return KnownVersions(known[:limit], max(0, len(known) - limit), elsewhere)


@operation("undo.show")
def show(
    session: Session,
    path: str,
    *,
    version: int | None = None,
    at: str | None = None,
    blob: str | None = None,
) -> VersionDifference:
    """Return what restoring a version would change; the default is the newest that differs."""
    guarded = _require_workspace(session)
    root, name = _find_file(guarded, path)
    with Copies(guarded.workspace, root, only_reads=True) as copies:
        former = _choose_version(list_former_versions(copies, name), name, version, at, blob)
        present = copies.read(name)
    then = read_copy(guarded.worktree_root, former.version)
    now = b"" if present is None or present.data is None else present.data
    return VersionDifference(
        _describe_version(former), quote_optional(describe_difference(name, now, then))
    )


@operation("undo.restore", writes=True)
def restore(
    session: Session,
    path: str,
    *,
    version: int | None = None,
    at: str | None = None,
    blob: str | None = None,
    file: Path | None = None,
) -> RestoredVersion:
    """Restore a version of a file, bytes and mode; the default is the newest that differs.

    The present content is copied first. The guard checks this like an edit: if another agent holds
    the file it is refused (`reservation_conflict`). With `file` the bytes are written there
    instead. A repeat restores what the first call replaced, unless `blob` names the version.
    """
    guarded = _require_workspace(session)
    root, name = _find_file(guarded, path)
    with Copies(guarded.workspace, root, only_reads=True) as copies:
        former = _choose_version(list_former_versions(copies, name), name, version, at, blob)
    data = read_copy(guarded.worktree_root, former.version)
    if file is not None:
        write_file(file, data)
        return RestoredVersion(_describe_version(former), str(file), None)
    agent, target = _require_free(session, root, name), root / name
    editor = Editor(agent or "", session.tool_session_name, session.clock(), "moot undo")
    with Copies(guarded.workspace, root) as copies:
        before = copies.read(name)
        _require_kept(copies, name, editor)
        put_back(target, data, former.version.mode)
        copies.note_left([name], editor)
    return RestoredVersion(
        _describe_version(former), str(target), before.blob or None if before else None
    )


def _require_workspace(session: Session) -> GuardedPaths:
    """Find the workspace without opening its ledger, so that undo works even if that is damaged."""
    from moot.api.guard.guarded_paths import find_guarded_folder

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        raise Unavailable(
            "no_workspace",
            f"no workspace for {session.folder}",
            hint="run `moot init` in the repository",
        )
    return guarded


def _full_name(guarded: GuardedPaths, path: str) -> str:
    return os.path.normpath(guarded.worktree_root / path)


def _find_file(guarded: GuardedPaths, path: str) -> tuple[Path, str]:
    """Return the worktree of a copied file, and its path there."""
    name = _full_name(guarded, path)
    with Copies(guarded.workspace, guarded.worktree_root, only_reads=True) as copies:
        files = copies.versions.list_copied_files(MOST_FILES)
    for worktree, below in files:
        if os.path.join(worktree, below) == name:
            return Path(worktree), below
    raise NotFound("no_version", f"there is no copy of {quote_name(path)}", hint=_LOST)


def _choose_version(
    former: list[FormerVersion], path: str, number: int | None, at: str | None, blob: str | None
) -> FormerVersion:
    chosen = [each for each in former if _make_filter(number, at, blob)(each)]
    if not former:
        raise NotFound(
            "no_version", f"{quote_name(path)} is as it was last seen", hint="nothing to restore"
        )
    if not chosen:
        raise NotFound(
            "no_version",
            f"no version of {quote_name(path)} matches",
            hint=f"`moot undo --list {typed_scope(path)}` lists all versions",
        )
    return chosen[0]


def _make_filter(
    number: int | None, at: str | None, blob: str | None
) -> Callable[[FormerVersion], bool]:
    """Return a predicate for the chosen version. Raises Malformed if more than one choice is
    given."""
    if sum(each is not None for each in (number, at, blob)) > 1:
        raise Malformed(
            "choose a version by its number, a time or its id, not by several of them",
            code="two_choices",
            hint="give one of them",
        )
    if blob is not None and len(blob) < SHORTEST_ID:
        raise Malformed(
            f"an id needs at least {SHORTEST_ID} digits",
            code="bad_id",
            hint="`moot undo --json` shows all of them",
        )
    moment = None if at is None else parse_time(at)

    def is_chosen(former: FormerVersion) -> bool:
        return (
            (number is None or former.number == number)
            and (moment is None or former.version.at <= moment)
            and (blob is None or former.version.blob.startswith(blob))
        )

    return is_chosen


def _require_free(session: Session, root: Path, path: str) -> str | None:
    """Refuse if another agent holds the file; else return who acts. An agent reserves it, as by an
    edit."""
    from moot.api.guard import checks, edits

    if not root.is_dir():
        raise Refused(
            "worktree_gone",
            f"the worktree {root} no longer exists",
            hint="`-o FILE` writes the version elsewhere",
        )
    name, target = session.known_actor(), root / path
    if name is not None and not session.acts_as_person():
        verdict = edits.before_edit(session, [str(target)])
        holders = [(holder.owner, holder.path) for holder in verdict.holders]
    else:
        checked = checks.check(session, [str(target)], agent=name)
        holders = [(held.owner, held.path) for held in checked.held]
    for owner, held_path in holders:
        raise Refused(
            "reservation_conflict",
            f"{quote_name(held_path)} is held by {owner}, who would have to restore it",
            hint="`-o FILE` writes the version elsewhere; or wait until it is free",
        )
    return name


def _require_kept(copies: Copies, path: str, editor: Editor) -> None:
    """Refuse if no copy of the present content can be made, so that undo itself loses nothing."""
    kept = Editor("", "", editor.at, "before moot undo")
    for left_out in copies.keep([path], kept):
        raise Refused(
            "not_kept",
            f"cannot copy the present content of {quote_name(path)}: {left_out.why}",
            hint="move it away first, or `-o FILE` writes the version elsewhere",
        )


def _describe_version(former: FormerVersion) -> KnownVersion:
    version, successor = former.version, former.successor
    return KnownVersion(
        path=Quoted(version.path),
        worktree=version.worktree,
        number=former.number,
        id=version.blob,
        agent=version.agent or None,
        left_by=Quoted(version.why),
        at=to_text(version.at),
        size=version.size,
        mode=f"{version.mode:06o}",
        lost_to=None if successor is None else successor.agent or None,
        lost_by=None if successor is None else _act_of(successor),
    )


def _act_of(version: FileVersion) -> Quoted | None:
    """Return what made a version; None for a copy, which only names the act it was made before."""
    return Quoted(version.why) if version.agent else None
