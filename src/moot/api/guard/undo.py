"""Bringing back what was in a file: versions that hooks saw and kept a copy of.

A copy is made of what an agent's edit or command left, and of what stood in a file before an act
that was seen. What neither a hook nor the watcher saw is lost, and so is what git has pruned since.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.api.guard.copies import Copies, Editor
from moot.api.operation import operation
from moot.api.typed_paths import typed_scope
from moot.core.clock import parse_time, to_text
from moot.core.errors import Malformed, NotFound, Refused, Unavailable
from moot.core.text import Quoted, quote_name, quote_optional
from moot.store.files import unwritable_file, write_file
from moot.workspace.find import git_common_dir

if TYPE_CHECKING:
    from moot.api.guard.copies import PresentFile
    from moot.api.guard.guarded_paths import GuardedPaths
    from moot.api.session import Session
    from moot.workspace.file_versions import FileVersion


# Versions of files that can be brought back, and bringing one back: exact bytes, exact mode.

_PERMISSIONS: Final = 0o7777


class FormerVersion(NamedTuple):
    """`number` counts from the newest version of its file that is not there now.

    `successor` is what came after it, if that was seen.
    """

    number: int
    version: FileVersion
    successor: FileVersion | None


def list_former_versions(copies: Copies, path: str) -> list[FormerVersion]:
    """What was seen of this file, has a copy, and is not what stands there now; newest first."""
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
    """The bytes of a version; NotFound if git has pruned them."""
    from moot.system.git_objects import read_blob, read_loose_blob

    repository = git_common_dir(root)
    data = read_loose_blob(repository, version.blob) if repository is not None else None
    data = read_blob(root, version.blob) if data is None else data
    if data is None:
        raise NotFound(
            "copy_gone",
            f"git does not have {version.blob[:12]} of {quote_name(version.path)} any more",
            hint="git prunes what nothing refers to after some weeks; `moot undo` lists the rest",
        )
    return data


def put_back(file: Path, data: bytes, mode: int) -> None:
    """Make this file what it was: its bytes, its permissions, or a link; whole or not at all."""
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
    """What bringing a version back would change, line by line; None if that is no text."""
    import difflib

    try:
        before, after = (data.decode().splitlines(keepends=True) for data in (now, then))
    except UnicodeDecodeError:
        return None
    return "".join(difflib.unified_diff(before, after, f"{path} (now)", f"{path} (then)"))


def _identity(version: FileVersion | PresentFile) -> tuple[str, int]:
    return version.blob, _as_git_mode(version.mode)


def _as_git_mode(mode: int) -> int:
    """The kind of file, and whether it may be run: what git knows of a mode."""
    return stat.S_IFMT(mode) | (mode & stat.S_IXUSR)


def _successor(version: FileVersion, later: Iterable[FileVersion]) -> FileVersion | None:
    """The next version that was another one; `later` are those after it, the oldest first."""
    others: Iterator[FileVersion] = (each for each in later if each.blob != version.blob)
    return next(others, None)


MOST_FILES: Final = 2_000
SHORTEST_ID: Final = 4
_LOST: Final = "what neither a hook nor the watcher saw is lost; `git log -- PATH` shows commits"


class KnownVersion(msgspec.Struct, frozen=True):
    """A version of a file that can be brought back and is not what stands there now.

    `number` counts the versions of its file from the newest; `id` is git's id of the bytes. `agent`
    left it, by `left_by` (a tool, a command); None if nobody was seen to. `lost_to` is the agent
    whose act came next, `lost_by` that act, as far as it was seen.
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
    """The newest first; `more` were left out. `elsewhere` are files with copies in other
    worktrees."""

    versions: list[KnownVersion]
    more: int
    elsewhere: int


class VersionDifference(msgspec.Struct, frozen=True):
    """What bringing `version` back would change; None if one of the two is no text."""

    version: KnownVersion
    difference: Quoted | None


class RestoredVersion(msgspec.Struct, frozen=True):
    """`file` is where the bytes were written. `replaced` is the id of what stood there, of which
    there is a copy now; None if nothing did, or if it was written elsewhere."""

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
    """What can be brought back, newest first: versions that are not what is on disk now.

    With `path`, from the root of the worktree or absolute, only of that file, or of what is in that
    folder; of this worktree unless `all_worktrees`.
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
    """What bringing back a version would change. Without a choice it is the newest that differs."""
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
    """Bring a version of a file back, bytes and mode. Without a choice: the newest that differs.

    What stands there now is kept first. It goes through the guard like an edit: if another agent
    holds the file it is refused (`reservation_conflict`); with `file` the bytes are written there
    instead. A repeat brings back what the first replaced, unless `blob` names the version.
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
    """The ledger is not needed to find what was lost."""
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
    """The worktree and the name in it of a file of which there is a copy."""
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
            "no_version", f"{quote_name(path)} is as it was last seen", hint="nothing to bring back"
        )
    if not chosen:
        raise NotFound(
            "no_version",
            f"no version of {quote_name(path)} is so",
            hint=f"`moot undo --list {typed_scope(path)}` shows all there are",
        )
    return chosen[0]


def _make_filter(
    number: int | None, at: str | None, blob: str | None
) -> Callable[[FormerVersion], bool]:
    """Whether a version is the one that was asked for; at most one way to say which."""
    if sum(each is not None for each in (number, at, blob)) > 1:
        raise Malformed(
            "a version is chosen by its number, a time or its id",
            code="two_choices",
            hint="give one of them",
        )
    if blob is not None and len(blob) < SHORTEST_ID:
        raise Malformed(
            f"an id has at least {SHORTEST_ID} digits",
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
    """Who acts, if the file is free for them; an agent reserves it as it would by an edit."""
    from moot.api.guard import checks, edits

    if not root.is_dir():
        raise Refused(
            "worktree_gone",
            f"the worktree {root} is not there any more",
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
            f"{quote_name(held_path)} is held by {owner}, who would have to bring it back",
            hint="`-o FILE` writes the version elsewhere; or wait until it is free",
        )
    return name


def _require_kept(copies: Copies, path: str, editor: Editor) -> None:
    """Undoing must not lose anything either."""
    kept = Editor("", "", editor.at, "before moot undo")
    for left_out in copies.keep([path], kept):
        raise Refused(
            "not_kept",
            f"no copy of {quote_name(path)} as it is now can be kept: {left_out.why}",
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
    """What made a version, if that was seen: a copy tells only before which act it was made."""
    return Quoted(version.why) if version.agent else None
