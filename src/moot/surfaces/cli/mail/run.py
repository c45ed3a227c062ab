"""`moot mail run`: let participants answer what they owe an answer to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from moot.surfaces.cli.runs.ended_run import ended_line, exit_code, ran_data, room_of
from moot.surfaces.cli.runs.limits import limit_options, limits_of
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.flows.runs.run_seats import FinishedRun


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
    from moot.agents.spec import read_named
    from moot.flows.runs.run_mail import run_mail
    from moot.surfaces.cli.runs.live_run import watching

    space = shell.workspace
    specs = read_named(participants)
    for name in specs:
        if shell.acting:
            shell.actor(name)
    with watching("mail") as watch:
        ran = run_mail(space, specs, room_of(shell), limits_of(limits), watch)
    data = {"decision": ran.decision, **ran_data(ran)}
    return Answer(data, lambda: _lines(ran), exit_code(ran.ended))


def _lines(ran: FinishedRun) -> Iterable[str]:
    yield ended_line(ran.ended)
    yield f"{ran.standing['open']} still wait for an answer of theirs"
