"""Where a path belongs: its workspace, its worktree, and the names it has there.

A path is asked, not the working directory: an agent that went elsewhere with `cd` still edits the
same project. Both the name as given and the file it really is are claimed, so that a link is no
way around the guard. What lies in no workspace is nobody's business here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from moot.core.errors import Unavailable
from moot.workspace.find import FOLDER, find, git_common_dir, worktree_root


class Spot(NamedTuple):
    """Files of one worktree, named relative to its root, and the workspace that guards them."""

    workspace: Path
    root: Path
    scopes: tuple[str, ...] = ()


def session_spot(cwd: str, home: Path | None) -> Spot | None:
    """Where a session works; None outside of every workspace. A named home must exist."""
    start = Path(cwd)
    own = _own_spot(start)
    if home is None:
        return own
    place = find(start, home)
    if own is not None and _same(own.workspace, place):
        return own
    return Spot(place, worktree_root(start) or start)


def adrift(spot: Spot) -> bool:
    """Is its root only where somebody stood? Neither git nor the workspace says where it is."""
    return worktree_root(spot.root) is None and not _same(spot.workspace.parent, spot.root)


def outermost(name: str, roots: Iterable[str]) -> Path | None:
    """The widest of the roots around a path: all who know them count from the same one."""
    around = [root for root in roots if root and _relative(name, Path(root)) is not None]
    return Path(min(around, key=lambda root: len(os.path.realpath(root)))) if around else None


def spots_of(
    paths: Iterable[str], cwd: str, home: Path | None, roots: Iterable[str] = ()
) -> list[Spot]:
    """The workspaces that guard `paths` (absolute), each with the scopes they are there.

    `roots` are those that others count from; they matter to a session whose own is adrift.
    """
    found: dict[tuple[Path, Path], dict[str, None]] = {}
    session, known = session_spot(cwd, home) if home is not None else None, tuple(roots)
    for path in paths:
        for name in dict.fromkeys((os.path.normpath(path), os.path.realpath(path))):
            spot = _spot_of(name, _settled(name, session, known))
            if spot is not None:
                scopes = found.setdefault((spot.workspace, spot.root), {})
                scopes.update(dict.fromkeys(spot.scopes))
    return [Spot(place, root, tuple(scopes)) for (place, root), scopes in found.items()]


def branch_of(root: Path) -> str | None:
    """The branch checked out in a worktree, read from git's own file."""
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


def _settled(name: str, session: Spot | None, roots: tuple[str, ...]) -> Spot | None:
    """The session's spot for this path, from the root that others count from too.

    What lies elsewhere, and in a workspace, is asked there.
    """
    if session is None or not roots or not adrift(session):
        return session
    if _relative(name, session.root) is None and _own_spot(Path(name).parent) is not None:
        return session
    return session._replace(root=outermost(name, (*roots, str(session.root))) or session.root)


def _spot_of(name: str, session: Spot | None) -> Spot | None:
    """A home that was named guards the session's own project, whatever else is found there.

    A worktree inside of another is a root of its own: its files have the same names in both.
    """
    spot = _own_spot(Path(name) if os.path.isdir(name) else Path(name).parent)
    if session is not None and _relative(name, session.root) is not None:
        spot = spot if spot is not None and _same(spot.workspace, session.workspace) else session
    scope = _relative(name, spot.root) if spot is not None else None
    return None if spot is None or scope is None else spot._replace(scopes=(scope,))


def _own_spot(start: Path) -> Spot | None:
    """A submodule has no workspace of its own: the project around it guards it."""
    root = worktree_root(start)
    try:
        place = find(start)
    except Unavailable:
        above = root.parent if root is not None else None
        return _own_spot(above) if above is not None and above != root else None
    while root is not None and not _guards(place, root):
        root = worktree_root(root.parent) if root.parent != root else None
    return Spot(place, root or place.parent)


def _same(one: Path, other: Path) -> bool:
    """One folder, however it is called."""
    return one == other or (one.exists() and other.exists() and one.samefile(other))


def _guards(place: Path, root: Path) -> bool:
    """Is `place` the workspace of the very repository that `root` is a worktree of?"""
    if root / FOLDER == place:
        return True
    common = git_common_dir(root)
    return common is not None and place in (common.parent / FOLDER, common / FOLDER)


def _relative(name: str, root: Path) -> str | None:
    for top in dict.fromkeys((str(root), os.path.realpath(root))):
        if name == top or name.startswith(top.rstrip(os.sep) + os.sep):
            return os.path.relpath(name, top)
    return None
