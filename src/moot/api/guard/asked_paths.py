"""Read the paths that `moot guard check` asks about, with all names that they have in this
workspace.

Paths are relative to the worktree root, like scopes (B-11). A symlink and its target both count,
and so does the path relative to the current folder. Ambiguous paths are refused, because an agent
that reads "free" starts to write.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.api.guard.guarded_paths import GuardedPaths, find_guarded_paths, root_was_guessed
from moot.api.typed_paths import require_spelled_out, typed_scope
from moot.core.errors import Malformed, Refused
from moot.protocols.presence import paths
from moot.protocols.presence.model import is_resource, key_of_file

if TYPE_CHECKING:
    from moot.api.session import Place, Session

ASK_COMMAND: Final = "guard check"


class AskedPath(NamedTuple):
    """A path as typed, its names from the worktree root, and its names from the current folder.

    `only_below`: of the names from the folder, only reservations inside of this scope count.
    """

    text: str
    names: tuple[str, ...]
    from_folder: tuple[str, ...] = ()
    only_below: str | None = None

    def is_met_by(self, held: str) -> bool:
        """True if a reservation of this scope in the current folder matters."""
        return self.only_below is None or paths.is_inside(held, self.only_below)


def read_asked_paths(texts: Iterable[str], session: Session) -> list[AskedPath]:
    """Read all paths. Refuses the first that is ambiguous or outside of this project."""
    return [_read(text, session) for text in texts]


def ambiguous_path(asked: AskedPath, why: str) -> Refused:
    """Return the refusal of a path that means another file in the current folder."""
    at_root, from_folder = (
        f"`moot {ASK_COMMAND} {typed_scope(names[0])}`"
        for names in (asked.names, asked.from_folder)
    )
    return Refused(
        "named_from_the_root",
        f"{asked.text} was read from the root of the worktree, {why}",
        hint=f"{from_folder} checks the one in your folder, {at_root} the one at the root",
    )


def hint_named_from_root(scopes: Iterable[str], place: Place, verb: str) -> str:
    """Return how to write a scope that leaves the root but is inside from the current folder."""
    for text in scopes:
        from_folder = scope_from_folder(text, place)
        if from_folder is not None and os.path.normpath(text).startswith(os.pardir):
            return f"scopes are named from the root of the worktree: `{verb} {quote(from_folder)}`"
    return ""


def count_existing_parts(text: str, base: Path) -> int:
    """Return how many leading parts of a path exist, from `base`."""
    parts = Path(os.path.normpath(text)).parts
    there = (os.path.lexists(base.joinpath(*parts[: n + 1])) for n in range(len(parts)))
    return next((n for n, is_there in enumerate(there) if not is_there), len(parts))


def scope_from_folder(text: str, place: Place) -> str | None:
    """Return the scope of `text` read from the current folder; None if that is outside."""
    if os.path.isabs(text) or is_resource(text):
        return None
    below = os.path.relpath(place.folder / text.removesuffix("*"), place.worktree)
    outside = below.split(os.sep)[0] == os.pardir
    return None if outside else key_of_file(below.replace(os.sep, "/"))


def _read(text: str, session: Session) -> AskedPath:
    place = session.place
    paths.require_scope_text(text)  # an empty text would mean the root
    if is_resource(text):
        return AskedPath(text, (paths.read_scope(text, str(place.worktree)).shown,))
    require_spelled_out(text, (place.worktree, place.folder))
    names, from_folder = _names(text, place.worktree, session), _names(text, place.folder, session)
    if not names:
        hint = (
            hint_named_from_root([text], place, f"moot {ASK_COMMAND}")
            or f"name a path in {place.worktree}"
        )
        raise Malformed(f"{text} is outside of this project", code="scope_outside", hint=hint)
    if not from_folder or from_folder == names:
        return AskedPath(text, names)
    asked = AskedPath(text, names, from_folder)
    at_root, in_folder = (
        _count_existing_parts(text, base, place) for base in (place.worktree, place.folder)
    )
    if in_folder > at_root:
        raise ambiguous_path(asked, "where it does not exist")
    # The first folder exists only at the root, so the root is meant, unless an agent holds the same
    # path in the current folder and has not created it yet.
    is_clear = at_root and not in_folder and os.path.dirname(names[0])
    below = next(_names_below(str(place.folder), place.worktree), None) if is_clear else None
    return asked if below is None else asked._replace(only_below=_key(below, place))


def _names(text: str, base: Path, session: Session) -> tuple[str, ...]:
    """Return the scopes of `text` read from `base`; none if it is outside of this project."""
    names: dict[str, None] = {}
    for spelling in _spellings(text, base, session.place):
        names.update(dict.fromkeys(_scopes(os.path.join(base, spelling), session)))
    return tuple(names)


def _spellings(text: str, base: Path, place: Place) -> Iterator[str]:
    """Yield the text; if no such file exists, also `src/*` as the folder, and `/` for a
    backslash."""
    yield text
    if not os.path.lexists(os.path.join(base, text)):
        root = str(place.worktree)
        windows = paths.has_windows_root(root)
        yield paths.strip_wildcard(text if windows else text.replace("\\", "/"), root)


def _scopes(file: str, session: Session) -> Iterator[str]:
    """Yield the scopes of a file. A named home guards the current worktree, whatever else is
    there."""
    place, plain = session.place, os.path.normpath(file)
    for guarded in find_guarded_paths([file, plain], place.folder, None):
        if os.path.samefile(guarded.workspace, session.workspace.path):
            yield from map(key_of_file, guarded.scopes)
        elif session.home is None or not any(
            _names_below(str(guarded.worktree_root), _surely_ours(session))
        ):
            raise _in_another_workspace(file, guarded.workspace)
    if session.home is not None:
        for name in (plain, os.path.realpath(file), os.path.realpath(plain)):
            yield from _names_below(name, place.worktree)


def _surely_ours(session: Session) -> Path:
    """Return the folder that surely belongs to this project: a guessed root may be too wide."""
    place = session.place
    is_guess = root_was_guessed(GuardedPaths(session.workspace.path, place.worktree))
    return place.folder if is_guess else place.worktree


def _names_below(path: str, root: Path) -> Iterator[str]:
    """Yield the path relative to the root, if it is inside."""
    for top in (str(root), os.path.realpath(root)):
        try:
            yield paths.read_path(path, top).shown
        except Malformed as error:
            if error.code != "scope_outside":
                raise


def _key(name: str, place: Place) -> str:
    return paths.read_path(name, str(place.worktree)).key


def _in_another_workspace(file: str, workspace: Path) -> Malformed:
    home, real = quote(str(workspace)), quote(os.path.realpath(file))
    return Malformed(
        f"{file} belongs to another workspace",
        code="scope_outside",
        hint=f"`moot --home {home} {ASK_COMMAND} {real}` asks there",
    )


def _count_existing_parts(text: str, base: Path, place: Place) -> int:
    *_, spelling = _spellings(text, base, place)
    return count_existing_parts(spelling, base)
