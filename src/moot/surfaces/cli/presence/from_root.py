"""Scopes are named from the root of the worktree, wherever one stands (B-11).

A scope that was read as another place than the one beside us gets a remark. One that leads out of
the worktree is refused, and the hint names what was meant.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.findings import Finding, Severity

if TYPE_CHECKING:
    from moot.api.session import Place


def remark_on_misread(scopes: Iterable[str], place: Place) -> Iterator[Finding]:
    """A remark on each scope that is probably meant relative to the current folder."""
    for text in scopes:
        beside = _scope_beside(text, place)
        if beside is None:
            continue
        path = text.removesuffix("*")
        if os.path.normpath(path) == os.curdir and beside != ".":
            yield _remark(
                text,
                "whole_project",
                f"{text} is the whole project, not the folder you are in",
                f"`moot reserve {beside}` is this folder, `moot release .` gives the rest back",
            )
        elif reach(path, place.folder) > reach(path, place.worktree):
            yield _remark(
                text,
                "named_from_the_root",
                f"{text} was read from the root of the worktree, where it does not exist",
                f"`moot reserve {beside}` is the one beside you",
            )


def hint_named_from_root(scopes: Iterable[str], place: Place, verb: str) -> str:
    """How a scope that leads out is written, if it is in the worktree from where we stand."""
    for text in scopes:
        beside = _scope_beside(text, place)
        if beside is not None and os.path.normpath(text).startswith(os.pardir):
            return f"scopes are named from the root of the worktree: `moot {verb} {beside}`"
    return ""


def reach(text: str, base: Path) -> int:
    """How much of a path is there already, from `base`: so many folders, and the file."""
    parts = Path(os.path.normpath(text)).parts
    there = (os.path.lexists(base.joinpath(*parts[: n + 1])) for n in range(len(parts)))
    return next((n for n, is_there in enumerate(there) if not is_there), len(parts))


def _scope_beside(text: str, place: Place) -> str | None:
    """The scope of what `text` names from where we stand; None if that is not in the worktree."""
    if os.path.isabs(text):
        return None
    below = os.path.relpath(place.folder / text.removesuffix("*"), place.worktree)
    return None if below.split(os.sep)[0] == os.pardir else below.replace(os.sep, "/")


def _remark(text: str, code: str, message: str, hint: str) -> Finding:
    return Finding(
        rule="B-11",
        code=code,
        severity=Severity.WARNING,
        message=message,
        where=text,
        hint=hint,
    )
