"""`moot reserve`, `moot release` and `moot scope ...`: who works where."""

from __future__ import annotations

from collections.abc import Iterable

import click
from msgspec import structs

from moot.api import scopes as api
from moot.api.typed_paths import read_typed_pair, read_typed_scopes, remark_on_missing
from moot.surfaces.cli.presence.scope_hints import scope_hints
from moot.surfaces.terminal.answer import Answer, remarks
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command, text_argument

_TAKEOVER = click.option(  # OPR-087
    "--takeover-stale", is_flag=True, help="Take it from an owner who has gone quiet or is gone."
)
_TTL = click.option(
    "--ttl", type=int, metavar="MIN", help="Ends by itself after 5 to 1440 minutes."
)
_WORK = click.option(
    "--work", "--bead", "work", metavar="ID", help="The work item (default: the branch)."
)
_EXCLUSIVE = click.option(
    "--exclusive", is_flag=True, help="Reserve the task named by --work too, as task:ID."
)
_AGENT = click.option("--agent", metavar="NAME", help="Who acts (default: --as or MOOT_AGENT).")


@click.argument("scopes", nargs=-1, metavar="[SCOPE]...")
@_TAKEOVER
@_WORK
@_EXCLUSIVE
@_TTL
@_AGENT
def reserve_scopes(
    shell: Shell,
    scopes: tuple[str, ...],
    takeover_stale: bool,
    work: str | None,
    exclusive: bool,
    ttl: int | None,
    agent: str | None,
) -> Answer:
    """Reserve files or folders, all or none. `src/*` means the folder and all in it.

    Paths are read as git reads them: from the folder you are in, :/x from the root of the
    worktree; `*` is this folder. Refused, with the holder's name, if another agent holds any of
    it. What the living hold is never taken; what the quiet hold only with --takeover-stale.

    Things that are not files are reserved by a kind and a name, such as port:3000, db:test,
    gpu:0 or task:T-7. No path overlaps them, not even `:/`. A file so named is ./port:3000.

    Examples:
      moot reserve src/auth
      moot reserve src/api 'docs/*' --work T-7 --ttl 120
      cd src && moot reserve auth :/docs '*'
      moot reserve src/auth --takeover-stale
      moot reserve port:3000 db:test
      moot reserve --work T-7 --exclusive
      moot scope reserve src/auth --agent amber-otter
    """
    if not scopes and not exclusive:
        raise click.UsageError("name a SCOPE, or a task by --work ID --exclusive")
    names = read_typed_scopes(scopes, shell.session)
    with scope_hints(shell, names):
        reserved = api.reserve(
            shell.session,
            names,
            work=work,
            ttl_minutes=ttl,
            take_stale=takeover_stale,
            exclusive=exclusive,
            agent=agent,
        )
    missing = remark_on_missing(names, shell.session.place)
    reserved = structs.replace(reserved, findings=[*reserved.findings, *missing])
    return Answer(reserved, lambda: _reserved_lines(reserved, names))


def _reserved_lines(reserved: api.Reserved, scopes: tuple[str, ...]) -> Iterable[str]:
    for lost in reserved.taken_over:
        yield f"taken from {lost.owner}: {lost.scope} ({lost.status})"
    for lease in reserved.reserved:
        until = f", until {lease.expires_at}" if lease.expires_at else ""
        yield f"{reserved.agent} holds {lease.scope} (number {lease.fencing}{until})"
    if not reserved.reserved:
        yield f"{reserved.agent} holds {', '.join(scopes) or 'the task'} already"
    yield from remarks(reserved.findings)


@click.argument("scopes", nargs=-1, metavar="[SCOPE]...")
@click.option("--all", "everything", is_flag=True, help="Everything you hold.")
@click.option("--force", is_flag=True, help="Release what another holds; for people only.")
@click.option("--reason", default="", metavar="TEXT", help="Why it is forced; kept on record.")
@_AGENT
def release_scopes(
    shell: Shell,
    scopes: tuple[str, ...],
    everything: bool,
    force: bool,
    reason: str,
    agent: str | None,
) -> Answer:
    """Give back what you hold: the scopes that you reserved, not parts of them.

    Paths are read from the folder you are in, :/x from the root of the worktree.

    With --force and a --reason you release, as a person with your own key, what another holds,
    such as a program that is gone. Nobody gets it: whoever wants it reserves it.

    Examples:
      moot release src/auth
      moot release --all
      moot release src/auth --force --reason "its program crashed, I have saved its work"
      moot scope release src/auth --agent amber-otter
    """
    if not scopes and not everything:
        raise click.UsageError("name a SCOPE, or use --all")
    if force and (everything or agent is not None):
        raise click.UsageError("--force names each SCOPE, and a person acts")
    names = read_typed_scopes(scopes, shell.session)
    with scope_hints(shell, names):
        released = api.release(
            shell.session,
            names,
            everything=everything,
            force=force,
            reason=text_argument(reason),
            agent=agent,
        )
    given = ", ".join(released.released) or "nothing"
    done = "released by force" if force else "gave back"
    return Answer(released, lambda: [f"{released.agent} {done} {given}"])


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
    """Scopes: files, folders and things like port:3000 that one agent at a time works on."""


# The same commands under two names: `moot reserve SCOPE` and `moot scope reserve SCOPE --agent A`.
reserve = command(None, "reserve", "reserve")(reserve_scopes)
release = command(None, "release", "release")(release_scopes)
command(scope, "reserve", "scope.reserve")(reserve_scopes)
command(scope, "release", "scope.release")(release_scopes)


@command(scope, "list", "scope.list")
@_AGENT
def list_scopes(shell: Shell, agent: str | None) -> Answer:
    """Who holds what, how alive they are, and since when.

    Examples:
      moot scope list
      moot scope list --agent amber-otter --json
    """
    held = api.list_reservations(shell.session, agent=agent)
    return Answer(held, lambda: _held_lines(held))


def _held_lines(held: api.ReservationList) -> Iterable[str]:
    if not held.reservations:
        return ["nothing is held: `moot reserve SCOPE`"]
    rows = [
        (view.scope, view.holder, view.label, view.work or "-", view.since)
        for view in held.reservations
    ]
    return listing(rows, ("SCOPE", "HOLDER", "ALIVE", "WORK", "SINCE"))


@command(scope, "compare", "scope.compare")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
def compare(shell: Shell, first: str, second: str) -> Answer:
    """How two scopes lie to each other: exact, partial or disjoint. Needs no workspace.

    Examples:
      moot scope compare 'src/*' src/lib/parser.ts
      moot scope compare port:3000 ./port:3000
      cd src && moot scope compare lib :/src/lib
    """
    comparison = api.compare(shell.session, *read_typed_pair(first, second, shell.session))
    return Answer(comparison, lambda: [comparison.kind])
