"""Scopes: files and folders that one agent at a time works on.

A scope is a text relative to the root of the worktree, wherever the session stands: `src/auth`, or
`src/*` for the folder and all in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from moot.protocols.presence import commands

if TYPE_CHECKING:
    from moot.api.session import Session


def reserve_command(
    session: Session,
    scopes: Sequence[str],
    work: str | None = None,
    ttl_minutes: int | None = None,
    *,
    take_stale: bool = False,
) -> commands.Reserve | commands.TakeOver:
    """The command that reserves `scopes` from where the session stands."""
    kind = commands.TakeOver if take_stale else commands.Reserve
    place = session.place
    return kind(
        scopes=tuple(scopes),
        project_root=str(session.workspace.root),
        worktree=str(place.worktree),
        branch=place.branch,
        work=work or place.branch,
        ttl_minutes=ttl_minutes,
        stale_millis=session.stale_millis,
    )
