"""`moot parliament run`: let participants take the seats until a person is asked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.surfaces.cli.debate.run import ended_line, exit_code, ran_data, room_of
from moot.surfaces.cli.parliament.due_ways import decide_ways
from moot.surfaces.cli.parliament.group import folder_argument
from moot.surfaces.cli.runs.limits import limit_options, limits_of
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.flows.parliament.parliament_session import ParliamentSession
    from moot.flows.runs.run_debate import Ran


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
    from moot.agents.spec import read_named
    from moot.flows.parliament.parliament_session import ParliamentSession
    from moot.flows.runs.run_parliament import run_parliament
    from moot.surfaces.cli.runs.live_run import watching

    session = ParliamentSession.open(shell.workspace, folder)
    specs = read_named(_by_agent(session, text) for text in participants)
    for name in specs:
        if shell.acting:
            shell.actor(name)
    with watching(session.state.problem_statement[:80]) as watch:
        ran = run_parliament(session, specs, room_of(shell), limits_of(limits), watch)
    data = {"parliament_id": ran.decision, **ran_data(ran)}
    return Answer(data, lambda: _lines(folder, ran), exit_code(ran.ended))


def _by_agent(session: ParliamentSession, text: str) -> str:
    """`amber-otter=SPEC` of `rep_1=SPEC`; what names nobody is for the reader of specs to say."""
    from moot.flows.runs.run_parliament import require_seated_agent

    named, said, spec = text.partition("=")
    if not said or ":" in named:
        return text
    return f"{require_seated_agent(session, named.strip())}={spec}"


def _lines(folder: Path, ran: Ran) -> Iterable[str]:
    yield ended_line(ran.ended)
    standing = ran.standing
    yield f"{standing['state']}, round {standing['round']}, bill version {standing['bill']}"
    if standing["state"] == "pm_review":
        yield visible(f"waiting for you: moot parliament {decide_ways(folder)}")
