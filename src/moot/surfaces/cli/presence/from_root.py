"""To `bb-init` scopes are named from the root, wherever one stands, as its document has it (B-11).

A scope that was read as another place than the one beside us gets a remark. One that leads out of
the worktree is refused, and the hint names what was meant.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from moot.api.guard.asked_paths import hint_named_from_root, reach, scope_beside
from moot.api.typed_paths import typed_scope
from moot.core.errors import Refused
from moot.core.findings import Finding, Severity

if TYPE_CHECKING:
    from moot.api.session import Place, Session


def remark_on_misread(scopes: Iterable[str], place: Place) -> Iterator[Finding]:
    """A remark on each scope that is probably meant relative to the current folder."""
    for text in scopes:
        beside = scope_beside(text, place)
        if beside is None:
            continue
        path = text.removesuffix("*")
        if os.path.normpath(path) == os.curdir and beside != ".":
            yield _remark(
                text,
                "whole_project",
                f"{text} is the whole project, not the folder you are in",
                f"`moot reserve {typed_scope(beside)}` is this folder,"
                " `moot release :/` gives the rest back",
            )
        elif reach(path, place.folder) > reach(path, place.worktree):
            yield _remark(
                text,
                "named_from_the_root",
                f"{text} was read from the root of the worktree, where it does not exist",
                f"`moot reserve {typed_scope(beside)}` is the one beside you",
            )


@contextmanager
def hints_from_root(session: Session, scopes: Sequence[str]) -> Iterator[None]:
    """A scope that leads out, refused inside: the hint says how what was meant is named."""
    try:
        yield
    except Refused as refused:
        if refused.code == "scope_outside":
            way = hint_named_from_root(scopes, session.place, "bb-init --scope")
            refused.hint = way or refused.hint
        raise


def _remark(text: str, code: str, message: str, hint: str) -> Finding:
    return Finding(
        rule="B-11",
        code=code,
        severity=Severity.WARNING,
        message=message,
        where=text,
        hint=hint,
    )
