"""`moot parliament run`: let participants take the seats until a person is asked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.surfaces.cli.parliament.due_ways import decide_ways
from moot.surfaces.cli.parliament.group import folder_argument
from moot.surfaces.cli.runs.ended_run import ended_line, exit_code
from moot.surfaces.cli.runs.limits import limit_options, limits_of
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.api.parliaments.runs import ParliamentRun


@command(None, "run", "parliament.run")
@folder_argument
@click.option(
    "--participant",
    "participants",
    multiple=True,
    required=True,
    metavar="SEAT=SPEC",
    help="Who sits there: cmd:COMMAND, llm:PROVIDER/MODEL, script:FILE, rules:NAME, human.",
)
@limit_options
def run(shell: Shell, folder: Path, participants: tuple[str, ...], **limits: Any) -> Answer:
    """Let participants state, draft, ask, answer and vote until the prime minister is asked.

    SEAT is a seat's id (`moot parliament status DIR` lists them) or the name of its agent.
    Statements and votes are asked for at the same time; rounds are opened and votes called by
    the speaker's rules.

    Examples:
      moot parliament run cache --participant "rep_1=cmd:claude -p"
          --participant "teal-crane=cmd:codex exec"
    """
    from moot.api.parliaments import runs
    from moot.surfaces.cli.runs.human_seat import ShellTerminal
    from moot.surfaces.cli.runs.live_run import watching

    with watching(folder.name) as watch:
        finished = runs.run(
            shell.session,
            folder,
            participants,
            limits=limits_of(limits),
            watch=watch,
            terminal=ShellTerminal(shell),
        )
    return Answer(finished, lambda: _lines(folder, finished), exit_code(finished))


def _lines(folder: Path, finished: ParliamentRun) -> Iterable[str]:
    yield ended_line(finished)
    standing = finished.standing
    yield f"{standing['state']}, round {standing['round']}, bill version {standing['bill']}"
    if standing["state"] == "pm_review":
        yield visible(f"waiting for you: moot parliament {decide_ways(folder)}")
