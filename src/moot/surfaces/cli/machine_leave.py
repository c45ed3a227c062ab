"""`moot machine leave`."""

from __future__ import annotations

from collections.abc import Iterable

from moot.api import machine_leaving as api
from moot.surfaces.cli.machines import machine
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.shell import Shell, command


@command(machine, "leave", "machine.leave")
def leave(shell: Shell) -> Answer:
    """Let this machine leave the ledger that another one keeps.

    Its living agents are retired, and what they hold is released; the keeper takes it off; its
    secret is removed. The copy of the ledger stays here, to be read, exported and verified.
    Whatever would be recorded says `machine_left` from then on, and hooks hold edits back
    (`moot hook uninstall TOOL` takes them out). To join anew, in the same folder:
    `moot init --join INVITATION`.

    Examples:
      moot machine leave
    """
    left = api.leave_machine(shell.session)
    return Answer(left, lambda: _lines(left))


def _lines(left: api.LeftMachine) -> Iterable[str]:
    yield f"{left.machine} has left the ledger kept at {left.keeper}; its copy stays here"
    if left.retired:
        yield f"retired       {', '.join(left.retired)}"
    if left.still_holds:
        yield f"still held    {', '.join(map(visible, left.still_holds))}, until that is stale"
    if left.people:
        yield f"still people  {', '.join(left.people)}: their keys stay in this key folder"
