"""`moot debate verify` and `watch`: the file against its record, and the file as it grows."""

from __future__ import annotations

from pathlib import Path

import click

from moot.api.debates import proof
from moot.surfaces.cli.debate import lines
from moot.surfaces.cli.debate.options import file_argument
from moot.surfaces.cli.debate.watch_view import WatchView
from moot.surfaces.terminal.answer import DONE, REFUSED, UNPROVEN, Answer
from moot.surfaces.terminal.shell import Shell, command

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
    """Follow a session as it is written, until it ends: each entry, whose turn, how long is left.

    In a workspace entries by other programs, or by hand, are recorded as observed.

    Examples:
      moot debate watch api-design.md
      moot debate watch api-design.md --seconds 0 --json
    """
    if shell.json:
        watched = proof.watch(shell.session, file, seconds=seconds)
        return Answer(watched, lambda: lines.watched(watched))
    view = WatchView()
    try:
        watched = proof.watch(
            shell.session,
            file,
            seconds=seconds,
            receive=view.show_entry,
            receive_turn=view.show_turn,
        )
    finally:
        view.close()
    return Answer(watched, lambda: lines.watched(watched))
