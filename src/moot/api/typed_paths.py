"""Paths as people type them on a command line: relative to the current folder, as in git (B-11).

    x           in the current folder           *           this folder and all in it
    :/x         at the root of the worktree     port:3000   a named resource, the same everywhere
    ./port:3000 a file with such a name         /a/b/x      an absolute path

The result is relative to the root, as the library expects it. Only the command line uses this: the
record, JSON, the library, MCP and hooks always use paths relative to the root.
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

_MOST_NAMES: Final = 10_000  # names of a folder that are compared to find a look-alike


def read_typed_scopes(texts: Iterable[str], session: Session) -> tuple[str, ...]:
    """Return the scopes relative to the root; one outside is absolute and refused later."""
    return tuple([read_typed_scope(text, session.folder, _root(session)) for text in texts])


def locate_typed_paths(texts: Iterable[str], session: Session) -> tuple[str, ...]:
    """Return the typed scopes as absolute paths."""
    scopes = read_typed_scopes(texts, session)
    return tuple([_locate(scope, _root(session)) for scope in scopes])


def locate_typed_path(text: str, session: Session) -> str:
    """Return one absolute path without opening the ledger, which may be damaged."""
    from moot.api.guard.guarded_paths import find_guarded_folder

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:  # the operation will report that
        return text
    root = guarded.worktree_root
    return _locate(read_typed_scope(text, session.folder, root), root)


def read_typed_pair(first: str, second: str, session: Session) -> tuple[str, str]:
    """Return two scopes relative to the root of git; no workspace is needed."""
    from moot.workspace.find import worktree_root

    root = worktree_root(session.folder) or session.folder
    return (
        read_typed_scope(first, session.folder, root),
        read_typed_scope(second, session.folder, root),
    )


def read_typed_scope(text: str, folder: Path, root: Path) -> str:
    """Return a path typed in `folder` relative to `root`; absolute if it is outside."""
    require_spelled_out(text, (folder,))
    scope = paths.read_typed(text, str(folder), str(root))
    return _through_a_link(scope, root) if os.path.isabs(scope) else scope


def typed_scope(scope: str) -> OwnText:
    """Return how to type a scope in a shell so that it means the same in every folder."""
    return shell_word(paths.write_typed(scope))


def typed_from_root(scope: str) -> str:
    """Return how to type a scope relative to the root in any folder; an absolute path stays."""
    return scope if os.path.isabs(scope) else paths.write_typed(scope.removeprefix(":/"))


def remark_on_missing(scopes: Iterable[str], place: Place) -> Iterator[Finding]:
    """Yield a warning for each scope, relative to the root, that does not exist yet.

    It can be reserved before it is made; but it may be a typing error.
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
            hint=_suggest_path(path, place),
        )


def _suggest_path(path: str, place: Place) -> str:
    look_alike = _find_look_alike(place.worktree, path)
    if look_alike is not None:
        return f"{typed_scope(look_alike)} exists: it looks the same, with other Unicode characters"
    here = paths.read_typed(".", str(place.folder), str(place.worktree))
    from_root = path[len(here) + 1 :] if paths.is_inside(path, here) else ""
    if from_root and os.path.lexists(place.worktree / from_root):
        return f"paths are relative to your folder; {typed_scope(from_root)} is at the root"
    return "that is fine if you are going to create it"


def find_path_from_root(text: str, session: Session) -> str | None:
    """Return the absolute path if it was probably typed relative to the root by mistake.

    That is probable if its first folder is at the root and not in the current folder.
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
    """Return the scope of an absolute path that reaches the root through a symbolic link.

    Links inside the project are not followed (B-12), only links on the way to its root.
    """
    below: list[str] = []
    folder = path
    while True:
        try:
            if os.path.samefile(folder, root):
                return paths.read_typed(os.path.join(root, *below), str(root), str(root))
        except (OSError, ValueError):
            pass  # it does not exist: a folder above it may
        above, name = os.path.split(folder)
        if above == folder:
            return path
        folder, below = above, [name, *below]


def require_spelled_out(text: str, folders: Iterable[Path]) -> None:
    """Refuse `~/x`: a shell does not expand it in quotes, and it is no file of this project."""
    first, slash, _rest = text.replace("\\", "/").partition("/")
    is_home = first.startswith("~") and (slash or first == "~")
    if is_home and not any(os.path.lexists(folder / first) for folder in folders):
        raise Malformed(
            f"{text}: nothing is called {first} here",
            code="bad_scope",
            hint=f"type the whole path, such as {quote(os.path.expanduser('~/x'))}",
        )


def _find_look_alike(root: Path, path: str) -> str | None:
    """Return an existing path that differs only in Unicode normalization (é as one or two).

    Scopes compare names byte by byte, and a reader cannot see this difference.
    """
    existing: list[str] = []
    for part in path.split("/"):
        folder = root.joinpath(*existing)
        name = part if os.path.lexists(folder / part) else _find_same_name(folder, part)
        if name is None:
            return None
        existing.append(name)
    return "/".join(existing)


def _find_same_name(folder: Path, part: str) -> str | None:
    composed = normalize("NFC", part)
    return next((name for name in _names(folder) if normalize("NFC", name) == composed), None)


def _names(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for _, entry in zip(range(_MOST_NAMES), entries, strict=False):
                yield entry.name
    except OSError:
        return
