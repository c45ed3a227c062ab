"""`moot guard check`: may an agent write there?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from moot.core.clock import to_text
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, paint
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.protocols.presence.overlap import OverlapConflict


SECTIONS = {"Commands": {"check": "may an agent write to these paths?"}}


@click.command("guard", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def guard() -> None:
    """Ask before writing."""


@command(guard, "check", "guard.check")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--agent", metavar="NAME", help="Who would write (default: whoever acts).")
def check(shell: Shell, paths: tuple[str, ...], agent: str | None) -> Answer:
    """May an agent write to these paths? Writes nothing, reserves nothing.

    Paths are relative to the root of the worktree, like all scopes; one that may mean another
    file beside you is refused. The exit code is 1 if another agent holds one of them; if nobody is
    named, anyone who holds something there.

    Examples:
      moot guard check src/auth.py
      moot guard check src/a.py src/b.py --agent amber-otter --json
    """
    from moot.flows.guard.aliases import twins
    from moot.flows.guard.blockers import in_the_way
    from moot.flows.guard.off_limits import require_allowed
    from moot.surfaces.cli.guard.asked_paths import asked_paths, misnamed
    from moot.surfaces.cli.presence.here import Here

    here, name = Here(shell), agent or shell.acting
    asked = asked_paths(paths, here)

    def holders(names: Iterable[str]) -> tuple[OverlapConflict, ...]:
        asked = tuple(names)
        also = (one.key for one in twins(here.state, asked, here.worktree))
        return in_the_way(shell.workspace, (*asked, *also), here.worktree, name, shell.env)

    scopes = list(dict.fromkeys(scope for one in asked for scope in one.names))
    require_allowed(scopes, here.worktree, here.space.path)
    found = holders(scopes)
    for one in asked if not found else ():
        for conflict in holders(one.beside):
            if not one.meets(conflict.held.key):
                continue
            raise misnamed(one, f"where it is free; beside you {conflict.sentence}", here)
    data = {
        "allowed": not found,
        "agent": name,
        "paths": scopes,
        "held": [_held(conflict) for conflict in found],
    }
    lines = _lines(data, found)
    return Answer(data, lambda: lines, REFUSED if found else DONE)


def _held(conflict: OverlapConflict) -> dict[str, Any]:
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


def _lines(data: dict[str, Any], found: Iterable[OverlapConflict]) -> list[str]:
    if data["allowed"]:
        return [f"{paint('free', 'green')}: {', '.join(data['paths'])}"]
    return [f"{paint('held', 'red')}: {conflict.sentence}" for conflict in found]
