"""`moot plan`: the shared page of a piece of work."""

from __future__ import annotations

from collections.abc import Iterable

import click

from moot.api import plans
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command, document


@command(None, "plan", "plan")
@click.argument("work")
@click.option("--amend", "text", metavar="FILE|-", help="Put this text in its place.")
@click.option(
    "--version", type=click.IntRange(0), metavar="N", help="The version that you read; 0: none yet."
)
def plan(shell: Shell, work: str, text: str | None, version: int | None) -> Answer:
    """The plan of WORK: one page that its agents share, read and amend.

    Amend the version that you read; if somebody was faster, you are refused and read again. Tasks
    are shown from `bd` where there are beads, and never kept here.

    Examples:
      moot plan T-7
      moot plan T-7 --amend plan.md --version 2
      echo "1. move the cache" | moot plan T-7 --amend - --version 0
    """
    if text is None:
        if version is not None:
            raise click.UsageError("--version belongs to --amend FILE")
        page = plans.show(shell.session, work)
    else:
        if version is None:
            raise click.UsageError("say which --version you read; 0 if there was none")
        page = plans.amend(shell.session, work, document(text), version)
    return Answer(page, lambda: _lines(page))


def _lines(page: plans.PlanPage) -> Iterable[str]:
    shown = page.plan
    if not shown.version:
        yield f"no plan of {shown.work} yet: `moot plan {shown.work} --amend FILE --version 0`"
    else:
        yield f"version {shown.version}, by {shown.by} at {shown.at}"
        yield from map(visible, shown.text.rstrip("\n").split("\n"))
    if page.tasks:
        rows = [(task.id, task.status, task.owner or "-") for task in page.tasks]
        yield ""
        yield from listing(rows, ("ID", "STATUS", "OWNER"))
