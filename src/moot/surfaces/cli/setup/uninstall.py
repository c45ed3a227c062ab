"""`moot uninstall`: the hooks go; what stays is named with its place."""

from __future__ import annotations

from collections.abc import Iterable

from moot.api import uninstalling
from moot.core.plural import plural
from moot.surfaces.terminal.answer import Answer, Sentence
from moot.surfaces.terminal.shell import Shell, command


@command(None, "uninstall", "uninstall")
def uninstall(shell: Shell) -> Answer:
    """Take every hook of Moot out of this project, in all its worktrees, for all tools.

    Files that nobody changed since are restored byte for byte. The record, the keys and the
    settings stay, and this says where they are and how they go. Doing it again changes nothing.

    Only people do this: it is refused to agents, and below a coding tool or `moot run`.

    Examples:
      moot uninstall
    """
    done = uninstalling.uninstall(shell.session)
    return Answer(done, lambda: _lines(done))


def _lines(done: uninstalling.Uninstalled) -> Iterable[str]:
    yield f"hooks taken out of {plural(len(done.worktrees), 'worktree')}:"
    yield from (f"  {file}" for file in done.changed or ["nothing was installed"])
    yield "what stays:"
    for kept in done.kept:
        yield f"  {kept.where}"
        yield Sentence(f"    {kept.what}")
        yield Sentence(f"    to remove it: {kept.to_remove}")
