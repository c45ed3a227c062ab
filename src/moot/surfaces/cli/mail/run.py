"""`moot mail run`: let participants answer what they owe an answer to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from moot.api.mail import runs
from moot.surfaces.cli.runs.ended_run import ended_line, exit_code
from moot.surfaces.cli.runs.limits import limit_options, limits_of
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.shell import Shell, command


@command(None, "run", "mail.run")
@click.option(
    "--participant",
    "participants",
    multiple=True,
    required=True,
    metavar="NAME=SPEC",
    help="Who answers as NAME: cmd:COMMAND, llm:PROVIDER/MODEL, script:FILE, rules:NAME, human.",
)
@limit_options
def run(shell: Shell, participants: tuple[str, ...], **limits: Any) -> Answer:
    """Let participants acknowledge the messages that wait for them, each under its own key.

    Only answers that are owed and were never given are asked for; a receiver who stays silent is
    chased by `moot mail tick`. How each call ended and what it cost is on record.

    Examples:
      moot mail run --participant "amber-otter=cmd:claude -p"
    """
    from moot.surfaces.cli.runs.human_seat import ShellTerminal
    from moot.surfaces.cli.runs.live_run import watching

    with watching("mail") as watch:
        finished = runs.run(
            shell.session,
            participants,
            limits=limits_of(limits),
            watch=watch,
            terminal=ShellTerminal(shell),
        )
    return Answer(finished, lambda: _lines(finished), exit_code(finished))


def _lines(finished: runs.MailRun) -> Iterable[str]:
    yield ended_line(finished)
    yield f"{finished.standing['open']} still wait for an answer of theirs"
