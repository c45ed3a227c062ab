"""`moot reserve`, `moot release` and `moot scope ...`: who works where.

What a killed program holds stays reserved until the agent is stale. A person may retire the agent
sooner, and a refusal shows them how; agents are not shown this, because they would retire each
other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import click
from msgspec import structs

from moot.api.presence import scopes as api
from moot.api.presence.scopes import find_retirable_holders
from moot.api.typed_paths import read_typed_pair, read_typed_scopes, remark_on_missing
from moot.core.errors import Refused
from moot.surfaces.terminal.answer import Answer, remarks
from moot.surfaces.terminal.derive import derive
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command, text_argument

_TAKEOVER = click.option(  # OPR-087
    "--takeover-stale", is_flag=True, help="Take it over from an owner that is stale or evicted."
)
_TTL = click.option("--ttl", type=int, metavar="MIN", help="Expires after 5 to 1440 minutes.")
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
    it. Only a stale or evicted owner's scope can be taken over, with --takeover-stale.

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
    """Release what you hold: the scopes that you reserved, not parts of them.

    Paths are read from the folder you are in, :/x from the root of the worktree.

    With --force and a --reason you release, as a person with your own key, what another holds,
    such as a program that exited. It is free then: any agent may reserve it.

    Examples:
      moot release src/auth
      moot release --all
      moot release src/auth --force --reason "its program crashed, I have saved its work"
      moot scope release src/auth --agent amber-otter
    """
    if not scopes and not everything:
        raise click.UsageError("name a SCOPE, or use --all")
    if force and (everything or agent is not None):
        raise click.UsageError("--force needs each SCOPE by name, and acts as you, not as an agent")
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
    scopes_released = ", ".join(released.released) or "nothing"
    done = "released by force" if force else "released"
    return Answer(released, lambda: [f"{released.agent} {done} {scopes_released}"])


SECTIONS = {
    "Commands": {
        "reserve": "reserve files or folders, all or none",
        "release": "release what you hold",
        "list": "who holds what, since when, and who is active",
        "compare": "compare two scopes: exact, partial or disjoint",
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


@derive("scope.list", api.list_reservations, """
    --agent NAME  Who acts (default: --as or MOOT_AGENT).
""", group=scope)  # fmt: skip
def list_scopes(held: api.ReservationList) -> Iterable[str]:
    """List who holds what, since when, and whether they are active.

    Examples:
      moot scope list
      moot scope list --agent amber-otter --json
    """
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
    """Compare two scopes: exact, partial or disjoint. Needs no workspace.

    Examples:
      moot scope compare 'src/*' src/lib/parser.ts
      moot scope compare port:3000 ./port:3000
      cd src && moot scope compare lib :/src/lib
    """
    comparison = api.compare(shell.session, *read_typed_pair(first, second, shell.session))
    return Answer(comparison, lambda: [comparison.kind])


CONFLICT_CODES: Final = ("reservation_conflict", "release_forbidden")
MOST_NAMED: Final = 5


@contextmanager
def scope_hints(shell: Shell, scopes: Sequence[str]) -> Iterator[None]:
    """Add to a refusal raised inside how a person can free these scopes."""
    try:
        yield
    except Refused as refused:
        freeing = _hint_to_free(shell, scopes) if refused.code in CONFLICT_CODES else ""
        refused.hint = f"{refused.hint}; {freeing}" if freeing else refused.hint
        raise


def _hint_to_free(shell: Shell, scopes: Sequence[str]) -> str:
    """Return the commands that free these scopes from dead programs; empty for agents."""
    if not (shell.interactive() or shell.session.acts_as_person()):
        return ""
    names = find_retirable_holders(shell.session, scopes)
    if not names:
        return ""
    alone = "env -u MOOT_AGENT " if shell.env.get("MOOT_AGENT") else ""
    each = " && ".join(f"{alone}moot agent retire {name}" for name in names[:MOST_NAMED])
    dead = "its program is" if len(names) == 1 else "their programs are"
    more = len(names) - MOST_NAMED
    others = f" from them; {more} more hold parts of it: `moot scope list`" if more > 0 else ""
    return f"if {dead} dead, `{each}` frees it{others}"
