"""Paths as they are typed on a command line: from the current folder, as git reads them (B-11).

    x           beside us                       *           this folder and all in it
    :/x         at the root of the worktree     port:3000   a named resource, the same everywhere
    ./port:3000 a file that is named like one   /a/b/x      itself

What comes out is named from the root, as the library takes it. Only a surface where people type
uses this: record, JSON, the library, MCP and hooks name everything from the root.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final
from unicodedata import normalize

from moot.core.errors import Malformed
from moot.core.findings import Finding, Severity
from moot.core.text import OwnText, shell_word
from moot.protocols.presence import paths
from moot.protocols.presence.model import is_resource

if TYPE_CHECKING:
    from moot.api.session import Place, Session

_MOST_LOOKED_AT: Final = 10_000  # names in a folder, to find one that looks the same


def read_typed_scopes(texts: Iterable[str], session: Session) -> tuple[str, ...]:
    """What was typed, named from the root; what lies outside is absolute, and refused later."""
    return tuple([read_typed_scope(text, session.folder, _root(session)) for text in texts])


def locate_typed_paths(texts: Iterable[str], session: Session) -> tuple[str, ...]:
    """The same as absolute paths, which leave no doubt about where they start."""
    scopes = read_typed_scopes(texts, session)
    return tuple([_locate(scope, _root(session)) for scope in scopes])


def locate_typed_path(text: str, session: Session) -> str:
    """One of them, told without opening the ledger: for what must work when it is damaged."""
    from moot.api.guard.guarded_paths import find_guarded_folder

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:  # which the operation will say
        return text
    root = guarded.worktree_root
    return _locate(read_typed_scope(text, session.folder, root), root)


def read_typed_pair(first: str, second: str, session: Session) -> tuple[str, str]:
    """Two scopes where there may be no workspace: then git says where the root is."""
    from moot.workspace.find import worktree_root

    root = worktree_root(session.folder) or session.folder
    return (
        read_typed_scope(first, session.folder, root),
        read_typed_scope(second, session.folder, root),
    )


def read_typed_scope(text: str, folder: Path, root: Path) -> str:
    """One text that was typed in `folder`, named from `root`; absolute if it lies outside."""
    require_spelled_out(text, (folder,))
    scope = paths.read_typed(text, str(folder), str(root))
    return _through_a_link(scope, root) if os.path.isabs(scope) else scope


def typed_scope(scope: str) -> OwnText:
    """How a scope is typed in a shell so that it means the same in every folder."""
    return shell_word(paths.write_typed(scope))


def typed_from_root(scope: str) -> str:
    """A scope that counts from the root, as it is typed in any folder; an absolute one stays."""
    return scope if os.path.isabs(scope) else paths.write_typed(scope.removeprefix(":/"))


def remark_on_missing(scopes: Iterable[str], place: Place) -> Iterator[Finding]:
    """A warning for each scope, named from the root, of which nothing is there yet.

    It is held all the same, for a file may be reserved before it is made; but it may be a slip.
    """
    for scope in scopes:
        path = scope if is_resource(scope) else paths.strip_wildcard(scope, str(place.worktree))
        if is_resource(scope) or os.path.lexists(place.worktree / path):
            continue
        yield Finding(
            rule="B-11",
            code="no_such_path",
            severity=Severity.WARNING,
            message=f"{scope} does not exist",
            where=scope,
            hint=_what_may_be_meant(path, place),
        )


def _what_may_be_meant(path: str, place: Place) -> str:
    twin = _look_alike(place.worktree, path)
    if twin is not None:
        return f"{typed_scope(twin)} is there, which looks the same: its letters are composed so"
    here = paths.read_typed(".", str(place.folder), str(place.worktree))
    from_root = path[len(here) + 1 :] if paths.is_inside(path, here) else ""
    if from_root and os.path.lexists(place.worktree / from_root):
        return f"paths are read from the folder you are in; {typed_scope(from_root)} is at the root"
    return "that is fine if it is yet to be made"


def path_if_from_root(text: str, session: Session) -> str | None:
    """Where the path lies if it was named from the root by mistake; None if that is unlikely.

    It is likely if its first folder is at the root, and not in the folder we are in.
    """
    place, first = session.place, text.partition("/")[0]
    is_plain = "/" in text and first not in ("", ".", "..", ":") and not is_resource(text)
    if not is_plain or os.path.lexists(place.folder / first):
        return None
    there = os.path.join(place.worktree, text)
    return there if os.path.lexists(place.worktree / first) else None


def _root(session: Session) -> Path:
    return session.place.worktree


def _locate(scope: str, root: Path) -> str:
    return os.path.join(root, scope) if scope.strip() and not is_resource(scope) else scope


def _through_a_link(path: str, root: Path) -> str:
    """An absolute path that leads to the root by another way, such as a link to the project.

    Links inside of the project are not followed (B-12): only the way to its root is.
    """
    below: list[str] = []
    folder = path
    while True:
        try:
            if os.path.samefile(folder, root):
                return paths.read_typed(os.path.join(root, *below), str(root), str(root))
        except (OSError, ValueError):
            pass  # it is not there: a folder above it may be
        above, name = os.path.split(folder)
        if above == folder:
            return path
        folder, below = above, [name, *below]


def require_spelled_out(text: str, folders: Iterable[Path]) -> None:
    """A shell that is given `~/x` in quotes leaves it so; that is no file of this project."""
    first, slash, _rest = text.replace("\\", "/").partition("/")
    is_home = first.startswith("~") and (slash or first == "~")
    if is_home and not any(os.path.lexists(folder / first) for folder in folders):
        raise Malformed(
            f"{text}: nothing is called {first} here",
            code="bad_scope",
            hint=f"write the folder out, such as {quote(os.path.expanduser('~/x'))}",
        )


def _look_alike(root: Path, path: str) -> str | None:
    """The name from the root that differs only in how its letters are composed (é as one or two).

    Names are compared as they are written, and nobody sees the difference.
    """
    there: list[str] = []
    for part in path.split("/"):
        folder = root.joinpath(*there)
        name = part if os.path.lexists(folder / part) else _twin_in(folder, part)
        if name is None:
            return None
        there.append(name)
    return "/".join(there)


def _twin_in(folder: Path, part: str) -> str | None:
    composed = normalize("NFC", part)
    return next((name for name in _names(folder) if normalize("NFC", name) == composed), None)


def _names(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for _, entry in zip(range(_MOST_LOOKED_AT), entries, strict=False):
                yield entry.name
    except OSError:
        return
