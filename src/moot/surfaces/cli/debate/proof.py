"""`moot debate verify` and `watch`: the file against its record, and the file as it grows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from moot.api.debates import proof
from moot.surfaces.cli.debate import lines
from moot.surfaces.cli.debate.options import file_argument
from moot.surfaces.terminal.answer import DONE, REFUSED, UNPROVEN, Answer, print_line
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.api.debates.reading import EntryView

_EXITS = {"valid": DONE, "unproven": UNPROVEN}


@command(None, "verify", "debate.verify")
@file_argument()
@click.option(
    "--trust",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="TRUST",
    help="Believe this trust file (default: the one your key folder remembers).",
)
def verify(shell: Shell, file: Path, trust: Path | None) -> Answer:
    """Is every byte of a session file what its authors signed, or what was observed?

    The file is compared with the record in this workspace: what was changed, removed, inserted or
    put elsewhere is named with its line and entry. The exit code is 0 if all holds, 1 if not, 3
    if something stands there that the record does not prove. Nothing is written by checking.

    Examples:
      moot debate verify api-design.md
      moot debate verify api-design.md --json
    """
    verdict = proof.verify(shell.session, file, trust=trust)
    code = _EXITS.get(verdict.verdict, REFUSED)
    return Answer(verdict, lambda: lines.verified(file, verdict), code)


@command(None, "watch", "debate.watch")
@file_argument()
@click.option(
    "--seconds", type=click.FloatRange(min=0), metavar="N", help="Stop after so long (0: one look)."
)
def watch(shell: Shell, file: Path, seconds: float | None) -> Answer:
    """Follow a session as it is written, until it ends; show each entry as it is yielded.

    In a workspace entries by other programs, or by hand, are recorded as observed.

    Examples:
      moot debate watch api-design.md
      moot debate watch api-design.md --seconds 0 --json
    """

    def show(entry: EntryView) -> None:
        print_line(lines.entry_line(entry), at_once=True)

    receive = None if shell.json else show
    watched = proof.watch(shell.session, file, seconds=seconds, receive=receive)
    return Answer(watched, lambda: lines.watched(watched))
