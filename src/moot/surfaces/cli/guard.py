"""`moot guard check`: may an agent write there?"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.core.clock import to_text
from moot.core.errors import Malformed
from moot.surfaces.cli.answer import DONE, REFUSED, Answer, paint
from moot.surfaces.cli.shell import Shell, command

if TYPE_CHECKING:
    from moot.presence.overlap import Conflict
    from moot.surfaces.hooks.place import Spot


@click.group("guard", no_args_is_help=False)
def guard() -> None:
    """Ask before writing."""


@command(guard, "check", "guard.check")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--agent", metavar="NAME", help="Who would write (default: whoever acts).")
def check(shell: Shell, paths: tuple[str, ...], agent: str | None) -> Answer:
    """May an agent write to these paths? Writes nothing, reserves nothing.

    Paths are relative to the root of the worktree, like all scopes. The exit code is 1 if another
    agent holds one of them; if nobody is named, anyone who holds something there.

    Examples:
      moot guard check src/auth.py
      moot guard check src/a.py src/b.py --agent amber-otter --json
    """
    from moot.surfaces.hooks.look import in_the_way

    spot, scopes = _placed(shell, paths)
    name = agent or shell.acting
    found = in_the_way(shell.workspace, scopes, spot.root, name, shell.env)
    data = {
        "allowed": not found,
        "agent": name,
        "paths": list(scopes),
        "held": [_held(conflict) for conflict in found],
    }
    lines = _lines(data, found)
    return Answer(data, lambda: lines, REFUSED if found else DONE)


def _placed(shell: Shell, paths: tuple[str, ...]) -> tuple[Spot, tuple[str, ...]]:
    """Paths as typed, as scopes: relative to the worktree's root, like every scope (B-11)."""
    from moot.surfaces.hooks.place import Spot, session_spot, spots_of

    here = str(Path.cwd())
    own = session_spot(here, shell.home) or Spot(shell.place, Path(here))
    full = [os.path.join(own.root, path) for path in paths]
    inside = [spot for spot in spots_of(full, here, shell.home) if spot.workspace == own.workspace]
    scopes = tuple(dict.fromkeys(scope for spot in inside for scope in spot.scopes))
    if any(not spots_of([path], here, shell.home) for path in full):
        raise Malformed(
            "a path lies outside of this project", code="scope_outside", hint="stay in the project"
        )
    return own, scopes


def _held(conflict: Conflict) -> dict[str, Any]:
    held, verdict = conflict.held, conflict.verdict
    seen = verdict.last_seen_at
    return {
        "path": conflict.claim.shown,
        "scope": held.scope,
        "class": str(conflict.kind),
        "owner": held.owner,
        "liveness": str(verdict.liveness),
        "last_seen_at": None if seen is None else to_text(seen),
        "work": held.work,
        "since": to_text(held.since),
        "automatic": held.automatic,
    }


def _lines(data: dict[str, Any], found: Iterable[Conflict]) -> list[str]:
    if data["allowed"]:
        return [f"{paint('free', 'green')}: {', '.join(data['paths'])}"]
    return [f"{paint('held', 'red')}: {conflict.sentence}" for conflict in found]
