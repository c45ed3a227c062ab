"""Which files are meant by a path that somebody asks about: all names they have in this workspace.

Paths are named from the root of the worktree, like scopes (B-11). A link and the file it leads to
both count, and so does what the path may mean beside us. In doubt it is refused: whoever reads
"free" begins to write.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.core.errors import Malformed, Refused
from moot.protocols.presence import paths
from moot.surfaces.cli.presence.from_root import hint_named_from_root, reach

if TYPE_CHECKING:
    from moot.surfaces.cli.presence.here import Here

ASK: Final = "guard check"


class Asked(NamedTuple):
    """A path as typed, its names read from the root, and those of the one beside us, if any.

    `below`: of the one beside us only what is held inside of this folder counts.
    """

    text: str
    names: tuple[str, ...]
    beside: tuple[str, ...] = ()
    below: str | None = None

    def meets(self, held: str) -> bool:
        """Does it matter that this scope beside us is held?"""
        return self.below is None or paths.is_inside(held, self.below)


def asked_paths(texts: Iterable[str], here: Here) -> list[Asked]:
    """All of them, or the refusal of the first that is not ours or not what it seems."""
    return [_asked(text, here) for text in texts]


def misnamed(asked: Asked, why: str, here: Here) -> Refused:
    """The path beside us is another one: say how each of the two is asked for."""
    there = f"`moot {ASK} {quote(str(here.worktree / asked.names[0]))}`"
    return Refused(
        "named_from_the_root",
        f"{asked.text} was read from the root of the worktree, {why}",
        hint=f"`moot {ASK} {quote(asked.beside[0])}` is the one beside you, {there} the other",
    )


def _asked(text: str, here: Here) -> Asked:
    paths.require_scope_text(text)  # an empty one would be the root, and nobody meant that
    _require_spelled_out(text, here)
    names, beside = _names(text, here.worktree, here), _names(text, here.shell.cwd, here)
    if not names:
        place = here.shell.session.place
        hint = hint_named_from_root([text], place, ASK) or f"name a path in {here.worktree}"
        raise Malformed(f"{text} lies outside of this project", code="scope_outside", hint=hint)
    if not beside or beside == names:
        return Asked(text, names)
    asked = Asked(text, names, beside)
    at_root, here_too = _reach(text, here.worktree, here), _reach(text, here.shell.cwd, here)
    if here_too > at_root:
        raise misnamed(asked, "where it does not exist", here)
    # Its first folder is at the root and not beside us: then it is clear what is meant, unless
    # somebody holds just that and has not made it yet.
    clear = at_root and not here_too and os.path.dirname(names[0])
    below = next(_below(str(here.shell.cwd), here.worktree), None) if clear else None
    return asked if below is None else asked._replace(below=_key(below, here))


def _require_spelled_out(text: str, here: Here) -> None:
    """A shell that is given `~/x` in quotes leaves it so; that is no file of this project."""
    first, slash, _rest = text.replace("\\", "/").partition("/")
    there = (os.path.lexists(base / first) for base in (here.worktree, here.shell.cwd))
    if first.startswith("~") and (slash or first == "~") and not any(there):
        raise Malformed(
            f"{text}: nothing is called {first} here",
            code="bad_scope",
            hint=f"write the folder out, such as {quote(os.path.expanduser('~/x'))}",
        )


def _names(text: str, base: Path, here: Here) -> tuple[str, ...]:
    """The scopes of what `text` names from `base`; none if that is not in this project."""
    found: dict[str, None] = {}
    for spelled in _spellings(text, base, here):
        found.update(dict.fromkeys(_scopes(os.path.join(base, spelled), here)))
    return tuple(found)


def _spellings(text: str, base: Path, here: Here) -> Iterator[str]:
    """As typed. If nothing is called so, `src/*` is the folder and a backslash a separator too."""
    yield text
    if not os.path.lexists(os.path.join(base, text)):
        root = str(here.worktree)
        windows = paths.has_windows_root(root)
        yield paths.strip_wildcard(text if windows else text.replace("\\", "/"), root)


def _scopes(full: str, here: Here) -> Iterator[str]:
    """A home that was named guards the worktree we are in, whatever else is found there."""
    from moot.flows.guard.guarded_paths import spots_of

    named, plain = here.shell.home is not None, os.path.normpath(full)
    for spot in spots_of([full, plain], str(here.shell.cwd), None):
        if os.path.samefile(spot.workspace, here.space.path):
            yield from spot.scopes
        elif not (named and any(_below(str(spot.root), _ours(here)))):
            raise _elsewhere(full, spot.workspace)
    if named:
        for name in (plain, os.path.realpath(full), os.path.realpath(plain)):
            yield from _below(name, here.worktree)


def _ours(here: Here) -> Path:
    """The folder that is surely of our project: a root that only others count from is wider."""
    from moot.flows.guard.guarded_paths import Spot, adrift

    return here.shell.cwd if adrift(Spot(here.space.path, here.worktree)) else here.worktree


def _below(name: str, root: Path) -> Iterator[str]:
    """What a path is called from the root, if it is there."""
    for top in (str(root), os.path.realpath(root)):
        try:
            yield paths.read_path(name, top).shown
        except Malformed as no:
            if no.code != "scope_outside":
                raise


def _key(name: str, here: Here) -> str:
    return paths.read_path(name, str(here.worktree)).key


def _elsewhere(full: str, workspace: Path) -> Malformed:
    home, real = quote(str(workspace)), quote(os.path.realpath(full))
    return Malformed(
        f"{full} belongs to another workspace",
        code="scope_outside",
        hint=f"`moot --home {home} {ASK} {real}` asks there",
    )


def _reach(text: str, base: Path, here: Here) -> int:
    *_, spelled = _spellings(text, base, here)
    return reach(spelled, base)
