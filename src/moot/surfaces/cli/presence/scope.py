"""`moot reserve`, `moot release` and `moot scope ...`: who works where."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import click

from moot.core.findings import Finding
from moot.protocols.presence import STREAM, paths, views
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.surfaces.cli.presence.from_root import misread
from moot.surfaces.cli.presence.here import Here
from moot.surfaces.cli.presence.scope_hints import hinted
from moot.surfaces.terminal.answer import Answer, findings_json, remarks
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command

_TAKEOVER = click.option(  # OPR-087
    "--takeover-stale", is_flag=True, help="Take it from an owner who has gone quiet or is gone."
)
_TTL = click.option(
    "--ttl", type=int, metavar="MIN", help="Ends by itself after 5 to 1440 minutes."
)
_WORK = click.option(
    "--work", "--bead", "work", metavar="ID", help="The work item (default: the branch)."
)
_AGENT = click.option("--agent", metavar="NAME", help="Who acts (default: --as or MOOT_AGENT).")


@click.argument("scopes", nargs=-1, required=True, metavar="SCOPE...")
@_TAKEOVER
@_WORK
@_TTL
@_AGENT
def reserving(
    shell: Shell,
    scopes: tuple[str, ...],
    takeover_stale: bool,
    work: str | None,
    ttl: int | None,
    agent: str | None,
) -> Answer:
    """Reserve files or folders, all or none. `src/*` means the folder and all in it.

    Scopes are named from the root of the worktree, wherever you stand. Refused, with the
    holder's name, if another agent holds any of it. What the living hold is never taken; what
    the quiet hold only with --takeover-stale.

    Examples:
      moot reserve src/auth
      moot reserve src/api 'docs/*' --work T-7 --ttl 120
      moot reserve src/auth --takeover-stale
      moot scope reserve src/auth --agent amber-otter
    """
    here, name = Here(shell), shell.actor(agent)
    asked = here.reserving(scopes, work, ttl, takeover_stale)
    with hinted(here, scopes):
        outcome = here.space.engine.execute(STREAM, asked, name)
    found = [*outcome.findings, *here.remarks, *_links(scopes, here), *misread(scopes, here)]
    data = {
        "agent": name,
        "reserved": [_lease(one.event) for one in outcome.recorded if _is_lease(one.event)],
        "taken_over": [_lost(one.event) for one in outcome.recorded if _is_loss(one.event)],
        "findings": findings_json(found),
    }
    return Answer(data, lambda: _reserved_lines(data, scopes, found))


def _is_lease(event: Any) -> bool:
    return isinstance(event, did.ScopeReserved)


def _is_loss(event: Any) -> bool:
    taken = isinstance(event, did.ScopeExpired) and event.why == "evicted"
    return taken or isinstance(event, did.ScopeTakenOver)


def _lease(event: did.ScopeReserved) -> dict[str, Any]:
    from moot.core.clock import to_text

    return {
        "scope": event.scope,
        "fencing": event.fencing,
        "work": event.work,
        "expires_at": None if event.expires_at is None else to_text(event.expires_at),
    }


def _lost(event: did.ScopeTakenOver | did.ScopeExpired) -> dict[str, Any]:
    taken = isinstance(event, did.ScopeTakenOver)
    return {
        "scope": event.scope,
        "owner": event.owner,
        "status": "taken_over" if taken else "expired",
    }


def _links(scopes: Iterable[str], here: Here) -> Iterable[Finding]:
    """B-12: names are compared, links are not followed; say where one really leads."""
    for text in scopes:
        root = str(here.worktree)
        key = paths.read_scope(text, root).key
        real = os.path.realpath(here.worktree / key)
        remark = paths.warn_of_symlink(text, real, os.path.realpath(root))
        if remark is not None:
            yield remark


def _reserved_lines(
    data: dict[str, Any], scopes: tuple[str, ...], found: Iterable[Finding]
) -> Iterable[str]:
    for one in data["taken_over"]:
        yield f"taken from {one['owner']}: {one['scope']} ({one['status']})"
    for one in data["reserved"]:
        until = f", until {one['expires_at']}" if one["expires_at"] else ""
        yield f"{data['agent']} holds {one['scope']} (number {one['fencing']}{until})"
    if not data["reserved"]:
        yield f"{data['agent']} holds {', '.join(scopes)} already"
    yield from remarks(found)


@click.argument("scopes", nargs=-1, metavar="[SCOPE]...")
@click.option("--all", "everything", is_flag=True, help="Everything you hold.")
@_AGENT
def releasing(shell: Shell, scopes: tuple[str, ...], everything: bool, agent: str | None) -> Answer:
    """Give back what you hold, named exactly as you reserved it.

    Examples:
      moot release src/auth
      moot release --all
      moot scope release src/auth --agent amber-otter
    """
    if not scopes and not everything:
        raise click.UsageError("name a SCOPE, or use --all")
    here, name = Here(shell), shell.actor(agent)
    asked = ask.Release(
        scopes=scopes,
        project_root=here.project_root,
        worktree=str(here.worktree),
        all=everything,
    )
    with hinted(here, scopes, "release"):
        outcome = here.space.engine.execute(STREAM, asked, name)
    given = [
        one.event.scope for one in outcome.recorded if isinstance(one.event, did.ScopeReleased)
    ]
    data = {"agent": name, "released": given, "findings": findings_json(outcome.findings)}
    return Answer(data, lambda: [f"{name} gave back {', '.join(given) or 'nothing'}"])


SECTIONS = {
    "Commands": {
        "reserve": "reserve files or folders, all or none",
        "release": "give back what you hold",
        "list": "who holds what, how alive they are, since when",
        "compare": "how two scopes lie to each other",
    },
}


@click.command("scope", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def scope() -> None:
    """Scopes: files and folders that one agent at a time works on."""


# The same commands under two names: `moot reserve SCOPE` and `moot scope reserve SCOPE --agent A`.
reserve = command(None, "reserve", "reserve")(reserving)
release = command(None, "release", "release")(releasing)
command(scope, "reserve", "scope.reserve")(reserving)
command(scope, "release", "scope.release")(releasing)


@command(scope, "list", "scope.list")
@_AGENT
def list_scopes(shell: Shell, agent: str | None) -> Answer:
    """Who holds what, how alive they are, and since when.

    Examples:
      moot scope list
      moot scope list --agent amber-otter --json
    """
    here = Here(shell)
    held = views.view_reservations(here.state, here.moment(), agent)
    return Answer({"reservations": held}, lambda: held_lines(held))


def held_lines(held: Sequence[views.ReservationView]) -> Iterable[str]:
    if not held:
        return ["nothing is held: `moot reserve SCOPE`"]
    rows = [(view.scope, view.owner, view.label, view.work or "-", view.since) for view in held]
    return listing(rows, ("SCOPE", "HOLDER", "ALIVE", "WORK", "SINCE"))


@command(scope, "compare", "scope.compare")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
def compare(shell: Shell, first: str, second: str) -> Answer:
    """How two scopes lie to each other: exact, partial or disjoint. Needs no workspace.

    Examples:
      moot scope compare 'src/*' src/lib/parser.ts
    """
    from moot.workspace.find import worktree_root

    root = worktree_root(shell.cwd) or shell.cwd
    found = paths.compare_scopes(first, second, str(root))
    data = {"class": str(found.kind), "a": found.a, "b": found.b}
    return Answer(data, lambda: [str(found.kind)])
