"""`moot parliament run`: let participants take the seats until a person is asked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.surfaces.cli.answer import Answer
from moot.surfaces.cli.debate_run import ended_line, exit_code, ran_data, room_of
from moot.surfaces.cli.limits import limit_options, limits_of
from moot.surfaces.cli.parliament_room import folder_argument, parliament, room_at
from moot.surfaces.cli.shell import Shell, command

if TYPE_CHECKING:
    from moot.flows.debate.run import Ran


@command(parliament, "run", "parliament.run")
@folder_argument
@click.option(
    "--participant",
    "participants",
    multiple=True,
    required=True,
    metavar="NAME=SPEC",
    help="Who sits for NAME: cmd:COMMAND, llm:PROVIDER/MODEL, script:FILE, rules:NAME, human.",
)
@limit_options
def run(shell: Shell, folder: Path, participants: tuple[str, ...], **limits: Any) -> Answer:
    """Let participants state, draft, ask, answer and vote until the prime minister is asked.

    NAME is the agent of a seat (`moot parliament status DIR` lists them). Statements and votes
    are asked for at the same time; rounds are opened and votes called by the speaker's rules.

    Examples:
      moot parliament run cache --participant "amber-otter=cmd:claude -p"
          --participant "teal-crane=cmd:codex exec"
    """
    from moot.agents.spec import read_named
    from moot.flows.parliament.sitting import run_parliament
    from moot.surfaces.cli.live_run import watching

    session = room_at(shell, folder)
    specs = read_named(participants)
    for name in specs:
        if shell.acting:
            shell.actor(name)
    with watching(session.state.problem_statement[:80]) as watch:
        ran = run_parliament(session, specs, room_of(shell), limits_of(limits), watch)
    data = {"parliament_id": ran.decision, **ran_data(ran)}
    return Answer(data, lambda: _lines(folder, ran), exit_code(ran.ended))


def _lines(folder: Path, ran: Ran) -> Iterable[str]:
    yield ended_line(ran.ended)
    standing = ran.standing
    yield f"{standing['state']}, round {standing['round']}, bill version {standing['bill']}"
    if standing["state"] == "pm_review":
        yield f"waiting for you: moot parliament decide {folder} approve|veto --reason TEXT"
