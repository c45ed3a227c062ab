"""`moot machine move-here`, `moot machine hand-over`: where a session is at home."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from moot.api import session_homes as api
from moot.surfaces.cli.machines import machine
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.output import OutputPath
from moot.surfaces.terminal.shell import Shell, command


@command(machine, "move-here", "machine.move_here")
@click.argument("what")
@click.option(
    "--into",
    type=OutputPath(),
    help="The file of a debate, or the folder of a parliament, here.",
)
def move_here(shell: Shell, what: str, into: Path | None) -> Answer:
    """Bring a session to this machine: its files, written from the record, and its minutes.

    WHAT is the id of a debate, parliament, decision or trace, or a debate's file. A session is at
    home on the machine where it began; elsewhere it can be read, and its minutes are refused. It
    moves if that machine has left or was taken off, or has handed it over; where the ledger is
    kept it always does. Files go where they were in the project; one that holds something else is
    never overwritten, and then nothing moves. Seats and authors keep their keys where they are.

    Examples:
      moot machine move-here q-7
      moot machine move-here docs/naming.md
      moot machine move-here parl-20260210-001 --into docs/parliament
    """
    moved = api.move_here(shell.session, what, into=into)
    return Answer(moved, lambda: _here_lines(moved))


def _here_lines(moved: api.MovedSession) -> Iterable[str]:
    yield f"{moved.id} {'is' if moved.moved else 'was'} at home here"
    for stream in moved.moved[1:]:
        yield f"with it {stream}"
    for file in moved.files:
        yield f"wrote {visible(file)}"


@command(machine, "hand-over", "machine.hand_over")
@click.argument("what")
@click.option("--to", metavar="MACHINE", required=True, help="As `moot machine list` calls it.")
def hand_over(shell: Shell, what: str, to: str) -> Answer:
    """Give a session that is at home here to another machine.

    WHAT is its id, a debate's file or a parliament's folder. On the other machine `moot machine
    move-here` writes its files. Here they stay as they are, and its minutes are refused.

    Examples:
      moot machine hand-over q-7 --to laptop
      moot machine hand-over docs/naming.md --to laptop
    """
    given = api.hand_over(shell.session, what, to)
    return Answer(given, lambda: _given_lines(given))


def _given_lines(given: api.MovedSession) -> Iterable[str]:
    yield f"{given.id} {'is' if given.moved else 'was'} at home on {given.home}"
    yield f"there: moot machine move-here {given.id}"
