"""`moot clean`: worktrees and branches that agents left."""

from __future__ import annotations

from collections.abc import Iterable

import click

from moot.api import leftovers
from moot.surfaces.terminal.answer import Answer, paint
from moot.surfaces.terminal.shell import Shell, command


@command(None, "clean", "clean")
@click.option("--remove", is_flag=True, help="Remove what is provably merged and clean.")
def clean(shell: Shell, remove: bool) -> Answer:
    """Worktrees and branches that agents left, and what keeps each of them.

    Nothing is removed without --remove, and with it only what is lost to nobody: all commits are
    in what the main checkout stands at, nothing is uncommitted or ignored there, and nobody works
    there. A branch that went is brought back by `git branch NAME COMMIT`.

    Examples:
      moot clean
      moot clean --remove
    """
    left = leftovers.clean(shell.session, remove=remove)
    return Answer(left, lambda: _lines(left))


def _lines(left: leftovers.Leftovers) -> Iterable[str]:
    for each in left.leftovers:
        word = "removed" if each.removed else "stays" if each.keep else "can go"
        colour = "yellow" if each.keep else "green"
        branch = f"branch {each.branch}" if each.branch else "no branch"
        place = f"{each.worktree} ({branch})" if each.worktree else branch
        yield f"{paint(word, colour)}  {place} · {', '.join(each.agents)}"
        if each.removed and each.kind == "branch":
            yield f"  it stood at {each.commit}"
        yield from (f"  {reason}" for reason in each.keep)
    if not left.leftovers:
        yield "agents left no worktree and no branch here"
    elif any(not each.keep and not each.removed for each in left.leftovers):
        yield "`moot clean --remove` removes what can go"
