"""`moot join` (also `bb-init`): start a session under a name of its own, or go on with one.

Every way to start has its flag (OPR-098).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click
from msgspec import structs

from moot.api import joining
from moot.surfaces.cli.presence.from_root import remark_on_misread
from moot.surfaces.cli.presence.scope_hints import scope_hints
from moot.surfaces.terminal.answer import Answer, remarks
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.core.findings import Finding


# OPR-081, OPR-083, OPR-082: the three ways of the document.
@click.option("--non-interactive", is_flag=True, help="Never ask; fail if a choice is owed.")
@click.option("--register", metavar="NAME", help="Start under this new name.")
@click.option("--adopt", metavar="AGENT", help="Go on as this agent, if work is left.")
@click.option("--scope", "scopes", multiple=True, metavar="SCOPE", help="Where you will work.")
@click.option("--work", "--bead", "work", metavar="ID", help="On what (default: the branch).")
def join_answer(
    shell: Shell,
    non_interactive: bool,
    register: str | None,
    adopt: str | None,
    scopes: tuple[str, ...],
    work: str | None,
) -> Answer:
    """Join the work in this repository under a name of your own.

    Without options: a made-up name if nothing unfinished could be continued; else you choose.
    Adopting is possible only if files in that agent's scope are uncommitted, or it owns a work
    item in progress.

    Examples:
      moot join
      moot join --register amber-otter --scope src/auth
      moot join --adopt amber-otter
      bb-init --non-interactive --json
    """
    if register is not None and adopt is not None:
        raise click.UsageError("--register and --adopt exclude each other")
    may_ask = not non_interactive and shell.interactive()  # OPR-084
    with scope_hints(shell, scopes, "join --scope"):
        joined = joining.join(
            shell.session,
            register=register,
            adopt=adopt,
            scopes=scopes,
            work=work,
            choose=_choose if may_ask else None,
            name_unfinished_work=_name_unfinished_work if may_ask else None,
        )
    if not joined.adopted:
        misread = remark_on_misread(scopes, shell.session.place)
        joined = structs.replace(joined, findings=[*joined.findings, *misread])
    return Answer(joined, lambda: _lines(joined))


def _choose(candidates: Sequence[joining.AdoptionCandidate]) -> str | None:
    for candidate in candidates:
        click.echo(f"  {candidate.agent}: {candidate.evidence}", err=True)
    name: str = click.prompt(
        "go on as one of these, or start anew?",
        type=click.Choice([*(candidate.agent for candidate in candidates), "new"]),
        default="new",
        err=True,
    )
    return None if name == "new" else name


def _name_unfinished_work(reasons: Sequence[Finding]) -> str:
    for finding in reasons:
        click.echo(f"  {finding.message}", err=True)
    text: str = click.prompt(
        "a scope or work item of that session (empty: give up)",
        default="",
        show_default=False,
        err=True,
    )
    return text


def _lines(joined: joining.Joined) -> Iterable[str]:
    if joined.event is not None:
        yield f"you go on as {joined.agent}: {joined.event['payload']['evidence']}"
    else:
        yield f"you are {joined.agent}"
    if joined.reserved:
        yield f"{joined.agent} holds {', '.join(joined.reserved)}"
    yield f"what you do in this shell is {joined.agent}'s once you have run the next line in it:"
    yield joining.export_line(joined.agent, joined.epoch)
    yield from remarks(joined.findings)


join = command(None, "join", "join")(join_answer)
